"""What the OpenAPI description says of bodies: the dataclasses of `types.py` as JSON, with examples."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, get_type_hints

from msgspec import to_builtins

from parlink.config import ScoreWeights
from parlink.kb.tables import TYPES
from parlink.serve import related
from parlink.serve.field_comments import read_comments
from parlink.serve.settings import Settings
from parlink.types import Candidate, Document, Entity, Link, Span

Json = dict[str, Any]
DOCUMENT = {"id": "7", "text": "Kent play Leicester at home on Saturday."}
GIVEN = {"text": "The king of Jordan came to Hamburg.", "spans": [{"start": 12, "end": 18}]}
LINKED = {
    **DOCUMENT,
    "links": [
        {
            "start": 0,
            "end": 4,
            "title": "Kent County Cricket Club",
            "id": "Q3195005",
            "type": "organization",
            "description": "English county cricket club",
            "url": "https://en.wikipedia.org/wiki/Kent_County_Cricket_Club",
            "confidence": 0.91,
            "mention_logit": 3.2,
            "mention_probability": 0.95,
            "candidates": [
                {"title": "Kent County Cricket Club", "score": 1.3, "prior": 0.2, "lm": -0.4, "classifier": 1.7},
                {"title": "Kent", "score": -0.6, "prior": 0.8, "lm": -0.3, "classifier": -0.3},
            ],
        }
    ],
    "kb": "wikipedia-1f0c2a9e",
}
TUNED = ("mention_threshold", "score_threshold", "min_confidence", "fallback")  # what `/v1/model` says, beside weights
MODEL = {
    "mention_threshold": 0.0,
    "score_threshold": None,
    "min_confidence": 0.35,
    "fallback": False,
    "weights": to_builtins(ScoreWeights(prior=0.25, similarity=0.5, overlap=2.0, coherence=10.0)),
    "kb": "wikipedia-1f0c2a9e",
    "allow_edits": False,
}
_SHIP = {"title": "Kent (ship)", "id": "Q42", "type": "product", "description": "cargo ship"}
NEW_ENTITY = {**_SHIP, "aliases": ["MV Kent"], "count": 3}
ENTITY = {**_SHIP, "popularity": 6}  # each of its two names counts
TURTLE = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<http://example.org/7#char=0,20> a nif:Context ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "20"^^xsd:nonNegativeInteger ;
    nif:isString "Kent beat Leicester." .
"""


def describe_bodies(settings: Settings) -> Json:
    """Return the schemas that bodies refer to, under the limits of this service."""
    document = _describe(Document, required=("text",))
    document["properties"] |= {
        "links": _list("Link")
        | {"description": "What was found, in the order of the text; in a question, their candidates are used."},
        "spans": _list("Span") | {"description": "Mentions that are already known; null: they are to be found."},
    }
    properties = document["properties"]
    limits = {
        "id": properties["id"] | {"type": ["string", "integer", "null"]},
        "text": properties["text"] | {"maxLength": settings.text_characters},
        "links": properties["links"] | {"maxItems": settings.max_spans},
        "spans": properties["spans"] | {"maxItems": settings.max_spans},
    }
    said = {name: {"description": words} for name, words in read_comments(Span).items()}
    bounds = {"start": _integer(0) | said.get("start", {}), "end": _integer(1) | said.get("end", {})}
    link = _describe(Link)
    link["properties"] |= bounds | {"candidates": _list("Candidate") | {"description": "Best first."}}
    link["required"] = ["start", "end"]
    candidate = _describe(Candidate, required=("title",))
    most = f"The unique name of the entity; at most {settings.title_characters} characters in a request."
    candidate["properties"]["title"] |= {"pattern": r"\S", "description": most}
    candidate["properties"]["prior"] |= {"minimum": 0, "maximum": 1}
    span = {
        "description": "Half-open range of characters, counted as Unicode code points, within the text.",
        "anyOf": [
            {"type": "object", "properties": bounds, "required": ["start", "end"]},
            {"type": "array", "items": _integer(0), "minItems": 2, "maxItems": 2},
        ],
    }
    said_wrong = {"type": "string"} | _say("What is wrong, and what to do.")
    error = {"type": "object", "properties": {"error": said_wrong}, "required": ["error"]}
    return {
        "Document": document,
        "Documents": {"type": "array", "items": refer("Document")},
        "Question": document | {"properties": properties | limits},
        "Questions": {"type": "array", "items": refer("Question"), "maxItems": settings.waiting},
        "RelQuestion": _describe_rel_question(settings),
        "RelAnswer": {
            "type": "array",
            "items": {"type": "array", "minItems": 7, "maxItems": 7},
            "description": "Rows of [start, length, mention, title, confidence, confidence of the mention, tag].",
        },
        "Link": link,
        "Candidate": candidate,
        "Span": span,
        "Model": _describe_model(),
        "Entity": _describe(Entity, required=("title",)),
        "NewEntity": _describe_new_entity(settings),
        "Titles": _describe_titles(settings),
        "Related": _describe_related(),
        "Error": error,
    }


def refer(name: str) -> Json:
    """Refer to one of the components."""
    return {"$ref": f"#/components/schemas/{name}"}


def content(schema: Json, **examples: Any) -> Json:
    """Describe a JSON body."""
    return {"application/json": {"schema": schema, "examples": {name: {"value": e} for name, e in examples.items()}}}


