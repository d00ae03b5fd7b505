// The tab in which a person adds an entity and sees what changes in the answer.

import { element } from "./elements.js";
import { utf16Offsets } from "./entities.js";

export function readForm(form) {
  const value = (id) => form.querySelector(id).value.trim();
  const aliases = value("#add-aliases").split(",").map((name) => name.trim()).filter(Boolean);
  const facts = { type: value("#add-type"), description: value("#add-description") };
  const given = Object.fromEntries(Object.entries(facts).filter(([, said]) => said));
  return { title: value("#add-title"), aliases, count: Number(value("#add-count")), ...given };
}

// What the two answers to one text say differently, as a list; where the entity that was added did not win, how it stands.
export function listChanges(before, after, added) {
  const changes = changesOf(before, after);
  if (!changes.length) return element("div", {}, element("p", {}, "No link in this text changed."), added === null ? null : element("ul", {}, ...standingsOf(after, added)));
  const rows = changes.map(({ surface, was, is }) =>
    element("li", {}, element("b", {}, surface), `: ${was ?? "no entity"} → `, element("b", {}, is ?? "no entity")),
  );
  return element("div", {}, element("p", {}, changes.length === 1 ? "One mention changed:" : `${changes.length} mentions changed:`), element("ul", {}, ...rows));
}

// Where an entity is a candidate and not the one linked to: its place among them, and who is ahead.
function standingsOf(doc, { title, aliases }) {
  const offsets = utf16Offsets(doc.text);
  const rows = doc.links.flatMap((link) => {
    const place = (link.candidates ?? []).findIndex((candidate) => candidate.title === title);
    if (place < 0 || link.title === title) return [];
    const surface = element("b", {}, doc.text.slice(offsets[link.start], offsets[link.end]));
    const ahead = place === 0 ? "the first candidate, but not likely enough to be linked" : `candidate ${place + 1} of ${link.candidates.length}, behind ${link.candidates[0].title}`;
    return [element("li", {}, surface, `: ${title} is ${ahead}`)];
  });
  if (rows.length) return rows;
  const named = doc.links.map((link) => doc.text.slice(offsets[link.start], offsets[link.end])).find((surface) => [title, ...aliases].includes(surface));
  const why = named === undefined ? "a candidate for none of its mentions: give the name that the text uses" : `too unlikely a meaning of “${named}” to be a candidate: give a higher count`;
  return [element("li", {}, `${title} is ${why}.`)];
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
