"""What comes in and what goes out, as OpenAPI tells it.

Bodies are strict: a key that is not known, a number as a string, NaN or a half of a surrogate pair is
an error that names it. All distances and their bounds are in the unit of the distance.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "DistanceAnswer",
    "DistanceRequest",
    "ExplainAnswer",
    "ExplainRequest",
    "Failure",
    "IndexAnswer",
    "SearchAnswer",
    "SearchRequest",
]

# Far beyond what a distance between word vectors needs, near enough that nothing overflows.
Eta = Annotated[float, Field(ge=1e-3, le=1e3, description="Mass travels at most pi times this.")]
Tol = Annotated[float, Field(ge=1e-9, le=1.0, description="Relative gap of the proven bounds.")]
Metric = Annotated[
    Literal["wfr", "wmd", "hellinger"], Field(description="Which distance. Default: the index's.")
]
Id = Annotated[int, Field(ge=-(2**63), lt=2**63)] | str
# Longer ones would not be told apart by the index either: it keeps 64 bits.
Scalar = bool | Annotated[int, Field(ge=-(2**63), lt=2**63)] | float | str


class Request(BaseModel):
    """What all requests share."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class SearchRequest(Request):
    """A text, and how many of the documents nearest to it are wanted."""

    query: str = Field(
        description="What to look for, in your own words.", examples=["interest rates go up again"]
    )
    k: int | None = Field(
        default=None, ge=1, description="How many. Default: 10; beside `within`, all."
    )
    within: float | None = Field(
        default=None, ge=0, le=1e9, description="Only up to this distance."
    )
    where: dict[str, Scalar | list[Scalar]] | None = Field(
        default=None, description="Only documents whose label or metadata have one of these values."
    )
    eta: Eta | None = None
    tol: Tol | None = None
    metric: Metric | None = None
    shade: bool = Field(default=False, description="Also say which words of each text carry mass.")


class DistanceRequest(Request):
    """Two texts, read as the index reads its own."""

    a: str = Field(description="A text.", examples=["Obama speaks to the media in Illinois"])
    b: str = Field(description="Another.", examples=["The president greets the press in Chicago"])
    eta: Eta | None = None
    tol: Tol | None = None
    metric: Metric | None = None


class ExplainRequest(Request):
    """A text `a`, and beside it a text `b` or the document `id` of the index."""

    a: str = Field(description="A text.", examples=["Obama speaks to the media in Illinois"])
    b: str | None = Field(
        default=None,
        description="Another, unless `id` names a document.",
        examples=["The president greets the press in Chicago"],
    )
    id: Id | None = Field(default=None, description="A document of the index, instead of `b`.")
    eta: Eta | None = None
    tol: (
        Annotated[float, Field(ge=1e-9, le=1e-2, description="Relative gap of the proven bounds.")]
        | None
    ) = None
    metric: (
        Annotated[Literal["wfr", "wmd"], Field(description="Which distance; these have a plan.")]
        | None
    ) = None
    pairs: int = Field(default=5, ge=1, le=1000, description="Pairs of each word that are told.")
    most: int = Field(default=30, ge=2, le=500, description="Bars a side of the drawing.")


class Span(BaseModel):
    """A stretch of a text, in code points, and the mass that its word shares with the query."""

    start: int = Field(description="Its first code point.")
    end: int = Field(description="The one after its last.")
    word: str = Field(description="As it was read.")
    source: str = Field(description="The word of the query that carries the most to it.")
    mass: float = Field(description="What it has in the document.")
    carried: float = Field(description="What arrives there from the query.")


