// What a JSON schema says of a value, in words: its kind, the values and bounds it may have, and its default.

import { element } from "./elements.js";

const BOUNDS = {
  minimum: (least) => `at least ${least.toLocaleString("en")}`,
  maximum: (most) => `at most ${most.toLocaleString("en")}`,
  minLength: (least) => `at least ${count(least, "character")}`,
  maxLength: (most) => `at most ${count(most, "character")}`,
  minItems: (least) => `at least ${count(least, "item")}`,
  maxItems: (most) => `at most ${count(most, "item")}`,
  default: (value) => `default: ${JSON.stringify(value)}`,
};

// A list of fields, each with what it is and what it means.
export function listFields(fields) {
  const rows = fields.map(({ name, schema, description, required }) => [
    element("dt", {}, element("code", {}, name)),
    element("dd", {}, ...(description ? [`${description} `] : []), element("span", { class: "facts" }, ...factsOf(schema, required))),
  ]);
  return element("dl", {}, ...rows.flat());
}

export function fieldsOf(schema) {
  return Object.entries(schema.properties ?? {}).map(([name, inner]) => ({
    name, schema: inner, description: inner.description, required: schema.required?.includes(name),
  }));
}

function factsOf(schema, required) {
  const bounds = Object.entries(BOUNDS).filter(([name]) => schema[name] !== undefined).map(([name, say]) => say(schema[name]));
  const further = [...bounds, ...(required ? ["required"] : [])];
  return [...kindOf(schema), ...further.map((fact) => `; ${fact}`)];
}

// What kind of value it is; one that is described elsewhere is a link to there.
export function kindOf(schema) {
  if (schema.$ref) return [refer(schema.$ref.split("/").pop())];
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(", ")];
  if (schema.anyOf) return between(schema.anyOf.map(kindOf), " or ");
  const kinds = [schema.type ?? "any"].flat().map((kind) => (kind === "array" ? ["list of ", ...kindOf(schema.items ?? {})] : [kind]));
  return between(kinds, " or ");
}

function between(lists, word) {
  return lists.flatMap((list, place) => (place ? [word, ...list] : list));
}

function refer(name) {
  return element("a", { href: `#${name}` }, name);
}

function count(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}
