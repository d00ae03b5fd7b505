// A linked document as a file: parlink's JSON, or one HTML page that needs nothing else.

import { element, outward, percent } from "./elements.js";
import { utf16Offsets } from "./links.js";

const STYLE = `:root { color-scheme: light dark }
body { font: 18px/1.7 Charter, Georgia, serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }
.text { white-space: pre-wrap; overflow-wrap: anywhere }
.mention { color: inherit; background: #14b8a633; border-radius: .2em; text-decoration: underline #14b8a6 }
.nil { background: #8883; text-decoration: underline dotted #888 }
footer { font: 13px system-ui, sans-serif; opacity: .7; margin-top: 2rem }`;

export function save(name, kind, content) {
  const address = URL.createObjectURL(new Blob([content], { type: kind }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function toJson(doc) {
  return `${JSON.stringify(doc)}\n`;
}

export function toHtml(doc) {
  const page = document.implementation.createHTMLDocument("Linked text");
  const policy = { "http-equiv": "Content-Security-Policy", content: "default-src 'none'; style-src 'unsafe-inline'" };
  const mobile = { name: "viewport", content: "width=device-width, initial-scale=1" };
  page.head.prepend(element("meta", { charset: "utf-8" }), element("meta", policy), element("meta", mobile));
  page.head.append(element("style", {}, STYLE));
  const footer = `${doc.links.length} mentions, linked to ${doc.kb ?? "no knowledge base"} by parlink`;
  page.body.append(element("div", { class: "text" }, ...pieces(doc)), element("footer", {}, footer));
  return `<!doctype html>\n${page.documentElement.outerHTML}\n`;
}

function pieces(doc) {
  const offsets = utf16Offsets(doc.text);
  const made = [];
  let at = 0;
  for (const link of doc.links) {
    const [start, end] = [offsets[link.start], offsets[link.end]];
    const title = link.title == null ? "not linked" : `${link.title} ${link.confidence == null ? "" : `(${percent(link.confidence)} sure)`}`;
    const look = link.title == null ? "mention nil" : "mention";
    made.push(doc.text.slice(at, start), outward(link.url, { class: look, title }, doc.text.slice(start, end)));
    at = end;
  }
  return [...made, doc.text.slice(at)];
}
