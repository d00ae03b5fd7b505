"""What the 8-bit kernel of this machine is good for, tried once and kept in the user's cache.

A CPU may lack the instructions, overflow with them, or say that it has what the system then forbids, which ends the
process. So a process of its own tries (`nn.int8_probe`).
"""

from __future__ import annotations

import hashlib
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import cast

import torch

from parlink.cache import user_cache
from parlink.nn.int8 import TokenBits

PROBE = (sys.executable, "-m", "parlink.nn.int8_probe")
PATIENCE = 120  # seconds
CRASH = "crash"  # an answer
RIVAL = "oneDNN's float32"  # that it must beat; another one is another question
LIMIT = "ONEDNN_MAX_CPU_ISA"  # in the environment: the instructions that oneDNN may use
# Systems that do not let a process have AMX, which needs memory for its tiles, may yet say that the CPU has it.
WITHOUT_AMX = "AVX512_CORE_BF16"
CRASHES = (signal.SIGILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGABRT)


def find_token_bits() -> TokenBits | None:
    """Return how many bits of a token the kernel of this machine takes; None: it is not to be used."""
    answer = _ask(answer_file())
    return cast(TokenBits, int(answer)) if answer in ("7", "8") else None


def ends_processes() -> bool:
    """Whether kernels for fewer bits, bfloat16 too, end a process here, as far as oneDNN may go."""
    return _ask(answer_file()) == CRASH


def avoid_crash() -> None:
    """Keep oneDNN from the instructions that end a process here, unless the environment says how far it may go.

    oneDNN heeds this as long as nothing was computed with torch in this process.
    """
    if LIMIT not in os.environ and ends_processes():
        os.environ[LIMIT] = WITHOUT_AMX


@cache
def _ask(kept: Path) -> str | None:
    """The answer that is kept in a file, or that of the kernel, which is kept there then."""
    with suppress(OSError):
        return kept.read_text()
    answer = try_kernel()
    if answer is not None:
        with suppress(OSError):  # nothing can be kept, so the next process tries again
            _keep(kept, answer)
    return answer


def try_kernel(command: Sequence[str] = PROBE) -> str | None:
    """Run the probe: what it printed, that it crashed, and None if it failed for a reason that may pass."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if -done.returncode in CRASHES:
        return CRASH
    return done.stdout.strip() if done.returncode == 0 else None


def answer_file() -> Path:
    """Where the answer is kept, by what it depends on: the CPU, torch, and what limits its kernels."""
    limits = (os.environ.get(name, "") for name in (LIMIT, "DNNL_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY"))
    facts = (RIVAL, torch.__version__, platform.machine(), platform.processor(), *limits, *_read_cpu())
    return user_cache() / "int8-kernel" / hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _keep(path: Path, answer: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_text(answer)
    temporary.replace(path)


def _read_cpu() -> Iterator[str]:
    """What Linux says of the first CPU."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if not line:
                return
            if line.startswith(("model name", "flags", "Features")):
                yield line
