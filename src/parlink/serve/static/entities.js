// The links of a document as its entities and their types: plain functions of values, no DOM.

const SLOTS = 6; // colors for types that are not parlink's own, see links.css
const LEAST = 0.1; // of 1, from which two entities are joined
export const NO_TYPE = "no type";

// The links that are at least this sure, of the types that are wanted; a mention without an entity only where asked for.
export function chooseLinks(links, { confidence, hidden, unlinked }) {
  return links.filter((link) => {
    if (link.title == null) return unlinked;
    return (link.confidence ?? 1) >= confidence && !hidden.has(typeOf(link));
  });
}

export function typeOf(link) {
  return link.type ?? NO_TYPE;
}

// Types in the order in which they first come, each with the number of its links.
export function countTypes(links) {
  const counts = new Map();
  for (const link of links) if (link.title != null) counts.set(typeOf(link), (counts.get(typeOf(link)) ?? 0) + 1);
  return counts;
}

// What the style needs to color a type by; where no link of the document has a type, there is one color for all.
export function typed(type, types) {
  const known = [...types.keys()].filter((name) => name !== NO_TYPE);
  if (!known.length) return {};
  if (type == null || type === NO_TYPE) return { "data-type": "other" };
  return { "data-type": type, "data-slot": 1 + (known.indexOf(type) % SLOTS) };
}

// Entities in the order of their first mention, each with its mentions.
export function entitiesOf(links) {
  const entities = new Map();
  for (const link of links) {
    if (link.title == null) continue;
    if (!entities.has(link.title)) entities.set(link.title, { title: link.title, type: link.type, description: link.description, links: [] });
    entities.get(link.title).links.push(link);
  }
  return [...entities.values()];
}

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

// Pairs of entities that are named in one sentence, the stronger the more sentences name both.
export function pairsOf(text, entities) {
  const points = [...text];
  const ends = points.flatMap((point, at) => (/[.!?\n]/.test(point) && /\s|^$/.test(points[at + 1] ?? "") ? [at] : []));
  const sentence = (link) => ends.filter((end) => end < link.start).length;
  const sentences = entities.map((entity) => new Set(entity.links.map(sentence)));
  const pairs = [];
  entities.forEach((_, a) => {
    for (let b = a + 1; b < entities.length; b++) {
      const common = [...sentences[a]].filter((place) => sentences[b].has(place)).length;
      if (common) pairs.push({ a, b, strength: Math.min(common / 3, 1) });
    }
  });
  return pairs;
}

// Pairs of entities that have to do with each other, by what the service says of every two of them.
export function pairsRelated(related) {
  return related.flatMap((row, a) => row.flatMap((strength, b) => (a < b && strength >= LEAST ? [{ a, b, strength }] : [])));
}
