"""Each format as the library that owns it writes it, plain and gzip."""

import gzip
import json
import pickle
import shutil
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare import WordVectors
from wayfare.errors import FormatError, InputError, MissingExtraError
from wayfare.progress import Progress
from wayfare.vectors.formats import detect, request

gensim = pytest.importorskip("gensim")
from gensim.models import FastText, KeyedVectors, Word2Vec  # noqa: E402
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model  # noqa: E402

WORDS = ["river", "bank", "Ελλάδα", "naïve", "x-y", "3", "日本", "</s>"]
ROWS = np.random.default_rng(5).normal(size=(len(WORDS), 7)).astype(np.float32)
SENTENCES = [["river", "bank", "tide", "naïve", "日本語の"], ["tax", "bank", "rate", "rise"]] * 20


@pytest.fixture
def owned():
    vectors = KeyedVectors(7)
    vectors.add_vectors(WORDS, ROWS)
    return vectors


@pytest.fixture(params=["plain", "gzip"])
def packed(request, tmp_path):
    def pack(path):
        if request.param == "plain":
            return path
        zipped = tmp_path / "zipped" / path.name  # no suffix tells that it is gzip
        zipped.parent.mkdir(exist_ok=True)
        zipped.write_bytes(gzip.compress(path.read_bytes()))
        return zipped

    return pack


def assert_same(vectors, words=WORDS, rows=ROWS, *, rtol=0.0):
    assert vectors.words == tuple(words)
    points, known = vectors.embed(words)
    assert known.all()
    np.testing.assert_allclose(points, rows, rtol=rtol)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v.vec", "v"])
def test_word2vec(owned, tmp_path, packed, binary, name):
    path = tmp_path / name
    owned.save_word2vec_format(str(path), binary=binary)
    assert detect(packed(path)) == ("word2vec-binary" if binary else "text")
    assert_same(WordVectors.load(packed(path), unit=False), rtol=1e-6)


def test_word2vec_with_newlines_between_the_words(tmp_path):
    body = b"".join(
        w.encode() + b" " + r.tobytes() + b"\n" for w, r in zip(WORDS, ROWS, strict=True)
    )
    path = tmp_path / "v.bin"
    path.write_bytes(b"%d 7\n" % len(WORDS) + body)
    assert_same(WordVectors.load(path, unit=False))


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("header", ["", "8 7"])
def test_text_as_other_programs_write_it(tmp_path, packed, end, last, header):
    lines = [header] if header else []
    lines += [f"{w} {' '.join(map(str, r))}" for w, r in zip(WORDS, ROWS.tolist(), strict=True)]
    path = tmp_path / "v.txt"
    path.write_bytes((end.join(lines) + (end if last else "")).encode())
    assert_same(WordVectors.load(packed(path), unit=False))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())  # as Windows editors do
    assert_same(WordVectors.load(packed(path), unit=False))


def test_text_with_tabs_or_more_spaces(tmp_path):
    for number, space in enumerate(("\t", "  ")):
        lines = [
            f"{w}\t{space.join(map(str, r))}" for w, r in zip(WORDS, ROWS.tolist(), strict=True)
        ]
        path = tmp_path / f"{number}.txt"
        path.write_text("\n".join(lines), encoding="utf-8")
        assert_same(WordVectors.load(path, unit=False))


