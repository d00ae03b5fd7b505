"""Serve parlink on a Ray cluster: `pip install 'ray[serve]'`, then `serve run examples.ray_serve:app`.

Each replica has a model of its own and maps the knowledge base of its node (examples/ray_serve.py).
"""

import asyncio

from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse

from parlink import Document, Linker
from parlink.data import jsonl
from parlink.errors import ParlinkError

CHARACTERS = 100_000


@serve.deployment(num_replicas=2, max_ongoing_requests=64, max_queued_requests=128, ray_actor_options={"num_cpus": 1})
class Parlink:
    """A replica; what Ray cannot queue it refuses with 503."""

    def __init__(self, model: str | None = None, kb: str | None = None) -> None:
        self.linker = Linker.load(model, kb=kb)

    async def __call__(self, request: Request) -> JSONResponse:  # noqa: D102
        try:
            doc = jsonl.from_json(await request.json(), path="body")
        except (ValueError, ParlinkError) as error:
            return JSONResponse({"error": str(error)}, 422)
        if len(doc.text) > CHARACTERS:
            return JSONResponse({"error": f"at most {CHARACTERS} characters are taken"}, 413)
        return JSONResponse(jsonl.to_json(await self._link(doc)))

    @serve.batch(max_batch_size=32, batch_wait_timeout_s=0.003)
    async def _link(self, docs: list[Document]) -> list[Document]:
        return await asyncio.to_thread(lambda: list(self.linker.stream(docs)))


app = Parlink.bind()
