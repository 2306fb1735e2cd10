"""Kill writers, and see what they leave: run by test_index_killed.py in a process of its own.

    python killing.py random 100      SIGKILL at random moments of build, add, delete and compact
    python killing.py steps           a writer that kills itself before each step that leaves something
    python killing.py full            writers on a disk that takes only so many bytes a file

Each writer is a process of its own, forked from this one, which has everything imported. It says
through a pipe how many of its writes have returned. After its death the index is opened and verified:
what returned is there, what did not is there whole or not at all, and the next write works.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import wayfare as wf
from wayfare.errors import IndexFailure
from wayfare.index import building, files, segments, shelving, words, writing
from wayfare.index.catalog import Catalog

Model = dict[str, str]
OPERATIONS = ("build", "add", "delete", "compact")

START: Model = {f"d{n}": f"text {n} of rain and river{n % 7}" for n in range(12)}
MORE: Model = {f"m{n}": f"snow {n} falls on hill{n}" for n in range(4)} | {"d3": "another text"}
GONE = ["d1", "d5", "d9"]


def build(path: Path) -> wf.Index:
    return wf.Index.build(path, list(START.values()), ids=list(START), overwrite=True)


def run(operation: str, path: Path) -> None:
    """One write."""
    if operation == "build":
        build(path).close()
        return
    with wf.Index.open(path) as index:
        if operation == "add":
            index.add(list(MORE.values()), ids=list(MORE), replace=True)
        elif operation == "delete":
            index.delete(GONE, missing_ok=True)
        else:
            index.compact()


def after(operation: str, model: Model | None) -> Model:
    """What the write makes of what was there."""
    if operation == "build" or model is None:
        return dict(START)
    if operation == "add":
        return model | MORE
    if operation == "delete":
        return {id: text for id, text in model.items() if id not in GONE}
    return model


def found(path: Path) -> Model | None:
    """What is there, verified; None for no index."""
    try:
        index = wf.Index.open(path)
    except IndexFailure as error:
        if "index.json" in str(error) or "there is nothing here" in str(error):
            return None
        raise
    with index:
        index.verify()
        return {one.id: one.text for one in index}


def check(path: Path, before: Model | None, script: list[str], returned: int) -> int:
    """Compare with what it may be; returns how many writes count."""
    there, expected = found(path), before
    for operation in script[:returned]:
        expected = after(operation, expected)
    counted = returned
    if there != expected:
        expected = after(script[returned], expected) if returned < len(script) else None
        counted += 1
    if there != expected:
        raise AssertionError(f"{script} killed after {returned}: {there} instead of {expected}")
    if there is None:
        build(path).close()
        there = dict(START)
    else:
        with wf.Index.open(path) as index:
            index.add(["the next write"], ids=["next"])
        there["next"] = "the next write"
    if found(path) != there:
        raise AssertionError(f"{script} killed after {returned}: the next write is not there")
    left = [p.name for p in path.iterdir() if p.suffix in (".segment", ".head")]
    with wf.Index.open(path) as index:
        if len(left) != index.info().segments:
            raise AssertionError(f"{script}: files that nothing refers to are left: {left}")
    return counted


def fork(script: list[str], path: Path, limit: int | None = None) -> tuple[int, int]:
    """A writer that runs a script: its process, and where it says what has returned.

    No file of its can grow beyond `limit` bytes; that it has to say so is no failure.
    """
    reading, writing_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            for operation in script:
                run(operation, path)
                os.write(writing_end, b".")
            os._exit(0)
        except IndexFailure:
            os._exit(1 if limit is None else 0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(writing_end)
    return child, reading


def ended(child: int, pipe: int) -> tuple[int, bool]:
    """How many writes returned, and whether it was killed; anything else is a failure."""
    with os.fdopen(pipe, "rb") as said:
        returned = len(said.read())
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    if not killed and status != 0:
        raise AssertionError("a writer failed by itself")
    return returned, killed


def at_random(kills: int, folder: Path) -> dict[str, Any]:
    """Kill writers at random moments until `kills` of them died at work."""
    rng = random.Random(0)
    template = folder / "template"
    build(template).close()
    took = {}
    for operation in OPERATIONS:
        path = folder / f"timed-{operation}"
        shutil.copytree(template, path)
        start = time.perf_counter()
        child, pipe = fork([operation], path)
        ended(child, pipe)
        took[operation] = time.perf_counter() - start
    done = dict.fromkeys(OPERATIONS, 0)
    counted = 0
    while sum(done.values()) < kills:
        path = folder / "index"
        shutil.rmtree(path, ignore_errors=True)
        first = OPERATIONS[sum(done.values()) % len(OPERATIONS)]
        before: Model | None = None
        if first != "build" or rng.random() < 0.5:
            shutil.copytree(template, path)
            before = dict(START)
        script = [first, *rng.choices(OPERATIONS[1:], k=3)]
        child, pipe = fork(script, path)
        time.sleep(rng.uniform(0, 1.5 * took[first]))
        os.kill(child, signal.SIGKILL)
        returned, killed = ended(child, pipe)
        if killed:
            done[first] += 1
            counted += check(path, before, script, returned)
    return {"kills": done, "writes that count": counted}


def at_each_step(folder: Path) -> dict[str, Any]:
    """Kill a writer before each call that leaves something on the disk, one by one."""
    template = folder / "template"
    build(template).close()
    with wf.Index.open(template) as index:
        index.delete(["d11"])
    steps = {}
    for operation in ["first build", *OPERATIONS]:
        steps[operation] = 0
        name, killed = operation.removeprefix("first "), True
        while killed:
            path, before = prepared(folder, operation)
            returned, killed = ended(*fork_dying([name], path, steps[operation]))
            check(path, before, [name], returned)
            steps[operation] += killed
    return {"steps": steps}


def prepared(folder: Path, operation: str) -> tuple[Path, Model | None]:
    """A copy of the template to work on, and what it holds; nothing for a first build."""
    path = folder / "index"
    shutil.rmtree(path, ignore_errors=True)
    if operation == "first build":
        return path, None
    shutil.copytree(folder / "template", path)
    return path, {id: text for id, text in START.items() if id != "d11"}


def on_a_full_disk(folder: Path) -> dict[str, Any]:
    """Let no file grow beyond a limit, and raise the limit until the write works."""
    template = folder / "template"
    build(template).close()
    with wf.Index.open(template) as index:
        index.delete(["d11"])
    refused = {}
    for operation in ["first build", *OPERATIONS]:
        refused[operation] = 0
        name, limit, failed = operation.removeprefix("first "), 0, True
        while failed:
            path, before = prepared(folder, operation)
            returned, _ = ended(*fork([name], path, limit=limit))
            failed = returned == 0
            check(path, before, [name], returned)
            refused[operation] += failed
            limit = int(1.4 * limit) + 100
    return {"refused": refused}


def fork_dying(script: list[str], path: Path, number: int) -> tuple[int, int]:
    """A writer that kills itself in the place of its durable step of that number."""
    left = [number]

    def dying(step: Any) -> Any:
        def taken(*arguments: Any, **named: Any) -> Any:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return step(*arguments, **named)

        return taken

    kept = [(owner, name, getattr(owner, name)) for owner, name in STEPS]
    for owner, name, step in kept:
        setattr(owner, name, dying(step))
    try:
        return fork(script, path)
    finally:
        for owner, name, step in kept:
            setattr(owner, name, step)


# Whatever writes, syncs, renames, commits or removes.
STEPS = [
    (os, "open"),
    (os, "write"),
    (os, "truncate"),
    (os, "fsync"),
    (os, "replace"),
    (Path, "unlink"),
    (Path, "open"),
    (Path, "mkdir"),
    (Path, "write_text"),
    (segments, "_append"),
    (Catalog, "create"),
    (Catalog, "insert"),
    (Catalog, "remove"),
    (Catalog, "commit"),
    (Catalog, "finish"),
    (Catalog, "shrink_log"),
    (Catalog, "close"),
    (words, "append"),
    (files, "sync_folder"),
    (shelving, "write_shelf"),
    (writing, "sweep"),
    (building, "publish"),
]


def main() -> None:
    what = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        if what == "random":
            told = at_random(int(sys.argv[2]), Path(name))
        else:
            told = at_each_step(Path(name)) if what == "steps" else on_a_full_disk(Path(name))
        print(json.dumps(told))


if __name__ == "__main__":
    main()
