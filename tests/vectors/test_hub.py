"""Hub names, without a network."""

import sys
import types

import numpy as np
import pytest
from safetensors.numpy import save_file

from wayfare import WordVectors
from wayfare.errors import InputError, MissingExtraError

NAME = "minishlab/potion-base-8M"


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("huggingface_hub")
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return module


def test_a_name_is_fetched(hub, tmp_path):
    asked = []

    def snapshot_download(name, allow_patterns):
        asked.append((name, allow_patterns))
        save_file({"embeddings": np.eye(2)}, tmp_path / "model.safetensors")
        (tmp_path / "tokenizer.json").write_text(
            '{"model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "?"}}'
        )
        return str(tmp_path)

    hub.snapshot_download = snapshot_download
    assert WordVectors.load(NAME)["b"].tolist() == [0, 1]
    assert asked[0][0] == NAME
    assert "*.bin" not in asked[0][1]  # pickles are not even downloaded


def test_without_a_network(hub):
    def snapshot_download(name, allow_patterns):
        raise ConnectionError("Name or service not known\nand many more lines")

    hub.snapshot_download = snapshot_download
    with pytest.raises(InputError) as caught:
        WordVectors.load(NAME)
    assert str(caught.value) == (
        "no file or folder 'minishlab/potion-base-8M' is here, and the Hugging Face hub did not "
        "give it (Name or service not known); check the name and the network, or download the "
        "model elsewhere and give its folder"
    )


def test_without_the_client(hub, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"no file .*pip install 'huggingface_hub'"):
        WordVectors.load(NAME)


@pytest.mark.parametrize("name", ["data/glove.txt", "glove.6B.100d", "a/b/c", "x/glove.txt.gz"])
def test_what_reads_like_a_file_never_asks_the_hub(hub, name):
    with pytest.raises(InputError, match="path_or_name: no file or folder"):
        WordVectors.load(name)