def test_glove_words_may_hold_spaces(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text(
        "a 1 2 3\n. . . 4 5 6\nat name@x.com 7 8 9\n5 6 7 8\n\u00a0 1 1 1\n\x85 2 2 2\n"
    )
    vectors = WordVectors.load(path, unit=False)
    assert vectors.words == ("a", ". . .", "at name@x.com", "5", "\u00a0", "\x85")
    assert vectors[". . ."].tolist() == [4, 5, 6]


def test_empty_lines_carry_nothing(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n\nb 3 4\n\n\n")
    assert WordVectors.load(path).words == ("a", "b")


def test_limit(owned, tmp_path, packed):
    owned.save_word2vec_format(str(tmp_path / "v.txt"))
    owned.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    np.save(tmp_path / "w.npy", ROWS)
    (tmp_path / "w.vocab").write_text("\n".join(WORDS), encoding="utf-8")
    for name in ("v.txt", "v.bin", "w.npy"):
        vectors = WordVectors.load(tmp_path / name, unit=False, limit=3)
        assert_same(vectors, WORDS[:3], ROWS[:3], rtol=1e-6)
        assert len(WordVectors.load(tmp_path / name, limit=99)) == len(WORDS)
    for limit in (0, -1, 2.5, True, "3"):
        with pytest.raises(InputError, match=r"limit: .* came"):
            WordVectors.load(tmp_path / "v.txt", limit=limit)


def test_gensims_own_file_wants_trust(owned, tmp_path):
    path = tmp_path / "v.kv"
    owned.save(str(path))
    with pytest.raises(InputError, match=r"pickles, which can run code.*trust=True"):
        WordVectors.load(path)
    assert_same(WordVectors.load(path, trust=True, unit=False))
    owned.save(str(path), sep_limit=1)  # the array in a file of its own
    assert (tmp_path / "v.kv.vectors.npy").exists()
    assert_same(WordVectors.load(path, trust=True, unit=False))


def test_gensims_own_file_in_gzip(owned, tmp_path):
    owned.save(str(tmp_path / "v.kv.gz"))
    assert_same(WordVectors.load(tmp_path / "v.kv.gz", trust=True, unit=False))
    shutil.move(tmp_path / "v.kv.gz", tmp_path / "v.kv")
    with pytest.raises(FormatError, match=r"v\.kv: it is gzip, .*let the name end in \.gz"):
        WordVectors.load(tmp_path / "v.kv", trust=True)


def test_a_pickle_never_runs_unasked(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("the pickle ran",))

    path = tmp_path / "trap.kv"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match="trust=True"):
        WordVectors.load(path)


def test_gensim_that_is_not_installed(owned, tmp_path, monkeypatch):
    path = tmp_path / "v.kv"
    owned.save(str(path))
    monkeypatch.setitem(sys.modules, "gensim.utils", None)
    with pytest.raises(MissingExtraError, match="pip install 'gensim'"):
        WordVectors.load(path, trust=True)


def test_live_gensim(owned):
    assert_same(WordVectors.from_gensim(owned, unit=False))
    vectors = WordVectors.from_gensim(owned)
    owned.vectors[:] = 0  # it may go on training
    assert "river" in vectors
    model = Word2Vec(SENTENCES, vector_size=7, min_count=1, workers=1)
    vectors = WordVectors.from_gensim(model, unit=False)
    assert (vectors["bank"] == model.wv["bank"]).all()


def test_live_vectors_are_told_their_way_in(owned):
    with pytest.raises(
        InputError, match=r"path_or_name: .*live .* goes to WordVectors\.from_gensim"
    ):
        WordVectors.load(owned)


def test_one_content_one_fingerprint(owned, tmp_path):
    owned.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    owned.save(str(tmp_path / "v.kv"))
    np.save(tmp_path / "v.npy", np.asfortranarray(ROWS.astype(np.float64)))
    (tmp_path / "v.txt").write_text("\r\n".join(WORDS), encoding="utf-8")
    prints = {
        WordVectors.from_arrays(WORDS, ROWS).fingerprint,
        WordVectors.from_gensim(owned).fingerprint,
        WordVectors.load(tmp_path / "v.bin").fingerprint,
        WordVectors.load(tmp_path / "v.kv", trust=True).fingerprint,
        WordVectors.load(tmp_path / "v.npy").fingerprint,
    }
    assert len(prints) == 1


@pytest.mark.parametrize(
    ("array", "words"),
    [
        ("x.npy", "x.txt"),
        ("x.npy", "x.vocab"),
        ("x.npy", "x.vocab.txt.gz"),
        ("x.vectors.npy", "x.vocab.txt"),
        ("x.vectors.npy.gz", "x.words.txt"),
    ],
)
def test_an_array_and_its_words(tmp_path, array, words):
    half = ROWS.astype(np.float16)
    np.save(tmp_path / "made.npy", half)
    pack = gzip.compress if array.endswith(".gz") else bytes
    (tmp_path / array).write_bytes(pack((tmp_path / "made.npy").read_bytes()))
    pack = gzip.compress if words.endswith(".gz") else bytes
    (tmp_path / words).write_bytes(pack(("\n".join(WORDS) + "\n").encode()))
    assert_same(WordVectors.load(tmp_path / array, unit=False), rows=half.astype(np.float32))
    shutil.move(tmp_path / words, tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"vocabulary: .*x\.vocab\.txt.*pass vocabulary="):
        WordVectors.load(tmp_path / array)
    elsewhere = WordVectors.load(tmp_path / array, vocabulary=tmp_path / "elsewhere", unit=False)
    assert_same(elsewhere, rows=half.astype(np.float32))


@pytest.fixture(scope="module")
def fasttext_model():
    return FastText(SENTENCES, vector_size=6, min_count=1, bucket=97, min_n=2, max_n=4, workers=1)


def test_fasttext_bin(fasttext_model, tmp_path, packed):
    path = tmp_path / "model.bin"
    save_facebook_model(fasttext_model, str(path))
    oracle = load_facebook_vectors(str(path))
    vectors = WordVectors.load(packed(path), unit=False)
    live = WordVectors.from_gensim(fasttext_model, unit=False)
    stored, strange = list(oracle.index_to_key), ["rivers", "日本", "ναι", "a", "</s>", "<", "é"]
    assert vectors.words == tuple(stored)
    for ours in (vectors, live):
        points, known = ours.embed(stored + strange)
        assert known.tolist() == [True] * len(stored) + [False] * len(strange)
        np.testing.assert_allclose(points, oracle[stored], atol=1e-7)
        points, known = ours.embed(strange, unknown="subword")
        assert known.all()
        np.testing.assert_allclose(points, [oracle[w] for w in strange], atol=1e-7)
    for ours in (vectors, live):
        again = pickle.loads(pickle.dumps(ours))
        assert again.fingerprint == ours.fingerprint
        assert (again.embed(stored)[0] == ours.embed(stored)[0]).all()
    assert 0 < vectors.default_eta < 1
    assert repr(vectors).startswith("WordVectors('model.bin', ")
    assert len(vectors.fingerprint) == 32


@settings(deadline=None, max_examples=40)
@given(words=st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=5))
@pytest.mark.parametrize("sizes", [(1, 2), (2, 4), (3, 3)])
def test_ngrams_are_those_of_gensim(sizes, words):
    from gensim.models.fasttext import ft_ngram_hashes

    from wayfare.vectors.ngrams import Ngrams

    words = [w.encode("utf-8", "replace").decode() for w in words]
    buckets, owners = Ngrams(*sizes, 1009).of(words)
    for i, word in enumerate(words):
        theirs = ft_ngram_hashes(word, *sizes, 1009)
        assert sorted(buckets[owners == i].tolist()) == sorted(theirs)


