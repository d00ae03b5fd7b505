// The card beside a mention: what it may refer to, and the parts of each candidate's score.

import { element, outward, percent } from "./elements.js";

const SHOWN = 8;
const REASONS = {
  no_candidate: "the knowledge base has no candidate for these words",
  below_threshold: "its best candidate scores too low",
  nil: "the model finds that none of the candidates is meant",
  no_token: "it holds no text",
};
const HEADS = [
  ["Candidate", "The entity's unique name"],
  ["Prior", "How often these words mean this entity"],
  ["Generative", "Mean log-likelihood of the name"],
  ["Classifier", "Discriminative correction"],
  ["Score", "The total that ranks candidates"],
];

export function card(link) {
  const rows = (link.candidates ?? []).slice(0, SHOWN);
  return element("span", { class: "card", id: "card", role: "group", "aria-label": "Candidates" }, heading(link), facts(link), table(rows, link));
}

function heading(link) {
  if (link.title == null) return element("span", { class: "card-title" }, "Not linked");
  return outward(link.url, { class: "card-title" }, link.title);
}

function facts(link) {
  const parts = [];
  if (link.title == null) parts.push(REASONS[link.reason] ?? link.reason ?? "no reason is given");
  else if (link.confidence != null) parts.push(`${percent(link.confidence)} sure`);
  if (link.id != null) parts.push(link.id);
  if (link.mention_probability != null) parts.push(`mention probability ${percent(link.mention_probability)}`);
  return element("span", { class: "card-facts" }, parts.join(" · "));
}

function table(rows, link) {
  if (!rows.length) return null;
  const heads = HEADS.map(([name, title]) => element("th", { scope: "col", title }, name));
  const body = rows.map((candidate) => row(candidate, candidate.title === link.title));
  const more = link.candidates.length - rows.length;
  const foot = more ? element("caption", {}, `and ${more} more in the JSON`) : null;
  return element("table", {}, foot, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body));
}

function row(candidate, chosen) {
  const meter = element("span", { class: "meter" }, percent(candidate.prior));
  meter.style.setProperty("--share", String(candidate.prior ?? 0));
  return element(
    "tr",
    { class: chosen ? "chosen" : null },
    element("th", { scope: "row" }, outward(candidate.url, {}, candidate.title)),
    element("td", {}, candidate.prior == null ? "" : meter),
    ...[candidate.lm, candidate.classifier, candidate.score].map((part) => element("td", {}, part == null ? "" : signed(part))),
  );
}

function signed(value) {
  return value.toFixed(2).replace("-", "−");
}
