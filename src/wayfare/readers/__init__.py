"""Files of documents."""

from __future__ import annotations

from wayfare.readers.skipped import OnError, Skipped

__all__ = ["OnError", "Skipped"]
