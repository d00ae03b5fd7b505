from __future__ import annotations

import pytest
import torch

from parlink.checkpoint.device import choose_device
from parlink.errors import ConfigError
from parlink.linking.linker import Linker


def test_a_device_is_chosen_by_its_name() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_cuda_the_error_says_what_there_is() -> None:
    with pytest.raises(ConfigError, match=r"device 'cuda' cannot be used \(.*\); available here: cpu$"):
        Linker.load(device="cuda")


@pytest.mark.parametrize("name", ["abacus", "", "cpu:x", None])
def test_what_is_no_device_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        choose_device(name)


def test_what_torch_says_is_left_out_where_it_is_long() -> None:
    with pytest.raises(ConfigError, match=r"^device 'gpu' cannot be used; available here: cpu"):
        choose_device("gpu")
