// The tab in which a person adds an entity and sees what changes in the answer.

import { element } from "./elements.js";
import { utf16Offsets } from "./entities.js";

export function readForm(form) {
  const value = (id) => form.querySelector(id).value.trim();
  const aliases = value("#add-aliases").split(",").map((name) => name.trim()).filter(Boolean);
  return { title: value("#add-title"), ...(value("#add-description") && { description: value("#add-description") }), aliases };
}

// What the two answers to one text say differently, as a list.
export function listChanges(before, after) {
  const changes = changesOf(before, after);
  if (!changes.length) return element("p", {}, "Nothing changed in this text.");
  const rows = changes.map(({ surface, was, is }) =>
    element("li", {}, element("b", {}, surface), `: ${was ?? "no entity"} → `, element("b", {}, is ?? "no entity")),
  );
  return element("div", {}, element("p", {}, changes.length === 1 ? "One mention changed:" : `${changes.length} mentions changed:`), element("ul", {}, ...rows));
}

function changesOf(before, after) {
  const offsets = utf16Offsets(after.text);
  const titles = (doc) => new Map(doc.links.map((link) => [`${link.start}-${link.end}`, link]));
  const [old, now] = [titles(before), titles(after)];
  const places = [...new Set([...old.keys(), ...now.keys()])];
  return places
    .map((place) => ({ link: now.get(place) ?? old.get(place), was: old.get(place)?.title ?? null, is: now.get(place)?.title ?? null }))
    .filter(({ was, is }) => was !== is)
    .sort((a, b) => a.link.start - b.link.start)
    .map(({ link, was, is }) => ({ surface: after.text.slice(offsets[link.start], offsets[link.end]), was, is }));
}
