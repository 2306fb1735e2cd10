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
Metric = Literal["wfr", "wmd", "hellinger"]
Id = Annotated[int, Field(ge=-(2**63), lt=2**63)] | str
# Longer ones would not be told apart by the index either: it keeps 64 bits.
Scalar = bool | Annotated[int, Field(ge=-(2**63), lt=2**63)] | float | str


class Request(BaseModel):
    """What all requests share."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class SearchRequest(Request):
    """A text, and how many of the documents nearest to it are wanted."""

    query: str = Field(examples=["interest rates go up again"])
    k: int | None = Field(
        default=None, ge=1, description="How many. Default: 10, or all within `within`."
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

    a: str = Field(examples=["Obama speaks to the media in Illinois"])
    b: str = Field(examples=["The president greets the press in Chicago"])
    eta: Eta | None = None
    tol: Tol | None = None
    metric: Metric | None = None


class ExplainRequest(Request):
    """A text `a`, and beside it a text `b` or the document `id` of the index."""

    a: str = Field(examples=["Obama speaks to the media in Illinois"])
    b: str | None = Field(default=None, examples=["The president greets the press in Chicago"])
    id: Id | None = None
    eta: Eta | None = None
    tol: Annotated[float, Field(ge=1e-9, le=1e-2)] | None = None
    metric: Literal["wfr", "wmd"] | None = None
    pairs: int = Field(default=5, ge=1, le=1000, description="Pairs of each word that are told.")
    most: int = Field(default=30, ge=2, le=500, description="Bars a side of the drawing.")


class Span(BaseModel):
    """A stretch of a text, in code points, and the mass that its word shares with the query."""

    start: int
    end: int
    word: str
    source: str
    mass: float
    carried: float


class Hit(BaseModel):
    """One document: its distance is proven to lie between `lower` and `upper`."""

    id: int | str
    distance: float
    lower: float
    upper: float
    text: str | None
    cut: bool = Field(description="Whether the text goes on beyond what is shown.")
    label: Any = None
    metadata: dict[str, Any]
    passage: list[int] | None = Field(description="The stretch that carries the most.")
    spans: list[Span] | None = Field(description="With `shade`, where time was left for it.")


class WordMass(BaseModel):
    """A word as it was read, and the mass it has."""

    word: str
    mass: float


class SearchAnswer(BaseModel):
    """The nearest documents. `exact`: it is proven that no other one is nearer."""

    hits: list[Hit]
    exact: bool
    ordered: bool
    tied: list[int | str]
    work: dict[str, Any]
    words: list[WordMass]
    metric: str
    eta: float
    milliseconds: float


class DistanceAnswer(BaseModel):
    """A distance and its proof. `exact`: the bounds meet the tolerance."""

    value: float | None = Field(description="null where no plan of finite cost exists.")
    lower: float | None
    upper: float | None
    similarity: float | None
    exact: bool
    status: str
    metric: str
    eta: float | None
    tol: float
    words: list[int] = Field(description="Distinct known words of each.")
    work: dict[str, int]
    milliseconds: float


class ExplainAnswer(DistanceAnswer):
    """The distance, the ledger that adds up to it, and where to draw bars and ribbons."""

    ledger: dict[str, Any]
    drawing: dict[str, Any]


class IndexAnswer(BaseModel):
    """What is searched, and under which limits."""

    name: str
    documents: int
    deleted: int
    words: int
    dim: int
    bytes: int
    generation: int
    metric: str
    eta: float
    tol: float
    vectors: str | None
    weighting: str | None
    tokenizer: str | None
    texts: bool
    facets: list[str]
    version: str
    limits: dict[str, int]


class Trouble(BaseModel):
    """A code for programs, a sentence for people, and the limit that was met, if any."""

    code: str
    message: str
    limit: int | None


class Failure(BaseModel):
    """Every error of every path."""

    error: Trouble
