"""Text to tokens.

A word is a run of letters, digits and combining marks. What joins words:

    inner apostrophe    kept: "don't" is one word, "l'homme" too; ’ is written '
    a final 's          dropped: "the week's news" gives "week", as "the weeks of" gives "weeks"
    hyphen, underscore  split: "oil-price" shares both its words with "oil price"
    anything else       splits

The rules for hyphens and for 's were measured: with them fewer words have no GloVe vector, up to
0.8 points fewer for the one and 1.1 for the other. The table stands in docs/text.md.

Text is lowered, then composed (Unicode NFC), so that one spelling has one form, and so that what
comes out goes in again unchanged. Languages written without spaces need a tokenizer of their own:
any callable from `str` to a list of `str` does.
"""

from __future__ import annotations

import hashlib
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

from wayfare.errors import InputError

__all__ = ["DEFAULT_TOKENIZER", "ENGLISH", "Tokenizer", "tokenize"]

RULES = "words-1"  # part of every fingerprint: changes whenever some text gives other tokens

# Function words: they hold a sentence together and say little about its subject.
ENGLISH = frozenset(
    """
    a an the this that these those such same other another each every either neither both all any
    some few many much more most several enough no none nothing something anything everything
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    one someone anyone everyone nobody somebody anybody everybody
    who whom whose which what when where why how whoever whatever whichever whenever wherever
    be am is are was were been being do does did doing done have has had having
    can could may might must shall should will would ought
    and or but nor so yet for if then else than because since unless until while whereas though
    although whether as like
    about above across after against along among around at before behind below beneath beside
    besides between beyond by despite down during except from in inside into near of off on onto
    out outside over per through throughout to toward towards under up upon via with within without
    not never ever always often again once here there now just only also too very quite rather
    almost already still even else however therefore thus hence
    i'm you're we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd
    i'll you'll he'll she'll it'll we'll they'll
    isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't
    can't cannot couldn't mayn't mightn't mustn't shan't shouldn't won't wouldn't needn't
    """.split()  # noqa: SIM905  (a list of 240 quoted strings is no easier to check)
)


def _pattern(letter: str, mark: str) -> Callable[[str], list[str]]:
    # ++ and *+ never give back what they took: no text can make the search backtrack.
    word = f"{letter}(?:{letter}++|{mark}++)*+"
    possessive = f"['’][sS](?!{letter}|{mark})"
    return re.compile(f"({word}(?:(?!{possessive})['’]{word})*+)(?:{possessive})?").findall


_ascii_pattern = _pattern("[A-Za-z0-9]", r"(?!)")
_ascii_table = bytes(b if chr(b).isalnum() or chr(b) == "'" else 32 for b in range(128)).ljust(256)


def _ascii_words(text: str) -> list[str]:
    # Only letters, digits and apostrophes decide about a word, so a table of bytes can cut the
    # text; the pattern, several times slower, sees only the runs that hold an apostrophe.
    runs = text.encode().translate(_ascii_table).decode().split()
    if "'" not in text:
        return runs
    words = []
    for run in runs:
        if "'" in run:
            words += _ascii_pattern(run)
        else:
            words.append(run)
    return words


@cache
def _unicode_words() -> Callable[[str], list[str]]:
    # Python's \w leaves combining marks out, which would cut every Hindi word to pieces. The scan
    # takes a tenth of a second: only text that is not ASCII pays it, once a process. The two
    # joiners (U+200C, U+200D) stand inside Persian and Indic words.
    marks = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "M"]
    return _pattern(r"[^\W_]", f"[{_ranges(marks)}\u200c\u200d]")


def _ranges(characters: list[str]) -> str:
    runs: list[list[int]] = []
    for code in map(ord, characters):
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in runs)


@dataclass(frozen=True)
class Tokenizer:
    """Text to words: what `tokenize` does, as an object to keep, pickle and compare.

    `stop_words` are left out of the result: None keeps everything, "english" drops the
    function words of `wayfare.text.ENGLISH`, any other iterable of words drops those. They are
    compared after lowering where `lowercase` is set. Raises `InputError` for other arguments, and
    when called with anything but a `str`.

    >>> Tokenizer(stop_words="english")("The president greets the press in Chicago")
    ['president', 'greets', 'press', 'chicago']
    >>> Tokenizer().fingerprint
    'words-1/lower/all'
    """

    lowercase: bool = True
    stop_words: str | Iterable[str] | None = None
    _stop: frozenset[str] = field(init=False, repr=False, compare=False, default=frozenset())

    def __post_init__(self) -> None:
        if not isinstance(self.lowercase, bool):
            raise InputError(f"lowercase: {self.lowercase!r} came; give True or False")
        stop = _stop_words(self.stop_words)
        if not (self.stop_words is None or isinstance(self.stop_words, str)):
            object.__setattr__(self, "stop_words", stop)
        if self.lowercase:
            stop = frozenset(map(str.lower, stop))
        stop = frozenset(_compose(word).replace("’", "'") for word in stop)
        object.__setattr__(self, "_stop", stop)

    def __call__(self, text: str) -> list[str]:
        """The words of `text`, in order."""
        if not isinstance(text, str):
            raise InputError(
                f"text: {type(text).__name__} came; give a str (decode bytes, fill missing values)"
            )
        if self.lowercase:
            text = text.lower()
        if text.isascii():
            words = _ascii_words(text)
        else:
            words = _unicode_words()(_compose(text).replace("’", "'"))
        if self._stop:
            return [word for word in words if word not in self._stop]
        return words

    @property
    def fingerprint(self) -> str:
        """A string that is equal for tokenizers that give equal tokens for every text."""
        case = "lower" if self.lowercase else "cased"
        if not self._stop:
            return f"{RULES}/{case}/all"
        listed = "\n".join(sorted(self._stop)).encode("utf-8", "surrogatepass")
        return f"{RULES}/{case}/{hashlib.blake2b(listed, digest_size=8).hexdigest()}"


def tokenize(
    text: str, *, lowercase: bool = True, stop_words: str | Iterable[str] | None = None
) -> list[str]:
    """The words of `text`, in order; see `Tokenizer`, and use that for many texts.

    >>> tokenize("Obama's Oil-Price speech: don't panic!")
    ['obama', 'oil', 'price', 'speech', "don't", 'panic']
    >>> tokenize("Η Αθήνα και το café", stop_words=["και", "το"])
    ['η', 'αθήνα', 'café']
    """
    return Tokenizer(lowercase=lowercase, stop_words=stop_words)(text)


def _compose(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _stop_words(given: str | Iterable[str] | None) -> frozenset[str]:
    if given is None:
        return frozenset()
    if given == "english":
        return ENGLISH
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InputError(
            f'stop_words: {given!r} came; give None, "english", or a list or set of words'
        )
    words = frozenset(given)
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"stop_words: {word!r} is not a str; give words")
    return words


# What turns texts into documents unless another tokenizer is given: measured in docs/weighting.md.
DEFAULT_TOKENIZER = Tokenizer(stop_words="english")
