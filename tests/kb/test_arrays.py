from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from parlink.kb.arrays import VALUES, Groups, encode, open_mapped, unsigned, write

COLUMN = st.lists(st.integers(0, 2**63), max_size=9).map(lambda values: unsigned(np.array(values, np.uint64)))


@given(columns=st.dictionaries(st.sampled_from(["a", "b", "name_start", "ü"]), COLUMN, min_size=1))
def test_arrays_come_back_as_they_were_and_as_safetensors_reads_them(columns, tmp_path_factory):
    path = tmp_path_factory.mktemp("arrays") / "x.safetensors"
    write(path, columns)
    mapped, read = open_mapped(path), load_file(path)
    assert mapped.keys() == read.keys() == columns.keys()
    for name, column in columns.items():
        assert mapped[name].dtype == read[name].dtype == column.dtype
        assert mapped[name].tolist() == read[name].tolist() == column.tolist()
        assert mapped[name].flags.aligned
        assert not mapped[name].flags.writeable


def test_the_smallest_type_is_chosen():
    assert [unsigned(np.array([largest])).dtype.itemsize for largest in (0, 255, 256, 65536, 2**32)] == [1, 1, 2, 4, 8]


@pytest.mark.parametrize("kept", [0, 7, 20, -1])
def test_a_file_that_is_cut_off_is_refused(tmp_path, kept):
    path = tmp_path / "x.safetensors"
    write(path, {"a": np.arange(100, dtype=np.uint32)})
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"x\.safetensors"):
        open_mapped(path)


def test_what_is_no_such_file_is_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes((10).to_bytes(8, "little") + b"not a JSON")
    with pytest.raises(ValueError):
        open_mapped(path)


def test_others_may_read_the_file_as_they_may_any(tmp_path):
    (tmp_path / "any").touch()
    write(tmp_path / "x.safetensors", {"a": np.arange(3, dtype=np.uint8)})
    assert (tmp_path / "x.safetensors").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_arrays_of_other_types_are_refused(tmp_path):
    save_file({"a": np.zeros(3, np.float32)}, tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="an array of F32"):
        open_mapped(tmp_path / "x.safetensors")


@given(many=st.lists(st.integers(0, 300), max_size=60))
def test_groups_lie_one_after_the_other(many):
    groups = Groups.of(np.array(many, np.int64))
    ends = [sum(many[: group + 1]) for group in range(len(many))]
    assert len(groups) == len(many)
    assert [groups.range(group) for group in range(len(many))] == list(zip([0, *ends], ends, strict=False))
    first, last = groups.ranges(np.arange(len(many)))
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == list(zip([0, *ends], ends, strict=False))


@given(values=st.lists(st.integers(0, 2**40), max_size=300).map(lambda values: unsigned(np.array(values, np.uint64))))
def test_few_distinct_values_are_numbered(values):
    columns = encode("a", values)
    table = columns.get(f"a{VALUES}")
    assert (columns["a"] if table is None else table[columns["a"]]).tolist() == values.tolist()
    assert (table is None) == (values.dtype.itemsize == 1 or len(set(values.tolist())) > 256)
