"""The application: its routes, each of which takes a request in, has work done, and answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from fastapi import APIRouter, FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response

from parlink.config import LinkOptions
from parlink.kb import KnowledgeBase
from parlink.linking.decision import least_confidence
from parlink.linking.linker import DEFAULT, Linker
from parlink.pages import ASSETS
from parlink.serve import answers, entities, intake, rel, related, schemas, turtle
from parlink.serve.batcher import Batcher, BusyError, TooMuchWorkError
from parlink.serve.description import describe
from parlink.serve.guard import Guard
from parlink.serve.lane import INTERNAL
from parlink.serve.metrics import Metrics
from parlink.serve.queries import LinkQuery, NifQuery, OptionQuery, TitleQuery
from parlink.serve.schemas import content, errors, refer
from parlink.serve.settings import Settings
from parlink.types import Document

STATIC = Path(__file__).parent / "static"
JSON = ("application/json",)
routes = APIRouter()
ALWAYS = (401, 408, 413, 415, 500, 503)


class Service:
    """What the routes share."""

    def __init__(self, linker: Linker, settings: Settings, options: LinkOptions) -> None:
        self.settings, self.options, self.kb = settings, options, linker.kb
        self.tuned = options.resolve(linker.tuned)
        self.metrics = Metrics()
        self.batcher = Batcher(linker, settings, options=options, observe=self.metrics.count_batch)
        self.edits = asyncio.Lock()
        watch = self.metrics.watch
        watch("waiting_documents", "Documents that wait for the model", lambda: len(self.batcher))
        watch("running_seconds", "Age of the oldest running batch", lambda: self.batcher.age)
        for name, lane in (("small", self.batcher.small), ("large", self.batcher.large)):
            watch(f"{name}_wait_seconds", f"Expected wait of a {name} request", lane.predict)
            watch(f"{name}_work_per_second", f"Work done a second, of {name} requests", partial(getattr, lane, "speed"))


def create_app(linker: Linker, settings: Settings, *, options: LinkOptions = DEFAULT) -> FastAPI:
    """Make the application; its lifespan starts and stops the model's thread."""
    service = Service(linker, settings, options)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await service.batcher.start()
        yield
        await service.batcher.stop(settings.grace)

    app = FastAPI(title="parlink", version="1", docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.service = service
    app.include_router(routes)
    app.mount("/static/shared", StaticFiles(directory=ASSETS))
    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=settings.host_names, www_redirect=False)
    app.add_middleware(Guard, settings=settings, metrics=service.metrics)
    app.add_exception_handler(AnyHTTPException, answers.answer_http_error)
    app.add_exception_handler(RequestValidationError, answers.answer_wrong_parameter)
    app.openapi = partial(describe, app, settings, options)  # type: ignore[method-assign]
    return app


@routes.post(
    "/v1/link",
    summary="Link one document, or a list of them",
    description="A document with `spans` has only these disambiguated. Of a list, each document is answered in its "
    "place, and one on which linking fails has `error` set; a list with a wrong document is refused whole.",
    responses={
        200: {
            "description": "The same document or documents, with links.",
            "content": content({"anyOf": [refer("Document"), refer("Documents")]}, one=schemas.LINKED),
        },
        **errors(400, 422, 504, *ALWAYS),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": content(
                {"anyOf": [refer("Question"), refer("Questions")]},
                one=schemas.DOCUMENT,
                several=[schemas.DOCUMENT, {"text": "Nobody is named here."}],
                spans=schemas.GIVEN,
            ),
        }
    },
)
async def link(request: Request, query: Annotated[LinkQuery, Query()]) -> Response:
    """Link documents."""
    service = _service(request)
    value = intake.decode_json(await intake.read_body(request, service.settings, kinds=JSON))
    docs = intake.parse_documents(value, service.settings)
    linked = [answers.encode_document(doc, top=query.top) for doc in await _link(request, docs, query)]
    if isinstance(value, list):
        return answers.answer_json(linked)
    _raise_error(linked[0].get("error"))
    return answers.answer_json(linked[0])


_TURTLE_BODY = {
    kind: {"schema": {"type": "string"}, "examples": {"one": {"value": schemas.TURTLE}}} for kind in turtle.KINDS
}


