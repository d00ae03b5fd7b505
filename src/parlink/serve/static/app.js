// The page: a text goes in, its links are shown, and what is shown of them is chosen without a new request.

import { listChanges, readForm } from "./add.js";
import { Article } from "./article.js";
import { readStyle, save, toHtml, toJson } from "./download.js";
import { element, percent } from "./elements.js";
import { chooseLinks, countTypes, pairsOf, pairsRelated } from "./entities.js";
import { EXAMPLES } from "./examples.js";
import { acceptDrops, readText } from "./files.js";
import { coherenceOf, drawGraph } from "./graph.js";
import { EntityList, showLegend } from "./lists.js";
import { showProgress } from "./progress.js";
import { addEntity, linkText, relateTitles, removeEntity, showModel } from "./service.js";
import { copy, permalink, readPermalink, toCurl, toPython } from "./share.js";
import { Tabs } from "./tabs.js";

const MOST_NODES = 40; // entities that the graph shows
const ALL_CANDIDATES = 1000; // so that an entity that was added is seen however far behind it is
const at = (id) => document.getElementById(id);
const article = new Article(at("article"));
const tabs = new Tabs(document.querySelector("[role=tablist]"), showPanel);
const list = new EntityList(at("entities"), at("summary"), { point: (title) => article.point(title), goTo });
const state = { doc: null, types: new Map(), hidden: new Set(), key: null, running: null, added: null, related: null, least: 0 };

function start() {
  at("compose").addEventListener("submit", (event) => (event.preventDefault(), run()));
  at("key-form").addEventListener("submit", (event) => (event.preventDefault(), useKey()));
  at("add").addEventListener("submit", (event) => (event.preventDefault(), add()));
  at("text").addEventListener("input", showCount);
  at("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) (event.preventDefault(), run());
  });
  at("examples").append(...Object.entries(EXAMPLES).map(makeExample));
  at("open").addEventListener("click", () => at("file").click());
  at("file").addEventListener("change", (event) => take(event.target.files[0]));
  at("cancel").addEventListener("click", () => state.running?.abort());
  at("confidence").addEventListener("input", showLinks);
  at("unlinked").addEventListener("change", showLinks);
  at("reset").addEventListener("click", () => (setConfidence(null), at("confidence").focus()));
  at("edit").addEventListener("click", edit);
  at("undo").addEventListener("click", undo);
  at("json").addEventListener("click", () => save("linked.json", "application/json", toJson(shownDocument())));
  at("html").addEventListener("click", saveHtml);
  for (const [id, make] of Object.entries({ "copy-link": permalink, "copy-curl": toCurl, "copy-python": toPython })) {
    at(id).addEventListener("click", () => tellCopied(make(state.doc.text, chosenConfidence(), state.key !== null)));
  }
  window.addEventListener("hashchange", openPermalink);
  window.addEventListener("resize", () => at("panel-graph").hidden || showGraph());
  acceptDrops(at("paper"), (file) => (at("result").hidden || edit(), take(file)));
  showCount();
  askModel();
  if (!openPermalink() && matchMedia("(pointer: fine)").matches) at("text").focus();
}

async function run() {
  const text = at("text").value.toWellFormed?.() ?? at("text").value;
  if (!text.trim()) return fail("There is no text to link. Paste one, or drop a file.");
  const doc = await link(text);
  if (doc) showResult(doc);
  return null;
}

// The answer to a text, or null where there is none: then the page says why.
async function link(text, top = null) {
  if (state.running) return null;
  state.running = new AbortController();
  fail(null);
  at("link").disabled = true;
  const stop = showProgress(text);
  let doc = null;
  try {
    doc = await linkText(text, state.key, { signal: state.running.signal, top });
  } catch (error) {
    if (error.status === 401) askForKey();
    else if (error.name !== "AbortError") fail(error.message);
  } finally {
    stop(doc !== null);
    at("link").disabled = false;
    state.running = null;
    // The button pressed is gone; that it is hidden, the browser sees later.
    if (doc === null && [document.body, at("cancel")].includes(document.activeElement)) at("text").focus({ preventScroll: true });
  }
  return doc;
}

// A clear red line; null takes it away.
function fail(message) {
  at("error").textContent = message ?? "";
  at("error").hidden = message === null;
  if (message !== null) at("error").scrollIntoView({ block: "nearest" });
}

function askForKey() {
  fail(state.key === null ? null : "This key is not the right one (401).");
  at("key-form").hidden = false;
  at("key").select();
  at("key").focus();
}

function useKey() {
  state.key = at("key").value.trim();
  at("key-form").hidden = true;
  at("text").focus();
  askModel();
  run();
}

// Adding an entity is offered only where the service takes it, and the slider begins where the service links. One that
// wants a key is asked once it has one.
async function askModel() {
  const model = await showModel(state.key).catch(() => null);
  at("tab-add").hidden = !model?.allow_edits;
  setLeast(model?.min_confidence ?? 0);
}

// An answer has no links that are less sure than this; where the slider was moved, it stays.
function setLeast(least) {
  const chosen = chosenConfidence();
  state.least = least;
  at("confidence").min = String(least);
  at("confidence-least").textContent = least > 0 ? ` The service gives none below ${percent(least)}.` : "";
  setConfidence(chosen);
}