def test_fasttext_without_ngrams(tmp_path):
    model = FastText(SENTENCES, vector_size=4, min_count=1, max_n=0, bucket=0, workers=1)
    path = tmp_path / "model.bin"
    save_facebook_model(model, str(path))
    vectors = WordVectors.load(path)
    assert "bank" in vectors
    with pytest.raises(InputError, match="whole words only"):
        vectors.embed(["x"], unknown="subword")


def _token_model(folder, *, weights=False):
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces = ["[UNK]", "[CLS]", "river", "##side", "##bank", "bank", "tax"]
    words = {w: i for i, w in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A", None, [("[CLS]", 1)])
    tokenizer.enable_padding(length=64)
    tokenizer.enable_truncation(1)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    rows = np.random.default_rng(1).normal(size=(7, 4)).astype(np.float16)
    tensors = {"embeddings": rows}
    rows = rows.astype(np.float32)
    if weights:
        factors = np.linspace(0.5, 2, 7)
        tensors = {"embeddings": tensors["embeddings"][::-1].copy(), "weights": factors}
        tensors["mapping"] = np.arange(7)[::-1].copy()
        rows = rows * factors[:, None].astype(np.float32)
    save_file(tensors, folder / "model.safetensors")
    return rows


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("inside", ["", "0_StaticEmbedding"])
def test_safetensors_and_tokenizer(tmp_path, weights, inside):
    rows = _token_model(tmp_path / inside, weights=weights)
    vectors = WordVectors.load(tmp_path, unit=False)
    points, known = vectors.embed(["riverside", "zzz", "Riverbank", "tax zzz", "", "[CLS]"])
    assert known.tolist() == [True, False, True, True, False, False]
    np.testing.assert_allclose(points, [rows[[2, 3]].mean(0), rows[[2, 4]].mean(0), rows[6]], 1e-6)
    assert len(vectors) == 7
    named = WordVectors.load(tmp_path / inside / "model.safetensors", unit=False)
    assert named.fingerprint == vectors.fingerprint
    assert vectors.words[2] == "river"
    again = pickle.loads(pickle.dumps(vectors))
    assert again.fingerprint == vectors.fingerprint
    assert again.embed(["riverside", "[CLS]"])[1].tolist() == [True, False]
    for name in ("model.safetensors", "tokenizer.json"):
        plain = tmp_path / inside / name
        plain.with_name(f"{name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    assert WordVectors.load(tmp_path, unit=False).fingerprint == vectors.fingerprint


def test_the_layout_of_wordllama(tmp_path):
    _token_model(tmp_path / "made")
    for folder in ("weights", "tokenizers"):
        (tmp_path / folder).mkdir()
    tensors, tokenizer = tmp_path / "weights/l2_4.safetensors", "l2_tokenizer_config.json"
    shutil.move(tmp_path / "made/model.safetensors", tensors)
    shutil.move(tmp_path / "made/tokenizer.json", tmp_path / "tokenizers" / tokenizer)
    assert "riverside" in WordVectors.load(tensors)
    shutil.move(tmp_path / "tokenizers" / tokenizer, tmp_path / "elsewhere.json")
    with pytest.raises(InputError, match=r"vocabulary: no tokenizer\.json beside"):
        WordVectors.load(tensors)
    assert "riverside" in WordVectors.load(tensors, vocabulary=tmp_path / "elsewhere.json")
    tensors.write_bytes(gzip.compress(tensors.read_bytes()))
    assert "riverside" in WordVectors.load(tensors, vocabulary=tmp_path / "elsewhere.json")


@pytest.mark.parametrize("kind", ["bpe", "unigram", "metaspace"])
def test_a_list_of_words_is_encoded_as_each_word_alone(tmp_path, kind):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    text = ["the river bank rises", "taxes on the banks rise", "naïve 日本"] * 4
    special = ["<unk>"]
    if kind == "unigram":
        tokenizer = Tokenizer(models.Unigram())
        trainer = trainers.UnigramTrainer(
            vocab_size=60, special_tokens=special, unk_token="<unk>", show_progress=False
        )
    else:
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
        trainer = trainers.BpeTrainer(vocab_size=90, special_tokens=special, show_progress=False)
    if kind != "bpe":
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.train_from_iterator(text, trainer)
    size = tokenizer.get_vocab_size()
    from safetensors.numpy import save_file

    rows = np.random.default_rng(2).normal(size=(size, 3)).astype(np.float32)
    save_file({"embedding.weight": rows}, tmp_path / "model.safetensors")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    vectors = WordVectors.load(tmp_path, unit=False)
    unknown = tokenizer.token_to_id("<unk>")
    for word in ["river", "banks", "riversideы", "ы", "naïve", "日本", "the bank"]:
        ids = [i for i in tokenizer.encode(word, add_special_tokens=False).ids if i != unknown]
        assert (word in vectors) == bool(ids)
        if ids:
            np.testing.assert_allclose(vectors[word], rows[ids].mean(0), rtol=1e-5)
    assert json.loads((tmp_path / "tokenizer.json").read_text())["model"]["type"]


def test_glove_of_the_shared_data(shared):
    path = shared / "vectors" / "glove100.vectors.npy"
    vectors = WordVectors.load(path, unit=False, limit=20_000, cache=False)
    assert (len(vectors), vectors.dim) == (20_000, 100)
    assert vectors.words[:3] == ("the", ",", ".")
    source = np.load(path, mmap_mode="r")
    assert (vectors["of"] == source[3].astype(np.float32)).all()
    unit = WordVectors.load(path, limit=20_000, cache=False)
    words, near = np.array(unit.words), unit.embed(unit.words)[0] @ unit["river"]
    assert {"river", "rivers", "lake"} <= set(words[np.argsort(-near)[:8]])


def test_reading_a_file_tells_its_progress(owned, tmp_path, monkeypatch):
    bars = []

    class Recorded(Progress):
        def __init__(self, what, **settings):
            super().__init__(what, **settings)
            bars.append((what, settings["show"], self))

    monkeypatch.setattr(request, "Progress", Recorded)
    monkeypatch.setattr(request, "MEGABYTE", 1)
    path = tmp_path / "v.txt"
    owned.save_word2vec_format(str(path))
    WordVectors.load(path, progress=False)
    what, show, bar = bars[-1]
    assert (what, show) == ("reading v.txt", False)
    assert bar.done == bar.total == path.stat().st_size
