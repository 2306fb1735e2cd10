"""The work behind the API, in threads: search, distance, explain.

Each function takes its `Turn`: it looks at the time that is left, and offers what it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

from wayfare import __version__
from wayfare.errors import InputError
from wayfare.front import pairwise_bounds
from wayfare.index import Index
from wayfare.measure import Measure
from wayfare.metrics import Settings, metric_named
from wayfare.search import Hits
from wayfare.solution import Solution, Status
from wayfare.web import schema
from wayfare.web.gate import Turn
from wayfare.web.limits import Limits
from wayfare.web.refusals import Refusal
from wayfare.web.shading import carried, passage, spans

__all__ = ["Served"]

Told = dict[str, Any]

# Problems of more pairs of words than this are solved loosely first, to have something to say in time.
LARGE = 10_000
LADDER = (0.3, 1e-2, 1e-3, 1e-5)
FIRST, LONGEST = 20, 200  # documents, and characters, that a server is warmed up with
FOREVER = 1e9  # milliseconds
WORDS_TOLD = 100  # words of a query that an answer repeats


class Served:
    """An index as it is served, and what of it is asked too often to be looked up each time."""

    def __init__(self, index: Index, limits: Limits) -> None:
        self.index, self.limits = index, limits
        self.info = index.info()
        self._seen = _signature(index.path)

    def refresh(self) -> bool:
        """Take in what others wrote, if they wrote anything."""
        now = _signature(self.index.path)
        if now == self._seen:
            return False
        self.index.refresh()
        self.info, self._seen = self.index.info(), now
        return True

    def warm_up(self) -> None:
        """Have everything loaded and compiled, so that no client waits for it.

        Raises `InputError` where the index cannot read texts.
        """
        words = [word for one in islice(self.index, FIRST) for word in one.measure.words or ()]
        text = " ".join(words[: self.limits.words])[:LONGEST] or "the first query"
        query = schema.SearchRequest(query=text, k=min(10, self.limits.k), shade=True)
        self.search(query, Turn(FOREVER))
        (first,) = self.index.encode([text])
        metric_named(self.info.metric)(first, first, Settings(eta=self.info.eta))
        # What float32 cannot certify goes on in float64, by other kernels.
        pairwise_bounds([first], [first], eta=self.info.eta, dtype="float64", progress=False)

    def describe(self) -> Told:
        """What is searched, and under which limits."""
        info = self.info
        told = {name: getattr(info, name) for name in schema.IndexAnswer.model_fields if
                hasattr(info, name)}  # fmt: skip
        return told | {
            "name": Path(info.path).resolve().name,
            "version": __version__,
            "limits": {name: getattr(self.limits, name) for name in self.limits.__match_args__},
        }

    # -- search -------------------------------------------------------------------------------

    def search(self, asked: schema.SearchRequest, turn: Turn[Told]) -> Told:
        """The nearest documents; with `shade`, and time, which words of each carry mass."""
        if asked.k is not None and asked.k > self.limits.k:
            raise Refusal(
                422,
                "too_many",
                f"k: {asked.k} came; at most {self.limits.k} documents are given",
                limit=self.limits.k,
            )
        k = asked.k if asked.k is not None or asked.within is None else self.limits.k
        query = self._read("query", asked.query)
        settings = self._settings(asked)
        hits = self.index.search(
            query,
            k,
            within=asked.within,
            where=asked.where,
            eta=settings.eta,
            tol=settings.tol,
            metric=self._metric(asked),
            mode="fast",
            milliseconds=max(turn.left, 1.0),
        )
        answer = self._hits(hits, query) | {
            "metric": self._metric(asked),
            "eta": settings.eta,
            "milliseconds": turn.spent,
        }
        turn.offer(answer)
        if asked.shade:
            shaded = [self._shaded(hit, query, asked, turn) for hit in answer["hits"]]
            answer = answer | {"hits": shaded, "milliseconds": turn.spent}
        return answer

    def _hits(self, hits: Hits, query: Measure) -> Told:
        work = hits.work
        return {
            "hits": [self._hit(hit._asdict()) for hit in hits],
            "exact": hits.exact,
            "ordered": hits.ordered,
            "tied": hits.tied,
            "work": {name: getattr(work, name) for name in work.__dataclass_fields__},
            "words": _words(query),
        }

    def _hit(self, hit: Told) -> Told:
        text = hit["text"]
        cut = text is not None and len(text) > self.limits.text
        beside: Told = {"label": None, "metadata": {}}
        if self.info.facets and hit["id"] in self.index:
            document = self.index.get(hit["id"])
            beside = {"label": document.label, "metadata": document.metadata}
        shown = text[: self.limits.text] if cut else text
        return {**hit, "text": shown, "cut": cut, **beside, "passage": None, "spans": None}

    def _shaded(
        self, hit: Told, query: Measure, asked: schema.SearchRequest, turn: Turn[Told]
    ) -> Told:
        split = self.index.tokenizer
        if turn.left <= 0 or hit["text"] is None or split is None or hit["id"] not in self.index:
            return hit
        document = self.index.get(hit["id"]).measure
        if len(document) > self.limits.words or self._metric(asked) == "hellinger":
            return hit
        solution = metric_named(self._metric(asked))(query, document, self._settings(asked))
        found = spans(hit["text"], split, carried(solution))
        return hit | {"spans": found, "passage": passage(hit["text"], found)}

    # -- one pair -----------------------------------------------------------------------------

    def distance(self, asked: schema.DistanceRequest, turn: Turn[Told]) -> Told:
        """The distance of two texts."""
        first, second = self._read("a", asked.a), self._read("b", asked.b)
        for solution in self._solve(first, second, asked, turn, LADDER):
            answer = _told(solution, self._settings(asked).tol, turn)
            turn.offer(answer)
        return answer

    def explain(self, asked: schema.ExplainRequest, turn: Turn[Told]) -> Told:
        """The distance of a text to another, or to a document, with its ledger and its drawing."""
        first, second = self._read("a", asked.a), self._other(asked)
        # A looser plan has many more pairs, and takes longer to explain than a closer one to find.
        for solution in self._solve(first, second, asked, turn, [t for t in LADDER if t <= 1e-3]):
            why = solution.explain()
            answer = _told(solution, self._settings(asked).tol, turn) | {
                "ledger": why.to_dict(most=asked.pairs),
                "drawing": why.drawing(most=asked.most).to_dict(),
            }
            turn.offer(answer)
        return answer

    def _solve(
        self,
        first: Measure,
        second: Measure,
        asked: schema.DistanceRequest | schema.ExplainRequest,
        turn: Turn[Told],
        ladder: Sequence[float],
    ) -> Iterator[Solution]:
        """Ever closer, to the tolerance that was asked for or as far towards it as the time allows."""
        settings, name = self._settings(asked), self._metric(asked)
        stepwise = name == "wfr" and len(first) * len(second) > LARGE
        looser = [tol for tol in ladder if tol > settings.tol] if stepwise else []
        for tol in (*looser, settings.tol):
            yield metric_named(name)(first, second, Settings(eta=settings.eta, tol=tol))
            if turn.left <= 0:
                return

    def _other(self, asked: schema.ExplainRequest) -> Measure:
        if (asked.b is None) == (asked.id is None):
            raise Refusal(422, "invalid", "b, id: give one of the two, a text or a document")
        if asked.b is not None:
            return self._read("b", asked.b)
        document = self._document(asked.id)
        if len(document) > self.limits.words:
            raise self._too_many("the document", len(document))
        return document

    def _document(self, id: Any) -> Measure:
        # Programs that read integers as floats send those of 64 bits as strings.
        if isinstance(id, str) and id.lstrip("-").isdecimal() and id not in self.index:
            id = int(id) if len(id) < 20 else id
        if id not in self.index:
            raise Refusal(404, "not_found", f"id: {str(id)[:60]!r} is not in the index")
        return self.index.get(id).measure

    # -- what is asked ------------------------------------------------------------------------

    def _read(self, name: str, text: str) -> Measure:
        (measure,) = self.index.encode([text])
        if len(measure) > self.limits.words:
            raise self._too_many(name, len(measure))
        return measure

    def _too_many(self, name: str, count: int) -> Refusal:
        return Refusal(
            422,
            "too_many_words",
            f"{name}: {count:,} distinct words came; at most {self.limits.words:,} are compared",
            limit=self.limits.words,
        )

    def _metric(self, asked: Any) -> schema.Metric:
        return cast(schema.Metric, asked.metric or self.info.metric)

    def _settings(self, asked: Any) -> Settings:
        info = self.info
        return Settings(
            eta=info.eta if asked.eta is None else asked.eta,
            tol=info.tol if asked.tol is None else asked.tol,
        )


def _told(solution: Solution, tol: float, turn: Turn[Told]) -> Told:
    lower, upper = solution.bounds
    proven = solution.status in (Status.CERTIFIED, Status.EXACT)
    wfr = solution.metric == "wfr"
    return {
        "value": solution.value,
        "lower": lower,
        "upper": upper,
        "similarity": solution.similarity if wfr else None,
        "exact": proven and solution.tol <= tol,
        "status": solution.status.value,
        "metric": solution.metric,
        "eta": solution.eta,
        "tol": tol,
        "words": (len(solution.first), len(solution.second)),
        "work": vars(solution.work),
        "milliseconds": turn.spent,
    }


def _words(query: Measure) -> list[Told]:
    if query.words is None:
        raise InputError("query: the words have no names")  # pragma: no cover (texts have words)
    heaviest = sorted(zip(query.words, query.weights.tolist(), strict=True), key=lambda w: -w[1])
    return [{"word": word, "mass": mass} for word, mass in heaviest[:WORDS_TOLD]]


def _signature(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """What changes whenever anything is written to an index, and not when it is read."""
    seen = []
    for path in sorted(folder.iterdir()):
        if not path.name.endswith("-shm"):  # where readers of SQLite leave their marks
            try:
                told = path.stat()
            except FileNotFoundError:
                continue
            seen.append((path.name, told.st_size, told.st_mtime_ns))
    return tuple(seen)
