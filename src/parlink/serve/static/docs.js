// The OpenAPI description as a page: each route with its parameters, bodies and answers, and what these consist of.

import { element } from "./elements.js";
import { fieldsOf, kindOf, listFields } from "./schema.js";

async function start() {
  const { paths, components } = await (await fetch("/openapi.json")).json();
  const routes = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, route]) => ({ path, method, route })));
  const schemas = Object.entries(components.schemas);
  document.getElementById("contents").replaceChildren(...routes.map(listRoute));
  document.getElementById("routes").replaceChildren(
    ...routes.map(showRoute), element("h2", { class: "part" }, "Values"), ...schemas.map(showSchema),
  );
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

function listRoute({ path, method, route }) {
  return element("li", {}, element("a", { href: `#${idOf(path, method)}` }, nameOf(path, method)), element("span", { class: "soft" }, route.summary ?? ""));
}

function showRoute({ path, method, route }, place, routes) {
  const answer = route.responses?.[200] ?? route.responses?.[201];
  return element(
    "section",
    { class: "paper", id: idOf(path, method) },
    element("h2", {}, nameOf(path, method)),
    element("p", {}, `${route.summary ?? ""}.`),
    route.description ? element("p", { class: "soft" }, ...withCode(route.description)) : null,
    ...titled("Parameters", ...listParameters(route.parameters ?? [], routes.slice(0, place))),
    ...titled("Request body", ...showBody(route.requestBody?.content)),
    ...titled("Responses", listAnswers(route.responses)),
    ...titled("Example response", ...showBody(answer?.content)),
  );
}

function nameOf(path, method) {
  return element("span", { class: "route" }, element("span", { class: "method" }, method.toUpperCase()), element("code", {}, path));
}

function idOf(path, method) {
  return `${method}-${path.replaceAll("/", "-")}`;
}

// An object with its fields, or a value of another kind with what it consists of.
function showSchema([name, schema]) {
  const fields = fieldsOf(schema);
  return element(
    "section",
    { class: "paper", id: name },
    element("h2", {}, element("code", {}, name)),
    schema.description ? element("p", { class: "soft" }, ...withCode(schema.description)) : null,
    fields.length ? listFields(fields) : element("p", { class: "facts" }, ...kindOf(schema)),
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

// What an earlier route has just so is named here, and described there.
function listParameters(parameters, earlier) {
  const has = (route, parameter) => (route.parameters ?? []).some((other) => JSON.stringify(other) === JSON.stringify(parameter));
  const first = earlier.find(({ route }) => parameters.some((parameter) => has(route, parameter)));
  const same = parameters.filter((parameter) => first && has(first.route, parameter));
  const own = parameters.filter((parameter) => !same.includes(parameter));
  return [
    own.length ? listFields(own) : null,
    same.length ? element("p", { class: "facts" }, "As described at ", referTo(first), ": ", ...withCode(same.map(({ name }) => `\`${name}\``).join(", ")), ".") : null,
  ];
}

function referTo({ path, method }) {
  return element("a", { href: `#${idOf(path, method)}` }, `${method.toUpperCase()} ${path}`);
}

function listAnswers(answers = {}) {
  const rows = Object.entries(answers).map(([status, answer]) => [element("dt", {}, element("code", {}, status)), element("dd", {}, answer.description)]);
  return element("dl", {}, ...rows.flat());
}

// The media type and kind of a body, and examples of it.
function showBody(content = {}) {
  return Object.entries(content).slice(0, 1).flatMap(([type, { schema, examples = {} }]) => [
    element("p", { class: "facts" }, type, ": ", ...kindOf(schema ?? {})),
    ...Object.values(examples).map(({ value }) => element("pre", { tabindex: 0 }, typeof value === "string" ? value : JSON.stringify(value, null, 2))),
  ]);
}

start();