@routes.post(
    "/nif",
    summary="Link NIF contexts: GERBIL's annotator protocol",
    description="A context without phrases is annotated (A2KB); the phrases of one that has some are disambiguated "
    "(D2KB).",
    responses={
        200: {"description": "The same contexts, with linked phrases.", "content": _TURTLE_BODY},
        **errors(400, 422, 504, *ALWAYS),
    },
    openapi_extra={"requestBody": {"required": True, "content": _TURTLE_BODY}},
)
async def annotate(request: Request, query: Annotated[NifQuery, Query()]) -> Response:
    """Link the contexts of a NIF document."""
    settings = _service(request).settings
    raw = await intake.read_body(request, settings, kinds=turtle.KINDS)
    docs = await asyncio.to_thread(turtle.decode, raw, settings)
    linked = await _link(request, docs, query)
    for doc in linked:
        _raise_error(doc.error)
    answer = await asyncio.to_thread(turtle.encode, linked, confidence=query.confidence == "true")
    kind = request.headers["content-type"].partition(";")[0].strip().lower()
    return Response(answer, headers={"content-type": f"{kind}; charset=utf-8"})


@routes.get(
    "/rel",
    summary="Whether the service is up, as clients of REL ask for it",
    responses={200: {"description": "It is.", "content": content({"type": "object"}, one=rel.STATUS)}, **errors(401)},
)
async def show_rel_status() -> Response:
    """Answer as REL's server does."""
    return answers.answer_json(rel.STATUS)


@routes.post("/rel/ne", include_in_schema=False)
@routes.post(
    "/rel",
    summary="Link a text: REL's protocol",
    description="Spans are [start, length]. Each row is [start, length, mention, title, confidence, confidence of the "
    "mention, tag].",
    responses={
        200: {"description": "The linked mentions.", "content": content(refer("RelAnswer"), one=rel.ANSWER)},
        **errors(400, 422, 504, *ALWAYS),
    },
    openapi_extra={"requestBody": {"required": True, "content": content(refer("RelQuestion"), one=rel.QUESTION)}},
)
async def link_for_rel(request: Request, query: Annotated[OptionQuery, Query()]) -> Response:
    """Link a document for a client of REL."""
    settings = _service(request).settings
    value = intake.decode_json(await intake.read_body(request, settings, kinds=JSON))
    (doc,) = await _link(request, [rel.parse_question(value, settings)], query)
    _raise_error(doc.error)
    return answers.answer_json(rel.shape_answer(doc))


@routes.get(
    "/v1/model",
    summary="Show how the service links where a request does not say: as it was told, or as is tuned for the model",
    responses={
        200: {"description": "The values.", "content": content(refer("Model"), one=schemas.MODEL)},
        **errors(401, 500),
    },
)
async def show_model(request: Request) -> Response:
    """Show the values of options, the name of the knowledge base, and whether it may be changed."""
    service = _service(request)
    values = msgspec.structs.asdict(service.tuned) | {"min_confidence": least_confidence(service.tuned, certain=False)}
    kb = None if service.kb is None else service.kb.name
    told = {name: values[name] for name in schemas.TUNED} | {"weights": service.tuned.weights, "kb": kb}
    return answers.answer_json(told | {"allow_edits": service.settings.allow_edits and kb is not None})


_ENTITY_BODY = {"description": "The entity.", "content": content(refer("Entity"), one=schemas.ENTITY)}


@routes.get("/v1/entities", summary="Show an entity", responses={200: _ENTITY_BODY, **errors(401, 404, 422, 500)})
async def show_entity(request: Request, query: Annotated[TitleQuery, Query()]) -> Response:
    """Show what the knowledge base knows of a title."""
    kb = _kb(_service(request))
    return answers.answer_entity(await asyncio.to_thread(entities.find, kb, query.title))


@routes.post(
    "/v1/entities",
    summary="Add an entity, which the next document may be linked to",
    status_code=201,
    responses={201: _ENTITY_BODY, **errors(400, 403, 404, 409, 422, *ALWAYS)},
    openapi_extra={"requestBody": {"required": True, "content": content(refer("NewEntity"), one=schemas.NEW_ENTITY)}},
)
async def add_entity(request: Request) -> Response:
    """Add an entity to the knowledge base."""
    service = _service(request)
    kb = _kb_to_change(service)
    new = entities.parse_entity(
        intake.decode_json(await intake.read_body(request, service.settings, kinds=JSON)), service.settings
    )
    async with service.edits:
        return answers.answer_entity(await asyncio.to_thread(entities.add, kb, new), status=201)


