"""Start `parlink serve` and ask it over HTTP: `python examples/call_service.py`."""

import json
import re
import subprocess
import sys
from urllib.request import Request, urlopen

DOCUMENTS = [
    {"id": "a", "text": "The night train from Berlin to Vienna was on time."},
    {"id": "b", "text": "They met in Paris.", "spans": [{"start": 12, "end": 17}]},  # only this is disambiguated
]


def ask(address: str, documents: list[dict]) -> list[dict]:
    body, headers = json.dumps(documents).encode(), {"content-type": "application/json"}
    with urlopen(Request(f"{address}v1/link", body, headers)) as answer:
        return json.load(answer)


command = [sys.executable, "-m", "parlink", "serve", "--port=0"]
with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as service:
    try:
        found = (re.search(r"parlink is at (\S+)", line) for line in service.stderr)
        address = next(match[1] for match in found if match)
        for doc in ask(address, DOCUMENTS):
            print(f"{doc['id']}: {doc['text']}")
            for link in doc["links"]:
                print(f"   {doc['text'][link['start'] : link['end']]} -> {link['title'] or link['reason']}")
    finally:
        service.terminate()
