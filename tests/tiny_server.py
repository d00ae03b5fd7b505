"""A real server with a tiny model on a free port of this machine, in a thread of the test."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from parlink.config import LinkOptions
from parlink.linking.linker import DEFAULT, Linker
from parlink.serve.run import format_address, make_server, open_listener
from parlink.serve.settings import Settings


@contextmanager
def running(linker: Linker, *, options: LinkOptions = DEFAULT, **settings: object) -> Iterator[str]:
    """Serve until the block ends; gives the address, with a slash at its end."""
    chosen = Settings(**({"port": 0} | settings))  # type: ignore[arg-type]
    with open_listener(chosen) as listener:
        server = make_server(linker, chosen, options=options)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield format_address(listener)
        finally:
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive()
