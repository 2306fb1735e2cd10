"""Columns of a file, gathered while its texts stream by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

from wayfare.errors import InputError
from wayfare.readers import OnError, Record, Skipped, read

__all__ = ["Columns"]


class Columns:
    """`texts` streams; ids, labels and metadata grow with it, one value for each text it gave."""

    def __init__(
        self,
        path: str | PathLike[str],
        text: str,
        id: str | None,
        label: str | None,
        metadata: Sequence[str],
        on_error: OnError,
        format: str | None,
        encoding: str,
    ) -> None:
        if isinstance(metadata, str):
            raise InputError(f"metadata: {metadata!r} came; give a list of column names")
        self._text, self._id, self._label = text, id, label
        wanted = [n for n in (text, id, label, *metadata) if n is not None]
        self._records = read(
            path,
            format=format,
            encoding=encoding,
            columns=list(dict.fromkeys(wanted)),
            on_error=on_error,
        )
        self.ids: list[str | int] | None = None if id is None else []
        self.labels: list[Any] | None = None if label is None else []
        self.metadata: dict[str, list[Any]] = {name: [] for name in metadata}
        # A label is one of few values, parsed anew on each line: keep one object of each.
        self._same: dict[Any, Any] = {}

    def texts(self) -> Iterator[str]:
        """The text of each record whose fields are what they should be."""
        for record in self._records:
            if self._fits(record):
                self._keep(record)
                yield record.fields[self._text]

    def skipped(self) -> Skipped:
        """What was left out, with a line in the log if that is anything."""
        self._records.skipped.report()
        return self._records.skipped

    def _fits(self, record: Record) -> bool:
        line, fields = record
        if not isinstance(text := fields[self._text], str):
            message = f"expected text, found {_kind(text)}"
            self._records.reject(message, line=line, column=self._text)
            return False
        if self._id is not None:
            value = fields[self._id]
            if isinstance(value, bool) or not isinstance(value, str | int):
                message = f"expected an id, a string or an integer; found {_kind(value)}"
                self._records.reject(message, line=line, column=self._id)
                return False
        return True

    def _keep(self, record: Record) -> None:
        fields = record.fields
        if self.ids is not None:
            self.ids.append(fields[str(self._id)])
        if self.labels is not None:
            self.labels.append(self._one(fields[str(self._label)]))
        for name, column in self.metadata.items():
            column.append(self._one(fields[name]))

    def _one(self, value: Any) -> Any:
        return self._same.setdefault(value, value) if isinstance(value, str) else value


def _kind(value: Any) -> str:
    return "nothing (null)" if value is None else f"{type(value).__name__} {value!r:.40}"
