"""Every example of the README and of every page in docs/ runs, from top to bottom, in an empty folder.

An example that wants an optional library stands in a code block after `<!-- needs: name -->`, and
is left out where that library is not installed.
"""

import doctest
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NEEDS = re.compile(r"<!-- needs: (\w+) -->\n+```.*?```", re.DOTALL)


def runnable(page: str) -> str:
    def keep_if_installed(block: re.Match) -> str:
        # Lines stay in number, so that a failure names the right one.
        return block[0] if find_spec(block[1]) else "\n" * block[0].count("\n")

    # A fence right after an example would read as its output.
    return re.sub(r"^```.*$", "", NEEDS.sub(keep_if_installed, page), flags=re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_examples_of_a_page(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = runnable(path.read_text(encoding="utf-8"))
    page = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    said: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=flags).run(page, out=said.append)
    assert outcome.failed == 0, "".join(said)


@pytest.mark.parametrize(
    ("name", "more", "eta"),
    [
        ("plan", " after a night of rain", 0.4),
        ("plan-small-eta", "", 0.4),
        ("plan-large-eta", "", 2.0),
    ],
)
def test_the_pictures_are_of_today(name, more, eta):
    """What docs/images/make.py made still says what the library says; places may differ by a rounding."""
    import wayfare as wf

    a, b = "Obama speaks to the media in Illinois", "The president greets the press in Chicago"
    now = wf.distance(a, b + more, eta=eta, tol=1e-6).explain().to_svg(theme="light")
    kept = (ROOT / "docs" / "images" / f"{name}.svg").read_text(encoding="utf-8")
    assert _said(kept) == _said(now)
    assert len(_said(now)) > 8


def _said(svg):
    """Title and labels; how many digits are proven may differ by a rounding too."""
    texts = re.findall(r">([^<>\s][^<>]*)</(?:title|text|tspan)>", svg)
    return sorted(text for text in texts if not text.startswith("proven"))


def test_a_block_whose_library_is_missing_is_left_out():
    page = "```\n>>> 1\n1\n```\n<!-- needs: no_such_module -->\n```\n>>> 2\n```\n"
    assert [e.source for e in doctest.DocTestParser().get_examples(runnable(page))] == ["1\n"]
    assert ">>> 2" in runnable(page.replace("no_such_module", "json"))
    assert runnable(page).count("\n") == page.count("\n")
