"""The table of dependencies in the docs is the one that pip reads."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def listed() -> set[tuple[str, str]]:
    """Rows of the table: the part, and the package."""
    page = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| ([\w-]+) \| (.+) \|$", page, flags=re.MULTILINE)
    return {(part, package.lower()) for part, package, why in rows if len(why) > 5}


def required() -> set[tuple[str, str]]:
    """What `pyproject.toml` asks for; an extra that only names other extras brings nothing of its own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    parts = {"core": project["dependencies"]} | project["optional-dependencies"]
    names = {
        (part, re.split(r"[\[<>=;~! ]", line)[0].lower())
        for part, lines in parts.items()
        for line in lines
    }
    return {(part, name) for part, name in names if name != "wayfare"}


def test_every_dependency_has_a_reason_and_every_reason_a_dependency():
    assert listed() - {("part", "package")} == required()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md", "docs/index.md"])
def test_what_a_page_links_to_is_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert ((ROOT / page).parent / link).exists(), link
