// The service as the page sees it: the links of a text, and errors in words.

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

// A text with every mention that the slider may show, overlapping ones too, and the model's own threshold.
export async function linkedText(text, key, signal) {
  const { mention_threshold: own } = await ask("/v1/model", { headers: withKey(key), signal });
  const doc = await ask(`/v1/link?overlaps=keep&mention_threshold=${own - MARGIN.below}`, {
    method: "POST",
    headers: withKey(key, { "content-type": "application/json" }),
    body: JSON.stringify({ text }),
    signal,
  });
  return { doc, own };
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
