"""A safetensors file with one row a token, and the tokenizer that makes the tokens.

    model2vec, potion       model.safetensors, tokenizer.json
    sentence-transformers   0_StaticEmbedding/model.safetensors, 0_StaticEmbedding/tokenizer.json
    wordllama               weights/NAME_256.safetensors, tokenizers/NAME_tokenizer_config.json

Give the folder or the safetensors file; `vocabulary=` names a tokenizer that lies elsewhere.
model2vec's `weights` (a factor a token) and `mapping` (a row a token) are applied.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import FormatError, InputError
from wayfare.vectors.formats.request import Request, content_of
from wayfare.vectors.store import Floats, digest
from wayfare.vectors.tokens import TokenModel

__all__ = ["files", "read"]

STATIC = "0_StaticEmbedding"


def files(request: Request) -> list[Path]:
    """The tensors and the tokenizer."""
    tensors = _tensors_of(request.path)
    return [tensors, _tokenizer_of(tensors, request)]


def read(request: Request) -> TokenModel:
    """Read both; `FormatError` if either is damaged or they do not fit each other."""
    if request.limit is not None:
        raise InputError("limit: these vectors are rows of tokens, not of words; leave limit out")
    from tokenizers import Tokenizer  # where nobody asks for tokens, nobody waits for it

    tensors, told = files(request)
    raw = content_of(told)
    try:
        tokenizer = Tokenizer.from_buffer(raw)
    except Exception as error:  # the library raises bare Exception
        raise FormatError(
            f"not a tokenizer of the tokenizers library ({error})", path=told
        ) from None
    rows = _rows(tensors)
    size = 1 + max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)
    if size > len(rows):
        raise FormatError(
            f"{len(rows)} rows for the {size} tokens of {told.name}; give files of one model",
            path=tensors,
        )
    return TokenModel(tokenizer, rows, unknown_id=_unknown_id(tokenizer, raw), content=digest(raw))


def _unknown_id(tokenizer: Any, raw: bytes) -> int | None:
    name = getattr(tokenizer.model, "unk_token", None)
    if name is not None:
        found = tokenizer.token_to_id(name)
        return None if found is None else int(found)
    if type(tokenizer.model).__name__ == "Unigram":
        told = json.loads(raw)["model"].get("unk_id")
        return None if told is None else int(told)
    return None


def _rows(path: Path) -> Floats:
    from safetensors.numpy import load

    try:
        tensors: dict[str, NDArray[Any]] = load(content_of(path))
    except Exception as error:  # the library raises its own errors, KeyError and TypeError
        raise FormatError(
            f"not a safetensors file that NumPy can hold ({error}); save it again as float32",
            path=path,
        ) from None
    wide = {name: t for name, t in tensors.items() if t.ndim == 2 and t.dtype.kind in "fi"}
    if len(wide) != 1:
        shown = ", ".join(f"{name} {t.shape}" for name, t in list(tensors.items())[:5])
        more = f" and {len(tensors) - 5} more" if len(tensors) > 5 else ""
        raise FormatError(
            f"expected one array of (tokens, dimensions), found {shown or 'none'}{more}; "
            "give a model of static vectors",
            path=path,
        )
    name, table = wide.popitem()
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(table, dtype=np.float32)
        if "mapping" in tensors:
            rows = rows[_checked_mapping(tensors["mapping"], len(rows), path)]
        if "weights" in tensors:
            if tensors["weights"].shape != (len(rows),):
                shape = tensors["weights"].shape
                raise FormatError(f"weights of shape {shape} for {len(rows)} tokens", path=path)
            rows = rows * tensors["weights"].astype(np.float32)[:, None]
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise FormatError(f"{name}, row {row}: NaN or infinity", path=path)
    if rows.shape[1] == 0:
        raise FormatError(f"{name} has rows without numbers", path=path)
    return rows


def _checked_mapping(mapping: NDArray[Any], count: int, path: Path) -> NDArray[Any]:
    if mapping.ndim != 1 or mapping.dtype.kind not in "iu":
        raise FormatError("mapping: expected one row number a token", path=path)
    if mapping.size and (mapping.min() < 0 or mapping.max() >= count):
        raise FormatError(f"mapping: row numbers beyond the {count} rows", path=path)
    return mapping


def _tensors_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    for folder in (path, path / STATIC):
        found = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.safetensors.gz"))
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(p.name for p in found)
            raise InputError(f"{folder}: {len(found)} safetensors files ({names}); name one")
    raise InputError(
        f"{path} is a folder without a .safetensors file; give the file of vectors, "
        "or a folder with model.safetensors and tokenizer.json"
    )


def _tokenizer_of(tensors: Path, request: Request) -> Path:
    if request.vocabulary is not None:
        return request.vocabulary
    folder, model = tensors.parent, tensors.stem.rpartition("_")[0]
    tried = [
        folder / "tokenizer.json",
        folder.parent / "tokenizer.json",
        folder.parent / "tokenizers" / f"{model}_tokenizer_config.json",
    ]
    for candidate in tried:
        for found in (candidate, candidate.with_name(f"{candidate.name}.gz")):
            if found.is_file():
                return found
    raise InputError(
        f"vocabulary: no tokenizer.json beside {tensors}; pass vocabulary=, the tokenizer's file"
    )
