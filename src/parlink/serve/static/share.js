// Ways to take a text and where the slider was moved to (null: nowhere) along: a link that holds it in its fragment, which no server sees, and code that asks again.

export function permalink(text, confidence) {
  const fragment = new URLSearchParams({ text });
  if (confidence !== null) fragment.set("confidence", String(confidence));
  return `${location.origin}${location.pathname}#${fragment}`;
}

// The text and the confidence of a link; null where there is none.
export function readPermalink(hash) {
  const fragment = new URLSearchParams(hash.replace(/^#/, ""));
  const confidence = Number(fragment.get("confidence") ?? NaN);
  return { text: fragment.get("text"), confidence: confidence >= 0 && confidence <= 1 ? confidence : null };
}

export function toCurl(text, confidence, locked) {
  const key = locked ? ` \\\n  -H "Authorization: Bearer $PARLINK_API_KEY"` : "";
  const body = JSON.stringify({ text }).replaceAll("'", "'\\''");
  return `curl -sS '${address(confidence)}' -H 'Content-Type: application/json'${key} \\\n  -d '${body}'\n`;
}

// A string of JSON is one of Python as well.
export function toPython(text, confidence, locked) {
  const key = locked ? `, "Authorization": "Bearer " + os.environ["PARLINK_API_KEY"]` : "";
  return `import json
${locked ? "import os\n" : ""}from urllib.request import Request, urlopen

body = json.dumps({"text": ${JSON.stringify(text)}}).encode()
headers = {"Content-Type": "application/json"${key}}
with urlopen(Request("${address(confidence)}", body, headers)) as answer:
    for link in json.load(answer)["links"]:
        print(link["start"], link["end"], link["title"], link.get("confidence"))
`;
}

function address(confidence) {
  return `${location.origin}/v1/link${confidence !== null ? `?min_confidence=${confidence}` : ""}`;
}

// The clipboard is closed to pages that came over plain HTTP from another machine; the old way still works there.
export async function copy(content) {
  if (navigator.clipboard) return navigator.clipboard.writeText(content);
  const area = document.createElement("textarea");
  area.value = content;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser does not let this page copy");
  return undefined;
}
