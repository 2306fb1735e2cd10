"""The order of the house: a file imports only from files above it."""

import ast
from pathlib import Path

import wayfare

SOURCE = Path(wayfare.__file__).parent

# From the street inwards. A room may use what stands before it in this list, and its own files.
ORDER = [
    "errors",
    "extras",
    "atomic",
    "progress",
    "threads",
    "text",
    "vectors",
    "measure",
    "weighting",
    "readers",
    "corpus",
    "kernels",
    "ground",
    "explain",
    "solution",
    "wfr",
    "points",
    "many",
    "ondevice",
    "oncluster",
    "wmd",
    "metrics",
    "given",
    "front",
    "columns",
    "bounds",
    "search",
    "index",
    "learn",
    "scale",
    "paper",
    "web",
    "cli",
]


def room(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[0]


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(_without_type_checking(ast.parse(path.read_text(encoding="utf-8")))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute in this house"
            names = [node.module or ""]
            if node.module == "wayfare":
                names = [f"wayfare.{alias.name}" for alias in node.names]
        rooms |= {n.split(".")[1] for n in names if n.startswith("wayfare.")}
    return rooms


def _without_type_checking(tree: ast.Module) -> ast.Module:
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    ]
    return tree


def test_every_file_imports_only_from_above():
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        here = room(path)
        if here in ("__init__", "__main__"):
            continue
        assert here in ORDER, f"{path.name} has no place in the order of the house"
        for other in imported_rooms(path):
            if other.startswith("__"):
                continue
            if other != here and ORDER.index(other) >= ORDER.index(here):
                wrong.append(f"{path.relative_to(SOURCE)} imports {other}, which stands below it")
    assert not wrong, "\n".join(wrong)


def test_the_front_door_is_what_it_says():
    assert set(wayfare.__all__) == set(wayfare._ROOMS) | {"__version__"}
    for name in wayfare.__all__:
        assert getattr(wayfare, name) is not None
