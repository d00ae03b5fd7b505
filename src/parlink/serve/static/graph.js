// The entities of a document as a graph: related ones are joined, and each shows how well it fits the others.

import { svg } from "./elements.js";
import { typed } from "./entities.js";

const STEPS = 400;
const REST = 80; // pixels between the ends of a line that is at rest
const PULL = 0.4; // how much a line draws its ends to that distance
const PUSH = 900; // how much any two go apart
const CENTER = { x: 0.04, y: 0.08 }; // how much all are drawn to the middle: a screen is wider than it is high
const LETTER = 7.2; // pixels that a letter of a label takes, about
const ROW = 50; // height of a node with its label

// Draw entities and pairs of them into a given width, as high as it needs; `choose` is told of an entity that a person
// points out.
export function drawGraph(nodes, pairs, types, width, choose) {
  const { places, height } = layOut(nodes, pairs, width);
  const lines = pairs.map(({ a, b, strength }) =>
    svg("line", { class: "edge", x1: places[a].x, y1: places[a].y, x2: places[b].x, y2: places[b].y, "stroke-width": (1 + 4 * strength).toFixed(1) }),
  );
  const dots = nodes.map((entity, i) => drawNode(entity, places[i], partnersOf(i, pairs, nodes), types, choose));
  const label = `Graph of ${nodes.length} entities`;
  return svg("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": label }, ...lines, ...dots);
}

// How well the entity fits the others of the text, where the service says so.
export function coherenceOf(entity) {
  const values = entity.links.map((link) => link.candidates?.find((candidate) => candidate.title === link.title)?.coherence);
  const known = values.filter((value) => value != null);
  return known.length ? Math.max(...known) : null;
}

function drawNode(entity, { x, y }, partners, types, choose) {
  const coherence = coherenceOf(entity);
  const fits = coherence === null ? "" : `, coherence ${coherence.toFixed(2)}`;
  const label = `${entity.title}${entity.type ? `, ${entity.type}` : ""}${fits}${partners.length ? `, connected to ${partners.join(", ")}` : ""}`;
  const radius = 6 + 3 * Math.sqrt(entity.links.length);
  const node = svg(
    "g",
    { class: "node typed", role: "button", tabindex: 0, "aria-label": label, ...typed(entity.type, types), "--coherence": coherence ?? 0.5 },
    svg("title", {}, label),
    svg("circle", { cx: x, cy: y, r: radius }),
    svg("text", { x, y: y + radius + 14, "text-anchor": "middle" }, shorten(entity.title)),
  );
  node.addEventListener("click", () => choose(entity));
  node.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") (event.preventDefault(), choose(entity));
  });
  return node;
}

function partnersOf(i, pairs, nodes) {
  return pairs.filter(({ a, b }) => a === i || b === i).map(({ a, b }) => nodes[a === i ? b : a].title);
}

function shorten(title) {
  const points = [...title];
  return points.length > 26 ? `${points.slice(0, 25).join("")}…` : title;
}

// Springs between what is joined, the stronger the better they fit, everything pushes everything, and labels give way
// to each other: the same places for the same document.
function layOut(nodes, pairs, width) {
  const places = nodes.map((entity, i) => {
    const angle = 2.4 * i; // the golden angle, so that no two begin at one place
    const far = 30 * Math.sqrt(i);
    return { x: width / 2 + far * Math.cos(angle), y: far * Math.sin(angle), half: (LETTER * shorten(entity.title).length) / 2 + 6 };
  });
  for (let step = 0; step < STEPS; step++) {
    const heat = 1 - step / STEPS;
    for (const { a, b, strength } of pairs) pull(places[a], places[b], heat * strength);
    for (const place of places) {
      place.x += CENTER.x * heat * (width / 2 - place.x);
      place.y -= CENTER.y * heat * place.y;
    }
    forPairs(places, (a, b) => (push(a, b, heat), part(a, b)));
    for (const place of places) place.x = Math.min(Math.max(place.x, place.half), Math.max(width - place.half, place.half));
  }
  const top = Math.min(...places.map(({ y }) => y)) - ROW / 2;
  for (const place of places) [place.x, place.y] = [Math.round(place.x), Math.round(place.y - top)];
  return { places, height: Math.max(...places.map(({ y }) => y)) + ROW };
}

function forPairs(places, act) {
  places.forEach((a, i) => places.slice(i + 1).forEach((b) => act(a, b)));
}

function move(a, b, dx, dy) {
  a.x -= dx;
  a.y -= dy;
  b.x += dx;
  b.y += dy;
}

function pull(a, b, heat) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const far = Math.hypot(dx, dy) || 1;
  const change = (PULL * heat * (REST - far)) / far;
  move(a, b, dx * change, dy * change);
}

function push(a, b, heat) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const change = (PUSH * heat) / Math.max(dx * dx + dy * dy, 400);
  move(a, b, dx * change * 0.5, dy * change * 0.5);
}

// Two labels that lie on each other go apart the shorter way.
function part(a, b) {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const over = { x: a.half + b.half - Math.abs(dx), y: ROW - Math.abs(dy) };
  if (over.x <= 0 || over.y <= 0) return;
  if (over.x < over.y) move(a, b, (Math.sign(dx) || 1) * over.x * 0.5, 0);
  else move(a, b, 0, (Math.sign(dy) || 1) * over.y * 0.5);
}