function showResult(doc) {
  state.doc = doc;
  state.hidden.clear();
  state.types = countTypes(doc.links);
  at("kb").textContent = doc.kb ? `KB: ${doc.kb}` : "";
  at("copied").textContent = "";
  at("changes").replaceChildren();
  at("compose").hidden = true;
  at("result").hidden = false;
  tabs.choose(at("tab-text"));
  showLinks();
  at("article").focus({ preventScroll: true });
  window.scrollTo({ top: 0, behavior: "instant" }); // a long text would come up without what stands above it
}

function edit() {
  at("result").hidden = true;
  at("compose").hidden = false;
  at("text").focus();
}

// Where the slider was moved to; null: nowhere, so that what the service linked is shown as it is.
function chosenConfidence() {
  const value = Number(at("confidence").value);
  return value > state.least ? value : null;
}

function setConfidence(value) {
  at("confidence").value = String(value ?? state.least);
  showLinks();
}

function shownDocument() {
  const links = chooseLinks(state.doc.links, { confidence: chosenConfidence() ?? 0, hidden: state.hidden, unlinked: at("unlinked").checked });
  return { ...state.doc, links };
}

function showLinks() {
  const value = percent(Number(at("confidence").value));
  at("confidence-value").textContent = value;
  at("confidence").setAttribute("aria-valuetext", value);
  at("reset").hidden = chosenConfidence() === null;
  if (!state.doc) return;
  const doc = shownDocument();
  article.show(doc.text, doc.links, state.types);
  list.show(doc.links, state.types);
  showLegend(at("legend"), state.types, state.hidden, showLinks);
  if (!at("panel-graph").hidden) showGraph();
}

function goTo(link, how) {
  if (at("panel-text").hidden) tabs.choose(at("tab-text"));
  article.goTo(link, how);
}

function showPanel(id) {
  article.close();
  if (id === "panel-graph") showGraph();
}

// Entities are joined by what the knowledge base knows of them, and where it knows nothing by the sentences that name them.
async function showGraph() {
  const nodes = [...list.entities].sort((a, b) => b.links.length - a.links.length).slice(0, MOST_NODES);
  const titles = nodes.map((entity) => entity.title);
  const related = await relate(titles);
  if (state.related.asked !== String(titles)) return; // other entities are shown by now
  const pairs = related ? pairsRelated(related) : pairsOf(state.doc.text, nodes);
  const width = at("graph").clientWidth;
  at("graph").replaceChildren(nodes.length ? drawGraph(nodes, pairs, state.types, width, (entity) => goTo(entity.links[0])) : "No entity found");
  const joined = related ? "Lines connect entities that are linked from the same pages of the knowledge base; the more pages, the thicker." : "Lines connect entities that are mentioned in the same sentence.";
  const fill = nodes.some((entity) => coherenceOf(entity) !== null) ? " The deeper the color, the better an entity fits the others (coherence)." : "";
  at("graph-hint").textContent = joined + fill;
}

// How related the titles are, asked for once for the same ones; null where the service cannot tell.
async function relate(titles) {
  const asked = String(titles);
  if (state.related?.asked !== asked) state.related = { asked, answer: relateTitles(titles, state.key).catch(() => null) };
  return state.related.answer;
}

async function add() {
  const entity = readForm(at("add"));
  if (!entity.title) return fail("The entity needs a name.");
  return change(() => addEntity(entity, state.key), entity);
}

async function undo() {
  await change(() => removeEntity(state.added, state.key), null);
  at("add-title").focus();
}

// Change the knowledge base, link the same text again and tell the difference; the entity that was added can be removed again.
async function change(make, added) {
  fail(null);
  at("changes").replaceChildren();
  try {
    await make();
  } catch (error) {
    return fail(error.message);
  }
  state.added = added?.title ?? null;
  at("undo").hidden = added === null;
  at("undo").textContent = `Remove “${state.added}”`;
  const [before, after] = [state.doc, await link(state.doc.text, ALL_CANDIDATES)];
  if (after === null) return null;
  state.doc = after;
  state.types = countTypes(after.links);
  showLinks();
  at("changes").replaceChildren(listChanges(before, after, added));
  return null;
}

async function saveHtml() {
  save("linked.html", "text/html;charset=utf-8", toHtml(shownDocument(), await readStyle()));
}

async function tellCopied(content) {
  const message = await copy(content).then(() => "Copied.", (error) => `Not copied: ${error.message}.`);
  at("copied").textContent = message;
}

// Link the text that the address holds; false if it holds none.
function openPermalink() {
  const { text, confidence } = readPermalink(location.hash);
  if (text === null) return false;
  setText(text);
  setConfidence(confidence);
  run();
  return true;
}

function makeExample([name, text]) {
  const button = element("button", { type: "button", class: "small" }, name);
  button.addEventListener("click", () => (setText(text), run()));
  return button;
}

function setText(text) {
  at("text").value = text;
  fail(null);
  showCount();
  at("text").focus();
  at("text").setSelectionRange(0, 0);
  at("text").scrollTop = 0;
}

function showCount() {
  const count = [...at("text").value].length;
  at("count").textContent = count ? `${count.toLocaleString("en")} characters` : "";
}

async function take(file) {
  if (!file) return;
  try {
    setText(await readText(file));
  } catch (error) {
    fail(error.message);
  } finally {
    at("file").value = "";
  }
}

start();