def errors(*statuses: int) -> dict[int | str, Json]:
    """Describe the refusals of a route."""
    return {status: {"description": _REASONS[status], "content": content(refer("Error"))} for status in statuses}


_REASONS = {
    400: "The request cannot be read, or asks for the service under a name that is not its own.",
    401: "The key is missing or wrong.",
    403: "Changes are not allowed.",
    404: "There is no such entity, or no knowledge base.",
    408: "The body did not arrive in time.",
    409: "There is such an entity already.",
    413: "The body, a text or a list is too long, or too much work.",
    415: "The body is of another type.",
    422: "The body or a parameter has another shape, or the document cannot be linked.",
    500: "The service failed.",
    503: "Too much is waiting, or the change cannot be saved; Retry-After says when to try again.",
    504: "There was no answer in time.",
}


def _describe(kind: type, required: Collection[str] = ()) -> Json:
    """Describe the strings and numbers among the fields of a dataclass; null means absent."""
    names: dict[object, str] = {str: "string", str | None: "string", float | None: "number", int | None: "integer"}
    hints = {name: names[hint] for name, hint in get_type_hints(kind).items() if hint in names}
    words = read_comments(kind)
    properties: Json = {name: {"type": kind if name in required else [kind, "null"]} for name, kind in hints.items()}
    for name in properties.keys() & words.keys():
        properties[name]["description"] = words[name]
    return {
        "type": "object",
        "description": (kind.__doc__ or "").split("\n")[0],
        "properties": properties,
        "required": list(required),
    }


def _describe_model() -> Json:
    number, parts = {"type": "number"}, ScoreWeights.__struct_fields__
    weights = {"type": "object", "properties": dict.fromkeys(parts, number), "required": list(parts)}
    properties = {
        "mention_threshold": number | _say("Log-odds of a start from which a mention without an entity is told of."),
        "score_threshold": {"type": ["number", "null"]} | _say("Least score of the best candidate; null: any."),
        "min_confidence": number | _say("Least confidence of a link.") | {"minimum": 0, "maximum": 1},
        "fallback": {"type": "boolean"} | _say("Whether all titles are searched where a mention has no candidates."),
        "weights": weights | _say("Weights of the parts of a score."),
        "kb": {"type": ["string", "null"]} | _say("Name of the knowledge base."),
        "allow_edits": {"type": "boolean"} | _say("Whether entities may be added and removed."),
    }
    return {
        "type": "object",
        "description": "How it links, the knowledge base it links to, and whether that may be changed.",
        "properties": properties,
        "required": list(properties),
    }


def _describe_new_entity(settings: Settings) -> Json:
    text = {"type": "string", "minLength": 1, "maxLength": settings.title_characters}
    names = {"type": "array", "items": text, "maxItems": settings.max_aliases, "default": []}
    count = {"type": "integer", "minimum": 1, "maximum": settings.max_count, "default": 1}
    optional = {"type": ["string", "null"]}
    return {
        "type": "object",
        "description": "An entity, further names for it, and how often each of its names was seen.",
        "properties": {
            "title": text | _say("Its unique name."),
            "id": optional | {"maxLength": settings.title_characters} | _say("Such as a Wikidata QID."),
            "type": {"enum": [*TYPES, None]} | _say("What kind of thing it is."),
            "description": optional | {"maxLength": settings.description_characters} | _say("One line about it."),
            "aliases": names | _say("Further names."),
            "count": count
            | _say("How often each of its names is taken to mean it: the higher, the better its chances."),
        },
        "required": ["title"],
        "additionalProperties": False,
    }


def _describe_titles(settings: Settings) -> Json:
    title = {"type": "string", "minLength": 1, "maxLength": settings.title_characters}
    return {
        "type": "object",
        "description": "The entities to relate.",
        "properties": {"titles": {"type": "array", "items": title, "maxItems": related.MOST} | _say("Titles.")},
        "required": ["titles"],
        "additionalProperties": False,
    }


def _describe_related() -> Json:
    share = {"type": "number", "minimum": 0, "maximum": 1}
    rows = {"type": "array", "items": {"type": "array", "items": share}}
    said = _say("A row for each title, in each of which a number for each.")
    return {"type": "object", "properties": {"related": rows | said}, "required": ["related"]}


def _describe_rel_question(settings: Settings) -> Json:
    pair = {"type": "array", "items": _integer(0), "minItems": 2, "maxItems": 2}
    start_and_length = {
        "type": "object",
        "properties": {"start": _integer(0), "length": _integer(1)},
        "required": ["start", "length"],
        "additionalProperties": False,
    }
    spans = {
        "type": ["array", "null"],
        "items": {"anyOf": [pair, start_and_length]},
        "maxItems": settings.max_spans,
    }
    return {
        "type": "object",
        "description": "A text, as clients of REL send it.",
        "properties": {
            "text": {"type": "string", "maxLength": settings.text_characters} | _say("What is linked."),
            "spans": spans | _say("Mentions, as [start, length]; none: they are found."),
            "tagger": {"type": ["string", "null"]} | _say("Makes no difference, as there is one detector."),
        },
        "required": ["text"],
        "additionalProperties": False,
    }


def _say(description: str) -> Json:
    return {"description": description}


def _list(name: str) -> Json:
    return {"type": ["array", "null"], "items": refer(name)}


def _integer(least: int) -> Json:
    return {"type": "integer", "minimum": least}