class Hit(BaseModel):
    """One document: its distance is proven to lie between `lower` and `upper`."""

    id: int | str = Field(description="The document's name in the index.")
    distance: float = Field(description="From the query; never below `lower` or above `upper`.")
    lower: float = Field(description="Proven: it is not nearer.")
    upper: float = Field(description="Proven: it is not farther.")
    text: str | None = Field(description="null where the index keeps no texts.")
    cut: bool = Field(description="Whether the text goes on beyond what is shown.")
    label: Any = Field(default=None, description="As it was given when the index was built.")
    metadata: dict[str, Any] = Field(description="The columns kept beside the text.")
    passage: list[int] | None = Field(description="The stretch that carries the most.")
    spans: list[Span] | None = Field(description="With `shade`, where time was left for it.")


class WordMass(BaseModel):
    """A word as it was read, and the mass it has."""

    word: str = Field(description="As it was read.")
    mass: float = Field(description="Its share of the text.")


class SearchAnswer(BaseModel):
    """The nearest documents. `exact`: it is proven that no other one is nearer."""

    hits: list[Hit] = Field(description="Nearest first.")
    exact: bool = Field(description="Whether it is proven that no other document is nearer.")
    ordered: bool = Field(description="Whether the order of the hits is proven too.")
    tied: list[int | str] = Field(description="Ids that double precision cannot tell apart.")
    work: dict[str, Any] = Field(description="Documents that each step of the search touched.")
    words: list[WordMass] = Field(description="The query as it was read.")
    metric: str = Field(description="Which distance it was.")
    eta: float = Field(description="Under which eta.")
    milliseconds: float = Field(description="What it took here.")


class DistanceAnswer(BaseModel):
    """A distance and its proof. `exact`: the bounds meet the tolerance."""

    value: float | None = Field(description="null where no plan of finite cost exists.")
    lower: float | None = Field(description="Proven: it is not less.")
    upper: float | None = Field(description="Proven: it is not more.")
    similarity: float | None = Field(description="From 0 to 1; null for other metrics than wfr.")
    exact: bool = Field(description="Whether the bounds meet the tolerance.")
    status: str = Field(description="How the solver ended, such as certified.")
    metric: str = Field(description="Which distance it is.")
    eta: float | None = Field(description="Under which eta; null where there is none.")
    tol: float = Field(description="The relative gap that was asked for.")
    words: list[int] = Field(description="Distinct known words of each.")
    work: dict[str, int] = Field(description="Steps that the solver took.")
    milliseconds: float = Field(description="What it took here.")


class ExplainAnswer(DistanceAnswer):
    """The distance, the ledger that adds up to it, and where to draw bars and ribbons."""

    ledger: dict[str, Any] = Field(description="Each word, where its mass went, and the price.")
    drawing: dict[str, Any] = Field(description="Bars and ribbons, and where they stand.")


class IndexAnswer(BaseModel):
    """What is searched, and under which limits."""

    name: str = Field(description="The folder's.")
    documents: int = Field(description="How many there are.")
    deleted: int = Field(description="Gone, but still on the disk until the index is compacted.")
    words: int = Field(description="Distinct words of all documents.")
    dim: int = Field(description="Numbers of a word vector.")
    bytes: int = Field(description="On the disk.")
    generation: int = Field(description="Grows by one with each write.")
    metric: str = Field(description="The default of a search.")
    eta: float = Field(description="The default of a search.")
    tol: float = Field(description="The default of a search.")
    vectors: str | None = Field(description="The word vectors' name.")
    weighting: str | None = Field(description="How much mass a word carries.")
    tokenizer: str | None = Field(description="How texts become words.")
    texts: bool = Field(description="Whether it keeps the texts.")
    facets: list[str] = Field(description="What `where` may restrict a search by.")
    version: str = Field(description="Of Wayfare.")
    limits: dict[str, int] = Field(description="What one request may ask for, and how many wait.")


class Trouble(BaseModel):
    """A code for programs, a sentence for people, and the limit that was met, if any."""

    code: str = Field(description="One word, for programs.")
    message: str = Field(description="What came, what was wanted, what to do.")
    limit: int | None = Field(description="The limit that was met, if any.")


class Failure(BaseModel):
    """Every error of every path."""

    error: Trouble = Field(description="What was wrong.")
