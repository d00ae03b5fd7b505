// The service as the page sees it: a text twice, first as the model likes it, and errors in words.

export const MARGIN = { below: 4, above: 6 }; // log-odds around the model's own threshold that the slider covers

export class ServiceError extends Error {
  constructor(message, status = null) {
    super(message);
    this.status = status;
  }
}

const ADVICE = {
  413: "The text is too long for this service",
  503: "The service is busy",
  504: "The text took too long",
};

// A text as the service answers by default, and every mention around it, overlapping ones too, for the slider.
export async function linkedText(text, key, signal) {
  const usual = await link(text, "", key, signal);
  const own = ownThreshold(usual.links);
  const all = await link(text, `?overlaps=keep&threshold=${own - MARGIN.below}`, key, signal);
  return { doc: { ...usual, links: all.links }, own };
}

// A threshold that gives the default answer: the service does not tell the model's own, but a span that was not
// chosen changes nothing by leaving, so the least sure of the chosen ones marks it.
function ownThreshold(links) {
  const found = links.map((one) => one.detection).filter((value) => value != null);
  return found.length ? Math.min(...found) - 1e-6 : 0;
}

function link(text, query, key, signal) {
  const headers = withKey(key, { "content-type": "application/json" });
  return ask(`/v1/link${query}`, { method: "POST", headers, body: JSON.stringify({ text }), signal });
}

function withKey(key, headers = {}) {
  return key ? { ...headers, authorization: `Bearer ${key}` } : headers;
}

async function ask(path, request) {
  const answer = await fetch(path, { ...request, credentials: "omit" }).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new ServiceError("The service cannot be reached. Is it still running?");
  });
  const body = await answer.json().catch(() => ({}));
  if (answer.ok) return body;
  throw new ServiceError(inWords(answer, body), answer.status);
}

function inWords(answer, body) {
  const said = typeof body.error === "string" ? body.error : answer.statusText;
  const advice = ADVICE[answer.status] ?? "The service refused";
  const wait = answer.headers.get("retry-after");
  return `${advice} (${answer.status}): ${said}${wait ? `. Try again in ${wait} s` : ""}.`;
}
