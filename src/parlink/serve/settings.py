"""What `parlink serve` may be told: the one place where its limits stand, and which of them are refused as unsafe.

The options of the command, the OpenAPI description and the checks of requests are all made from these fields.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated

import msgspec

from parlink.errors import ConfigError

KEY_CHARACTERS = 16


def _say(description: str, *, ge: float | None = None, le: float | None = None, env: str | None = None) -> msgspec.Meta:
    return msgspec.Meta(description=description, ge=ge, le=le, extra={"env": env})


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the service listens, who may use it, and how much it takes on."""

    host: Annotated[str, _say("Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, _say("Port; 0: any free one.", ge=0, le=65535)] = 8000
    api_key: (
        Annotated[str, _say("Key that clients must send; better set by the variable.", env="PARLINK_API_KEY")] | None
    ) = None
    insecure: Annotated[bool, _say("Allow a public address without a key.")] = False
    allow_edits: Annotated[bool, _say("Let clients change the knowledge base.")] = False
    batch: Annotated[int, _say("Documents linked together; 1: no batching.", ge=1)] = 32
    wait: Annotated[float, _say("Longest wait for more documents to batch, in seconds.", ge=0)] = 0.003
    waiting: Annotated[int, _say("Documents that may be queued; more get status 503.", ge=1)] = 256
    seconds: Annotated[float, _say("Time limit of a request.", ge=0.001)] = 30.0
    patience: Annotated[float, _say("Longest expected time of a small request; else 503.", ge=0.001)] = 2.0
    work: Annotated[int, _say("Maximum work of a request, in characters of plain text.", ge=1)] = 400_000
    small_work: Annotated[int, _say("Maximum work of a request that need not wait for large ones.", ge=0)] = 8_000
    grace: Annotated[float, _say("Seconds to finish accepted requests after SIGTERM.", ge=0)] = 8.0
    body_seconds: Annotated[float, _say("Time limit for a body to arrive.", ge=0.001)] = 10.0
    head_seconds: Annotated[float, _say("Time limit for the head of a request to arrive.", ge=0.001)] = 10.0
    idle_seconds: Annotated[float, _say("Time after which an idle connection is closed.", ge=0.001)] = 15.0
    connections: Annotated[int, _say("Maximum connections; the longest idle is closed for a new one.", ge=1)] = 2048
    client_connections: Annotated[int, _say("Maximum connections of one address.", ge=1)] = 512
    client_requests: Annotated[int, _say("Maximum requests of one address at a time, of each kind.", ge=1)] = 128
    body_bytes: Annotated[int, _say("Size limit of a request's body.", ge=1)] = 1_000_000
    text_characters: Annotated[int, _say("Length limit of a text.", ge=1)] = 100_000
    max_spans: Annotated[int, _say("Maximum spans of a document.", ge=1)] = 10_000
    most_candidates: Annotated[int, _say("Most candidates that a request may ask for.", ge=1)] = 100
    most_beams: Annotated[int, _say("Widest beam that a request may ask for.", ge=1)] = 20
    title_characters: Annotated[int, _say("Length limit of a title, an alias or an id.", ge=1)] = 500
    description_characters: Annotated[int, _say("Length limit of a description.", ge=1)] = 5_000
    max_aliases: Annotated[int, _say("Maximum aliases of an added entity.", ge=0)] = 100
    max_count: Annotated[int, _say("Maximum count of an added entity.", ge=1)] = 1_000_000_000

    def __post_init__(self) -> None:
        if self.api_key is not None and (len(self.api_key) < KEY_CHARACTERS or not self.api_key.isascii()):
            make = "python -c 'import secrets; print(secrets.token_urlsafe())'"
            raise ConfigError(f"an API key needs at least {KEY_CHARACTERS} ASCII characters; make one with {make}")
        if not (self.is_local or self.api_key or self.insecure):
            message = f"{self.host} can be reached from other machines, and there is no key; "
            raise ConfigError(message + "give --api-key (or PARLINK_API_KEY), or say --insecure")

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the service."""
        return is_loopback(self.host)

    @property
    def host_names(self) -> list[str]:
        """The names under which the service may be asked.

        Without a key these are names of this machine alone: else a page of any site could reach a local service by
        letting the name of its own host point here (DNS rebinding).
        """
        if not self.is_local or self.api_key is not None or self.insecure:
            return ["*"]
        own = f"[{self.host}]" if ":" in self.host else self.host
        return ["localhost", "127.0.0.1", "[::1]", own]


def is_loopback(host: str) -> bool:
    """Whether a host name or address is that of this machine alone."""
    try:
        return host.lower() == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
