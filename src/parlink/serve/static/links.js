// Which links of a document are shown, and where: plain functions of values, no DOM.

// Where each code point of a text begins, in UTF-16 units, and the text's length last. The service counts
// code points, and JavaScript's strings count UTF-16 units.
export function utf16Offsets(text) {
  const offsets = [];
  let at = 0;
  for (const point of text) {
    offsets.push(at);
    at += point.length;
  }
  offsets.push(at);
  return offsets;
}

// What the service would answer at this threshold, out of all mentions that it found at a lower one.
export function linksAt(links, threshold) {
  return resolveOverlaps(links.filter((link) => link.mention_logit == null || link.mention_logit > threshold));
}

// The disjoint links whose probabilities have the highest sum; ties go to the longer, then to the earlier.
// As `resolve_overlaps` in parlink/search.py, number for number.
export function resolveOverlaps(links) {
  const order = [...links].sort((a, b) => a.end - b.end || a.start - b.start);
  const best = [[0, 0, 0]];
  const choice = [];
  order.forEach((link, place) => {
    const before = lastBefore(order, link.start, place);
    const weight = [roundEven((link.mention_probability ?? 0) * 2 ** 40), link.end - link.start, -link.start];
    const taken = best[before].map((sum, i) => sum + weight[i]);
    const keep = isMore(taken, best[place]);
    choice.push([keep, before]);
    best.push(keep ? taken : best[place]);
  });
  const kept = [];
  for (let place = order.length; place; ) {
    const [keep, before] = choice[place - 1];
    if (keep) kept.push(order[place - 1]);
    place = keep ? before : place - 1;
  }
  return kept.reverse();
}

// How many of the first `count` links end at or before a place.
function lastBefore(order, start, count) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (order[middle].end <= start) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isMore(a, b) {
  const i = a.findIndex((value, index) => value !== b[index]);
  return i >= 0 && a[i] > b[i];
}

function roundEven(value) {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 ? below + 1 : below;
}

// Entities in the order of their first mention, each with its mentions.
export function entitiesOf(links) {
  const found = new Map();
  for (const link of links) {
    if (link.title == null) continue;
    if (!found.has(link.title)) found.set(link.title, { title: link.title, url: link.url, links: [] });
    found.get(link.title).links.push(link);
  }
  return [...found.values()];
}

// An address that may be followed: a knowledge base could hold `javascript:`.
export function safeUrl(url) {
  return typeof url === "string" && /^https?:\/\//i.test(url) ? url : null;
}
