"""The steps of the Dockerfile, run one by one on copies of this machine, and what they start, without a network.

Docker builds an image in layers and starts it in namespaces; so does this, by overlayfs, chroot and unshare, where root
may. `python:3.11-slim` is replaced by this machine with this Python; all else is what the Dockerfile says.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEY = "a-key-that-nobody-guesses"
HOME = Path(sys.base_prefix)  # of Python, to be seen by all
ASK = f"""
import json, urllib.request as r
body = json.dumps({{"text": "The night train from Berlin to Vienna was on time."}}).encode()
head = {{"Content-Type": "application/json", "X-API-Key": "{KEY}"}}
print("LINKED", r.urlopen(r.Request("http://127.0.0.1:8000/v1/link", body, head), timeout=300).read().decode())
"""


def base(name: str) -> list[str]:
    """A stage begins: what is written goes to a layer of its own."""
    opened = [f"chmod a+rx $T/{name}/root{folder}" for folder in (HOME, *HOME.parents) if folder != Path("/")]
    return [
        f"mkdir -p $T/{name} $T/{name}-upper $T/{name}-work",
        f"mkdir $T/{name}/root && mount -t overlay overlay "
        f"-o lowerdir=/,upperdir=$T/{name}-upper,workdir=$T/{name}-work $T/{name}/root",
        *(f"mount --rbind /{folder} $T/{name}/root/{folder}" for folder in ("proc", "dev")),
        f"mount -t tmpfs tmpfs $T/{name}/root/tmp",
        *opened,
    ]


def steps(dockerfile: Path, context: Path) -> tuple[list[str], dict[str, str]]:
    """The Dockerfile as lines of shell, and what it says about how to start."""
    lines, start, stage, folder = ["set -e"], {"PATH": f"{HOME}/bin:$PATH"}, "", "/"
    for line in dockerfile.read_text().splitlines():
        word, _, rest = line.partition(" ")
        if not word or word == "#":
            continue
        inside = f"$T/{stage}/root"
        if word == "FROM":
            stage, folder = rest.partition(" AS ")[2] or "image", "/"
            lines += base(stage)
        elif word == "WORKDIR":
            folder = rest
            lines.append(f"mkdir -p {inside}{folder}")
        elif word == "COPY" and rest.startswith("--from="):
            source, what, target = rest.removeprefix("--from=").split()
            lines.append(f"mkdir -p {inside}{target} && mount --bind $T/{source}/root{what} {inside}{target}")
        elif word == "COPY":
            *names, target = rest.split()
            lines += [f"cp -a {shlex.quote(str(context / name))} {inside}{folder}/{target}" for name in names]
        elif word == "RUN":
            lines.append(f"env PATH={start['PATH']} chroot {inside} sh -c {shlex.quote(f'cd {folder} && {rest}')}")
        elif word == "ENV":
            start |= dict(setting.split("=", 1) for setting in shlex.split(rest)) | {"ENV": rest}
        elif word in ("USER", "ENTRYPOINT", "STOPSIGNAL", "HEALTHCHECK"):
            start[word] = rest
        else:
            assert word in ("ARG", "EXPOSE"), f"a step that is not known here: {line}"
    return lines, start


def script(dockerfile: Path, context: Path) -> str:
    """All that is done: the steps, and a container of the image, with no network and nothing that can be written."""
    lines, start = steps(dockerfile, context)
    settings = start["ENV"].replace("$PATH", f"{HOME}/bin:$PATH")
    user = f"setpriv --reuid {start['USER']} --regid {start['USER']} --clear-groups --no-new-privs --bounding-set=-all"
    inside = f"env HOME=/nonexistent {settings} PARLINK_API_KEY={KEY} chroot $T/image/root {user}"
    entry, health = (
        shlex.join(json.loads(text[text.index("[") :])) for text in (start["ENTRYPOINT"], start["HEALTHCHECK"])
    )
    container = [
        "ip link set lo up",
        "mount -o remount,ro,bind $T/image/root || mount -o remount,ro $T/image/root",
        f"! {inside} touch /opt/parlink/x /x 2>/dev/null && echo READ-ONLY",
        f"echo USER $({inside} id -u)",
        f"{inside} {entry} & service=$!",
        f"until {inside} {health} 2>/dev/null; do kill -0 $service || exit 1; sleep 0.5; done; echo HEALTHY",
        f"{inside} python -c {shlex.quote(ASK)}",
        f"kill -s {start['STOPSIGNAL'].removeprefix('SIG')} $service; wait $service; echo ENDED $?",
    ]
    lines += ["du -sm $T/image/root/opt/parlink | cut -f1 | sed 's/^/MEGABYTES /'"]
    return "\n".join([*lines, f"unshare --net sh -c {shlex.quote(chr(10).join(container))}"])


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="the steps of the Dockerfile need root, as Docker does")
def test_the_steps_of_the_dockerfile_make_what_links_without_a_network(tmp_path: Path) -> None:
    for tool in ("unshare", "setpriv", "ip"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: apt-get install util-linux iproute2")
    layers = f"T={shlex.quote(str(tmp_path / 'layers'))}; export T; mkdir $T; mount -t tmpfs -o size=6g tmpfs $T"
    command = [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        f"{layers}\n{script(ROOT / 'Dockerfile', ROOT)}",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    said = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
    assert said["USER"] == "10001" and "READ-ONLY" in said and "HEALTHY" in said
    assert int(said["ENDED"]) in (0, 128 + 15)
    titles = [link["title"] for link in json.loads(said["LINKED"])["links"]]
    assert "Berlin" in titles
    print(f"{said['MEGABYTES']} MB in /opt/parlink; linked: {titles}")
