"""Processes that map in order, and what happens when one of them is killed."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from own_processes import descendants
from parlink.data.parallel import map_in_order
from parlink.errors import DataFormatError, ParlinkError


def refuse(number: int) -> int:
    if number == 3:
        raise DataFormatError("broken", path="a.jsonl", line=number)
    return number


def note_process(folder: Path, number: int) -> int:
    (folder / str(os.getpid())).touch()
    time.sleep(0.05 * (number % 3))
    return number


def test_results_before_an_error_come_first_and_its_text_is_kept() -> None:
    results = map_in_order(refuse, range(9), processes=2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ParlinkError, match=r"a\.jsonl:3: broken"):
        next(results)


@pytest.mark.parametrize("done", [1, 4, 8])
def test_a_killed_process_is_an_error_or_not_noticed_but_nothing_waits_for_it(tmp_path: Path, done: int) -> None:
    results = map_in_order(partial(note_process, tmp_path), range(8), processes=2)
    given = [next(results) for _ in range(done)]
    os.kill(int(next(tmp_path.iterdir()).name), signal.SIGKILL)
    try:
        given += results
        assert given == list(range(8))
    except ParlinkError as error:
        assert "a process died" in str(error) and done < 8
    assert not descendants("spawn_main")
