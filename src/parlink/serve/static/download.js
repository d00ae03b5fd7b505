// A linked document as a file: parlink's JSON, or one HTML page that needs nothing else, like that of `parlink link --html`.

import { makeCard } from "./card.js";
import { element, outward } from "./elements.js";
import { NO_TYPE, countTypes, entitiesOf, typed, utf16Offsets } from "./entities.js";

const STYLES = ["base.css", "links.css", "linked_text.css"];

export function save(name, kind, content) {
  const address = URL.createObjectURL(new Blob([content], { type: kind }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function toJson(doc) {
  return `${JSON.stringify(doc)}\n`;
}

// The styles that the pages of parlink share.
export async function readStyle() {
  const answers = await Promise.all(STYLES.map((name) => fetch(`/static/shared/${name}`)));
  return (await Promise.all(answers.map((answer) => answer.text()))).join("\n");
}

export function toHtml(doc, style) {
  const page = document.implementation.createHTMLDocument("Linked text");
  const policy = { "http-equiv": "Content-Security-Policy", content: "default-src 'none'; style-src 'unsafe-inline'" };
  const mobile = { name: "viewport", content: "width=device-width, initial-scale=1" };
  page.documentElement.lang = "en";
  page.head.prepend(element("meta", { charset: "utf-8" }), element("meta", policy), element("meta", mobile));
  page.head.append(element("style", {}, style));
  const types = countTypes(doc.links);
  const count = doc.links.length === 1 ? "One mention" : `${doc.links.length} mentions`;
  const footer = `${count}, linked to ${doc.kb ?? "no knowledge base"} by parlink`;
  const text = element("div", { class: "linked" }, ...pieces(doc, types));
  const heading = element("h1", { class: "quiet" }, "Linked text");
  const main = element("main", {}, heading, legend(types), element("div", { class: "paper reading" }, text), ...entityList(doc.links, types));
  page.body.append(main, element("footer", {}, footer));
  return `<!doctype html>\n${page.documentElement.outerHTML}\n`;
}

function legend(types) {
  const known = [...types.keys()].filter((type) => type !== NO_TYPE);
  const rows = known.map((type) => element("li", { class: "swatch typed", ...typed(type, types) }, type));
  return rows.length ? element("ul", { class: "legend", "aria-label": "Types of entities" }, ...rows) : null;
}

function entityList(all, types) {
  const rows = entitiesOf(all).map(({ title, type, description, links }) => {
    const name = element("span", { class: "swatch typed", ...typed(type, types) }, outward(links[0].url, { class: "name" }, title));
    const times = links.length > 1 ? element("span", { class: "soft" }, ` ×${links.length}`) : null;
    return element("li", {}, name, times, description ? element("span", { class: "soft what" }, description) : null);
  });
  const count = rows.length === 1 ? "One entity" : `${rows.length} entities`;
  return rows.length ? [element("h2", {}, count), element("ol", { class: "entities" }, ...rows)] : [];
}

function pieces(doc, types) {
  const offsets = utf16Offsets(doc.text);
  const parts = [];
  let at = 0;
  doc.links.forEach((link, place) => {
    const [start, end] = [offsets[link.start], offsets[link.end]];
    const id = `card-${place}`;
    const look = { class: link.title == null ? "mention nil typed" : "mention typed", tabindex: 0, "aria-describedby": id, "--sure": link.confidence ?? 1 };
    const mention = element("span", { ...look, ...typed(link.type, types) }, doc.text.slice(start, end));
    parts.push(doc.text.slice(at, start), element("span", { class: "place" }, mention, makeCard(link, types, { id, tools: false })));
    at = end;
  });
  return [...parts, doc.text.slice(at)];
}
