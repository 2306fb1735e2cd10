"""The vectors that come with the installation: 32,000 tokens in 256 dimensions.

They ship inside the `wordllama` wheel. Its files are read where they lie; the package itself is
never imported, and what it would import neither.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from wayfare.errors import MissingExtraError
from wayfare.vectors.formats.request import Request
from wayfare.vectors.formats.token_folder import read
from wayfare.vectors.tokens import TokenModel

__all__ = ["NAME", "builtin"]

NAME = "wordllama-l2-supercat-256"
WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
PACKAGE = "wordllama==0.2.2.post0"


def builtin() -> TokenModel:
    """Open the built-in model; `MissingExtraError` with the command if its files are not there."""
    spec = find_spec("wordllama")
    for folder in map(Path, (spec and spec.submodule_search_locations) or []):
        if (folder / WEIGHTS).is_file() and (folder / TOKENIZER).is_file():
            return read(Request(folder / WEIGHTS, vocabulary=folder / TOKENIZER))
    raise MissingExtraError(f"the built-in vectors are not installed; run: pip install {PACKAGE!r}")
