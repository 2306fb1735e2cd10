"""What is finished is kept, and only that."""

import json

import pytest

from wayfare.paper.cells import Cell, Cells, Job, finish


def jobs(made, count=4, fail_at=None):
    def work(number):
        if number == fail_at:
            raise KeyboardInterrupt
        made.append(number)
        return {"value": number**2}

    return [
        Job({"task": "t", "row": f"r/{n}", "seed": 0}, lambda n=n: work(n)) for n in range(count)
    ]


def test_a_run_that_was_cut_goes_on(tmp_path):
    made = []
    with pytest.raises(KeyboardInterrupt):
        finish(jobs(made, fail_at=2), Cells(tmp_path))
    assert made == [0, 1]
    cells = finish(jobs(made), Cells(tmp_path))
    assert made == [0, 1, 2, 3]
    assert [cell.result["value"] for cell in cells] == [0, 1, 4, 9]
    kept = [cell.seconds for cell in cells]
    assert [cell.seconds for cell in finish(jobs(made), Cells(tmp_path))] == kept
    assert made == [0, 1, 2, 3]


def test_a_damaged_cell_is_made_again(tmp_path):
    made = []
    finish(jobs(made, 1), Cells(tmp_path))
    [path] = tmp_path.iterdir()
    whole = path.read_text()
    for damage in (whole[:10], "[]", json.dumps({"key": {}, "result": {}, "seconds": 0}), "null"):
        path.write_text(damage)
        finish(jobs(made, 1), Cells(tmp_path))
        assert path.read_text() != damage
    assert made == [0] * 5


def test_another_key_is_another_cell(tmp_path):
    cells = Cells(tmp_path)
    cells.put(Cell({"task": "t", "seed": 0}, {"value": 1}, 0.0))
    assert cells.get({"task": "t", "seed": 1}) is None
    assert cells.get({"task": "t", "seed": 0}).result == {"value": 1}
