"""A hub on this machine: as much of the Hugging Face hub's protocol as fetching and pushing a model takes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Files = dict[str, bytes]


class LocalHub(ThreadingHTTPServer):
    """Repositories by name, each with its revisions, the last one being `main`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.revisions: dict[str, dict[str, Files]] = {}
        self.requests: list[str] = []  # method and path of each

    def find(self, name: str, revision: str) -> tuple[str, Files] | None:
        """Return the hash and the files of a revision."""
        revisions = self.revisions.get(name, {})
        sha = next(reversed(revisions), "") if revision == "main" else revision
        return (sha, revisions[sha]) if sha in revisions else None


class _Handler(BaseHTTPRequestHandler):
    server: LocalHub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/revision/(.+)", self.path):
            self._describe(match[1], match[2])
        elif match := re.match(r"/api/models/([^/]+/[^/]+)/tree/([^/?]+)", self.path):
            self._list(match[1], match[2])
        elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", self.path):
            self._send_file(*match.groups())
        else:
            self._refuse("EntryNotFound")

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/api/repos/create":
            asked = json.loads(body)
            self.server.revisions.setdefault(name := f"{asked['organization']}/{asked['name']}", {})
            self._json({"url": f"{self.server.url}/{name}", "id": name})
        elif self.path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        elif self.path.partition("/preupload/")[1]:
            plain = {"uploadMode": "regular", "shouldIgnore": False}
            files = [{"path": file["path"], **plain} for file in json.loads(body)["files"]]
            self._json({"files": files})
        elif match := re.match(r"/api/models/([^/]+/[^/]+)/commit/main", self.path):
            self._commit(match[1], [json.loads(line) for line in body.splitlines()])
        else:
            self._refuse("EntryNotFound")

    def _describe(self, name: str, revision: str) -> None:
        found = self.server.find(name, revision)
        if found is None:
            self._refuse("RepositoryNotFound")
        else:
            siblings = [{"rfilename": path} for path in found[1]]
            self._json({"id": name, "sha": found[0], "siblings": siblings, "private": False, "tags": []})

    def _list(self, name: str, revision: str) -> None:
        _, files = self.server.find(name, revision) or ("", {})
        self._json([{"type": "file", "path": path, "size": len(raw), "oid": _sha(raw)} for path, raw in files.items()])

    def _send_file(self, name: str, revision: str, path: str) -> None:
        found = self.server.find(name, revision)
        if found is None or path not in found[1]:
            self._refuse("EntryNotFound")
        else:
            headers = {"X-Repo-Commit": found[0], "ETag": f'"{_sha(found[1][path])}"', "Content-Type": "text/plain"}
            self._answer(found[1][path], headers)

    def _commit(self, name: str, lines: list[Any]) -> None:
        written = [line["value"] for line in lines if line["key"] == "file"]
        files = {file["path"]: base64.b64decode(file["content"]) for file in written}
        sha = _sha(b"".join(files[path] for path in sorted(files)))
        self.server.revisions[name][sha] = files
        self._json({"success": True, "commitOid": sha, "commitUrl": f"{self.server.url}/{name}/commit/{sha}"})

    def _json(self, value: object) -> None:
        self._answer(json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _refuse(self, code: str) -> None:
        self._answer(b"{}", {"X-Error-Code": code, "Content-Type": "application/json"}, status=404)

    def _answer(self, body: bytes, headers: dict[str, str], *, status: int = 200) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def local_hub() -> Iterator[LocalHub]:
    """Serve an empty hub."""
    with LocalHub() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def _sha(raw: bytes) -> str:
    return hashlib.sha1(raw, usedforsecurity=False).hexdigest()
