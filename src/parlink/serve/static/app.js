// The page: a text goes in, its links are shown, and the threshold chooses among them without a new request.

import { Article } from "./article.js";
import { save, toHtml, toJson } from "./download.js";
import { element, outward, percent } from "./elements.js";
import { entitiesOf, linksAt } from "./links.js";
import { MARGIN, linkedText } from "./service.js";

const EXAMPLE = `When Ada Lovelace met Charles Babbage in London, he showed her a part of his Difference Engine. \
Her notes on the Analytical Engine are often called the first program, a century before Alan Turing worked in \
Cambridge and Manchester. The language Ada is named after her, as are a street in Paris and a crater on the Moon \u{1F315}.`;
const LARGEST_FILE = 20_000_000; // bytes; the service takes far less, but says so itself

const at = (id) => document.getElementById(id);
const article = new Article(at("article"));
const state = { doc: null, own: 0, key: null, running: null };

function start() {
  at("compose").addEventListener("submit", (event) => (event.preventDefault(), run()));
  at("key-form").addEventListener("submit", (event) => (event.preventDefault(), useKey()));
  at("text").addEventListener("input", showCount);
  at("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) (event.preventDefault(), run());
  });
  at("example").addEventListener("click", () => setText(EXAMPLE));
  at("open").addEventListener("click", () => at("file").click());
  at("file").addEventListener("change", (event) => readFile(event.target.files[0]));
  at("cancel").addEventListener("click", () => state.running?.abort());
  at("threshold").addEventListener("input", showLinks);
  at("unlinked").addEventListener("change", showLinks);
  at("reset").addEventListener("click", resetThreshold);
  at("edit").addEventListener("click", edit);
  at("json").addEventListener("click", () => save("linked.json", "application/json", toJson(shownDocument())));
  at("html").addEventListener("click", () => save("linked.html", "text/html;charset=utf-8", toHtml(shownDocument())));
  acceptDrops();
  showCount();
  if (matchMedia("(pointer: fine)").matches) at("text").focus();
}

async function run() {
  const text = at("text").value.toWellFormed?.() ?? at("text").value;
  if (!text.trim()) return fail("There is no text to link. Paste one, or drop a file.");
  if (state.running) return null;
  state.running = new AbortController();
  fail(null);
  const stop = showProgress();
  try {
    Object.assign(state, await linkedText(text, state.key, state.running.signal));
    showResult();
  } catch (error) {
    if (error.status === 401) askForKey(error.message);
    else if (error.name !== "AbortError") fail(error.message);
  } finally {
    stop();
    state.running = null;
  }
  return null;
}

// A clear red line; null takes it away.
function fail(message) {
  at("error").textContent = message ?? "";
  at("error").hidden = message === null;
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
  run();
}

function showProgress() {
  const began = performance.now();
  const tell = () => {
    const seconds = Math.round((performance.now() - began) / 1000);
    at("waiting").textContent = seconds < 2 ? "Linking…" : `Linking… ${seconds} s`;
  };
  tell();
  at("progress").hidden = false;
  at("link").disabled = true;
  const timer = setInterval(tell, 500);
  return () => {
    clearInterval(timer);
    at("progress").hidden = true;
    at("link").disabled = false;
  };
}

function showResult() {
  const slider = at("threshold");
  slider.min = String(state.own - MARGIN.below);
  slider.max = String(state.own + MARGIN.above);
  resetThreshold();
  at("kb").textContent = state.doc.kb ?? "";
  at("compose").hidden = true;
  at("result").hidden = false;
  at("article").focus();
}

function edit() {
  at("result").hidden = true;
  at("compose").hidden = false;
  at("text").focus();
}

function resetThreshold() {
  at("threshold").value = String(state.own);
  showLinks();
}

// The slider's steps may miss the model's own value by a rounding; close to it, it is meant.
function threshold() {
  const value = Number(at("threshold").value);
  return Math.abs(value - state.own) < 0.05 ? state.own : value;
}

function shownDocument() {
  const links = linksAt(state.doc.links, threshold());
  return { ...state.doc, links: at("unlinked").checked ? links : links.filter((link) => link.title != null) };
}

function showLinks() {
  const doc = shownDocument();
  article.show(doc.text, doc.links);
  const chance = percent(1 / (1 + Math.exp(-threshold())));
  at("threshold-value").textContent = chance;
  at("threshold").setAttribute("aria-valuetext", chance);
  at("reset").hidden = threshold() === state.own;
  showEntities(doc.links);
}

function showEntities(links) {
  const entities = entitiesOf(links);
  const count = entities.length;
  at("summary").textContent = count === 0 ? "No entity found" : count === 1 ? "One entity" : `${count} entities`;
  at("entities").replaceChildren(...entities.map(entityLine));
}

function entityLine(entity) {
  const times = entity.links.length > 1 ? element("span", { class: "times" }, `×${entity.links.length}`) : null;
  const line = element("li", {}, outward(entity.url, {}, entity.title), times);
  for (const event of ["pointerenter", "focusin"]) line.addEventListener(event, () => article.point(entity.title));
  for (const event of ["pointerleave", "focusout"]) line.addEventListener(event, () => article.point(null));
  return line;
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

async function readFile(file) {
  if (!file) return;
  if (file.size > LARGEST_FILE) return fail(`${file.name} has ${file.size} bytes, which is too much for one text.`);
  try {
    setText(new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
  } catch {
    fail(`${file.name} is not a text in UTF-8.`);
  } finally {
    at("file").value = "";
  }
}

function acceptDrops() {
  const holdsFile = (event) => event.dataTransfer?.types.includes("Files");
  const mark = (on) => at("paper").classList.toggle("dropping", on);
  document.addEventListener("dragover", (event) => {
    if (holdsFile(event)) (event.preventDefault(), mark(true));
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && mark(false));
  document.addEventListener("drop", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    mark(false);
    if (!at("result").hidden) edit();
    readFile(event.dataTransfer.files[0]);
  });
}

start();
