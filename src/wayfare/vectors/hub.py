"""Models of the Hugging Face hub by name, where its client is installed and a network is there."""

from __future__ import annotations

import re
from pathlib import Path

from wayfare.errors import InputError, MissingExtraError
from wayfare.extras import require

__all__ = ["fetch", "is_hub_name"]

NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
FILE_SUFFIXES = (".txt", ".vec", ".bin", ".gz", ".npy", ".kv", ".safetensors", ".model", ".zip")
PARTS = ["*.safetensors", "tokenizer.json", "*/tokenizer.json"]


def is_hub_name(name: str) -> bool:
    """Whether `name` reads like `owner/model` and not like a file."""
    return bool(NAME.fullmatch(name)) and not name.lower().endswith(FILE_SUFFIXES)


def fetch(name: str) -> Path:
    """The folder of a hub model, downloaded if it is not there; `InputError` if that fails."""
    missing = f"no file or folder {name!r} is here"
    try:
        hub = require("huggingface_hub")
    except MissingExtraError as error:
        raise MissingExtraError(
            f"{missing}, and to look for it on the Hugging Face hub: {error}"
        ) from None
    try:
        return Path(hub.snapshot_download(name, allow_patterns=PARTS))
    except Exception as error:
        # The client raises its own errors, and those of whatever carries its requests.
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InputError(
            f"{missing}, and the Hugging Face hub did not give it ({reason}); check the name and "
            "the network, or download the model elsewhere and give its folder"
        ) from error
