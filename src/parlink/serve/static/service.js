// The service as the page sees it: the links of a text, what it allows, new entities, and errors in words.

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

// A text with its links, as the service makes them where nothing else is said; `top`: candidates of each.
export function linkText(text, key, { signal, top = null }) {
  return ask(`/v1/link${top === null ? "" : `?top=${top}`}`, post({ text }, key, signal));
}

// How the service links, its knowledge base, and whether that may be changed.
export function showModel(key) {
  return ask("/v1/model", { headers: withKey(key) });
}

// How much every two of these titles have to do with each other, from 0 to 1; null where nothing is known.
export async function relateTitles(titles, key) {
  const { related } = await ask("/v1/related", post({ titles }, key));
  return related.some((row, a) => row.some((value, b) => a !== b && value > 0)) ? related : null;
}

export function addEntity(entity, key) {
  return ask("/v1/entities", post(entity, key));
}

export function removeEntity(title, key) {
  return ask(`/v1/entities?${new URLSearchParams({ title })}`, { method: "DELETE", headers: withKey(key) });
}

function post(value, key, signal) {
  return { method: "POST", headers: withKey(key, { "content-type": "application/json" }), body: JSON.stringify(value), signal };
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
