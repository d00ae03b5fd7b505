// The card beside a mention, as in components.html: what it is, how sure, why, and its rivals.

import words from "./shared/words.json" with { type: "json" };
import { typed } from "./entities.js";
import { element, number, outward, percent } from "./elements.js";

const SHOWN = 6;
const { parts: PARTS, reasons: REASONS } = words; // as the other pages have them

// `types` are those of the document; `tools` are for a card that can be pinned and closed.
export function makeCard(link, types, { id = "card", tools = true } = {}) {
  const candidates = link.candidates ?? [];
  const chosen = candidates.find((candidate) => candidate.title === link.title && link.title != null);
  const rivals = candidates.filter((candidate) => candidate !== chosen);
  const label = link.title == null ? "Not linked" : `About ${link.title}`;
  return element(
    "span",
    { class: "card typed", id, role: "group", "aria-label": label, ...typed(link.type, types) },
    heading(link, tools),
    facts(link, types),
    link.description && link.title != null ? element("span", { class: "card-description" }, link.description) : null,
    link.title != null && link.confidence != null ? sure(link.confidence) : null,
    chosen ? why(chosen, rivals[0]) : null,
    rivals.length ? listRivals(rivals, link, candidates) : null,
  );
}

function heading(link, tools) {
  const title = link.title == null ? element("span", { class: "card-title" }, "Not linked") : outward(link.url, { class: "card-title" }, link.title);
  if (!tools) return title;
  const pin = element("button", { type: "button", class: "pin small", "aria-pressed": "false" }, "Pin");
  const close = element("button", { type: "button", class: "close small", "aria-label": "Close" }, "×");
  return element("span", { class: "card-head" }, title, element("span", { class: "card-tools" }, pin, close));
}

function facts(link, types) {
  if (link.title == null) return element("span", { class: "card-facts" }, reasonOf(link));
  const type = link.type ? element("span", { class: "chip typed", ...typed(link.type, types) }, link.type) : null;
  return element("span", { class: "card-facts" }, type, link.id ? element("span", {}, link.id) : null);
}

// Why there is no link, and how likely the best candidate is where that is why.
function reasonOf(link) {
  const words = REASONS[link.reason] ?? link.reason ?? "no reason is given";
  return link.reason === "below_confidence" && link.confidence != null ? `${words} (${percent(link.confidence)})` : words;
}

function sure(confidence) {
  return element("span", { class: "sure", "--value": confidence }, meter(), `${percent(confidence)} sure`);
}

// The parts of the score as bars, with a tick at what the strongest rival has.
function why(chosen, rival) {
  const rows = Object.keys(PARTS).filter((name) => chosen[name] != null).map((name) => {
    const { label, hint, bar } = PARTS[name];
    const value = name === "prior" ? percent(chosen.prior) : number(chosen[name]);
    const against = rival?.[name] ?? null;
    return element(
      "span",
      { class: `part ${name} ${bar}`, title: hint, "--value": chosen[name], "--rival": against },
      element("span", {}, label), meter(against !== null), element("span", { class: "number" }, value),
    );
  });
  if (!rows.length) return null;
  const key = rival ? `A tick shows where ${rival.title} stands.` : "There is no other candidate to compare it with.";
  return element("span", { class: "why" }, element("span", { class: "card-label" }, "Why"), ...rows, element("span", { class: "key" }, key));
}

function listRivals(rivals, link, candidates) {
  const best = Math.max(...candidates.map((candidate) => candidate.score ?? -Infinity));
  const rows = rivals.slice(0, SHOWN).map((rival) =>
    element(
      "span",
      { class: "rival", title: rival.description, "--value": rival.score ?? null, "--best": best },
      outward(rival.url, {}, rival.title), rival.score == null ? element("span") : meter(), element("span", { class: "number" }, number(rival.score)),
    ),
  );
  const more = rivals.length - rows.length;
  const label = element("span", { class: "card-label" }, link.title == null ? "Candidates" : "Rivals");
  return element("span", { class: "rivals" }, label, ...rows, more > 0 ? element("span", { class: "key" }, `and ${more} more`) : null);
}

function meter(ticked = false) {
  return element("span", { class: "meter", "aria-hidden": "true", "data-rival": ticked });
}
