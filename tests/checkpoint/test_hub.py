"""Models by name: pushed to a hub on this machine that speaks the real protocol, and loaded back from it."""

import os
import re
import subprocess
import sys

import pytest

from local_hub import local_hub
from parlink.checkpoint.folder import save_checkpoint
from parlink.checkpoint.hub import model_folder
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    save_checkpoint(folder, tiny_checkpoint(), card="A tiny model.")
    tiny_folder(tmp_path / "built").rename(folder / "kb")
    (folder / "weights.bin").write_bytes(b"not to be pushed")
    return folder


def run(hub, tmp_path, program, *arguments):
    """Run a program that knows no other hub than ours."""
    env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HUB_CACHE": str(tmp_path / "cache"), "HF_TOKEN": "hf_local"}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)


PUSH = "import sys; from parlink.checkpoint.hub import push; print(push(*sys.argv[1:]))"
LOAD = "import sys; from parlink.linking.linker import Linker; print(Linker.load(sys.argv[1]).kb.name)"


def test_a_model_is_pushed_and_loaded_by_name_and_revision(model, tmp_path):
    with local_hub() as hub:
        pushed = run(hub, tmp_path, PUSH, model, "org/name")
        assert pushed.returncode == 0, pushed.stderr
        revision = pushed.stdout.split()[-1]
        files = hub.revisions["org/name"][revision]
        assert {"config.json", "model.safetensors", "README.md", "kb/kb.json", "kb/titles.marisa"} <= set(files)
        assert "weights.bin" not in files
        for name in ("org/name", f"org/name@{revision}", f"{hub.url}/org/name/tree/{revision}"):
            loaded = run(hub, tmp_path, LOAD, name)
            assert re.match(r"kb-[0-9a-f]{8}$", loaded.stdout.strip()), loaded.stderr
        assert len([asked for asked in hub.requests if asked.startswith("GET") and "config.json" in asked]) == 1


def test_what_the_hub_does_not_have_is_one_clear_line(model, tmp_path):
    with local_hub() as hub:
        missing = run(hub, tmp_path, LOAD, "org/name@v9")
    assert "CheckpointError: org/name at v9: no such folder, and it cannot be fetched" in missing.stderr


def test_folders_and_odd_names_are_left_as_they_are(tmp_path):
    for name in (tmp_path, tmp_path / "org" / "missing", "no name at all", "a/b/c"):
        assert model_folder(name) == type(tmp_path)(name)
