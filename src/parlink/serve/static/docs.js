// The OpenAPI description as a page: each route, its parameters, an example of its body and of its answers.

import { element } from "./elements.js";

async function start() {
  const description = await (await fetch("/openapi.json")).json();
  const routes = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => showRoute(path, method, route)),
  );
  document.getElementById("routes").replaceChildren(...routes);
}

function showRoute(path, method, route) {
  const name = element("h2", {}, element("span", { class: "method" }, method.toUpperCase()), element("code", {}, path));
  return element(
    "section",
    { class: "paper" },
    name,
    element("p", {}, `${route.summary ?? ""}.`),
    route.description ? element("p", { class: "soft" }, ...withCode(route.description)) : null,
    ...titled("Parameters", listParameters(route.parameters)),
    ...titled("Request body", ...examplesOf(route.requestBody?.content)),
    ...titled("Responses", listAnswers(route.responses)),
    ...titled("Example response", ...examplesOf(route.responses?.[200]?.content ?? route.responses?.[201]?.content)),
  );
}

// What stands between backquotes is code.
function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));
}

function titled(title, ...content) {
  const parts = content.filter((part) => part != null);
  return parts.length ? [element("h3", {}, title), ...parts] : [];
}

function listParameters(parameters = []) {
  if (!parameters.length) return null;
  const rows = parameters.map(({ name, description, schema, required }) => {
    const preset = schema?.default === undefined ? "" : ` Default: ${schema.default}.`;
    return [element("dt", {}, element("code", {}, name)), element("dd", {}, `${description ?? ""}${preset}${required ? " Required." : ""}`)];
  });
  return element("dl", {}, ...rows.flat());
}

function listAnswers(answers = {}) {
  const rows = Object.entries(answers).map(([status, answer]) => [element("dt", {}, element("code", {}, status)), element("dd", {}, answer.description)]);
  return element("dl", {}, ...rows.flat());
}

function examplesOf(content = {}) {
  return Object.values(content).slice(0, 1).flatMap(({ examples = {} }) =>
    Object.values(examples).map(({ value }) => element("pre", { tabindex: 0 }, typeof value === "string" ? value : JSON.stringify(value, null, 2))),
  );
}

start();