@routes.delete(
    "/v1/entities",
    summary="Remove an entity with its aliases",
    status_code=204,
    responses={204: {"description": "It is gone."}, **errors(401, 403, 404, 422, 500, 503)},
)
async def remove_entity(request: Request, query: Annotated[TitleQuery, Query()]) -> Response:
    """Remove an entity from the knowledge base."""
    service = _service(request)
    kb = _kb_to_change(service)
    async with service.edits:
        await asyncio.to_thread(entities.remove, kb, query.title)
    return Response(status_code=204)


@routes.post(
    "/v1/related",
    summary="Show how much entities have to do with each other",
    description="From 0 to 1 for every two titles, by the pages that link to both. It is what coherence goes by.",
    responses={
        200: {"description": "A row for each title.", "content": content(refer("Related"), one=related.ANSWER)},
        **errors(400, 404, 422, *ALWAYS),
    },
    openapi_extra={"requestBody": {"required": True, "content": content(refer("Titles"), one=related.QUESTION)}},
)
async def relate_entities(request: Request) -> Response:
    """Relate every two of some titles."""
    service = _service(request)
    value = intake.decode_json(await intake.read_body(request, service.settings, kinds=JSON))
    titles = related.parse_titles(value, service.settings)
    rows = await asyncio.to_thread(related.relate_titles, _kb(service), titles)
    return answers.answer_json({"related": rows})


_STATE = {"schema": {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}}


@routes.get(
    "/healthz",
    summary="Whether the process is alive",
    responses={200: {"description": "It is.", "content": {"application/json": _STATE}}},
)
async def healthz() -> Response:
    """Say that the process is alive."""
    return answers.answer_json({"status": "alive"})


@routes.get(
    "/readyz",
    summary="Whether the model runs, none of its work is overdue, and a document would be answered in time",
    responses={200: {"description": "It does.", "content": {"application/json": _STATE}}, **errors(503)},
)
async def readyz(request: Request) -> Response:
    """Say whether a document would be taken now."""
    batcher = _service(request).batcher
    reason = batcher.explain_unready()
    if reason is not None:
        raise HTTPException(503, reason, {"Retry-After": "1"})
    state = {"status": "ready", "waiting_documents": len(batcher), "running_seconds": round(batcher.age, 3)}
    return answers.answer_json(state)


@routes.get(
    "/metrics",
    summary="Counters for Prometheus",
    responses={
        200: {"description": "Prometheus' text format.", "content": {"text/plain": {"schema": {"type": "string"}}}},
        **errors(401),
    },
)
async def metrics(request: Request) -> Response:
    """Answer a scrape."""
    return Response(_service(request).metrics.render(), headers={"content-type": "text/plain; version=0.0.4"})


@routes.get("/", include_in_schema=False)
async def page() -> FileResponse:
    """Show the web page."""
    return FileResponse(STATIC / "index.html")


@routes.get("/docs", include_in_schema=False)
async def docs() -> FileResponse:
    """Show the API as a page."""
    return FileResponse(STATIC / "docs.html")


async def _link(request: Request, docs: list[Document], query: OptionQuery) -> list[Document]:
    service = _service(request)
    options = query.make_options(service.settings, service.options)
    try:
        return await intake.await_in_time(request, service.batcher.link(docs, options), service.settings)
    except BusyError as error:
        raise HTTPException(503, str(error), {"Retry-After": str(error.retry_after)}) from error
    except TooMuchWorkError as error:
        raise HTTPException(413, str(error)) from error


def _raise_error(error: str | None) -> None:
    """Answer with what went wrong with a document, if something did."""
    if error is not None:
        raise HTTPException(500 if error == INTERNAL else 422, error)


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _kb(service: Service) -> KnowledgeBase:
    if service.kb is None:
        raise HTTPException(404, "the service has no knowledge base; start it with --kb")
    return service.kb


def _kb_to_change(service: Service) -> KnowledgeBase:
    if not service.settings.allow_edits:
        raise HTTPException(403, "changes are not allowed; start the service with --allow-edits")
    return _kb(service)
