"""What `parlink serve` may be told, and which of it is refused because it is unsafe."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from parlink.errors import ConfigError

KEY_CHARACTERS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where the service listens, who may use it, and how much it takes on."""

    host: str = "127.0.0.1"
    port: int = 8000  # 0: any free one
    api_key: str | None = None
    insecure: bool = False  # a public address without a key
    allow_edits: bool = False
    batch: int = 32  # documents linked together; 1: no batching
    wait: float = 0.003  # seconds to wait for clients that were answered together and may ask again together
    waiting: int = 256  # documents that may wait for the model; more are refused
    seconds: float = 30.0  # from the end of a request's body to its answer
    body_bytes: int = 1_000_000
    text_characters: int = 100_000

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


def is_loopback(host: str) -> bool:
    """Whether a host name or address is that of this machine alone."""
    try:
        return host.lower() == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
