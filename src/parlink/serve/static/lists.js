// Beside the text: the types with their colors, which filter, and the entities, which lead to their places.

import { element } from "./elements.js";
import { NO_TYPE, entitiesOf, typed } from "./entities.js";

// Show the types of a document as buttons; `hidden` holds those that are switched off, and `changed` is told of a change.
export function showLegend(root, types, hidden, changed) {
  const known = [...types.keys()].some((type) => type !== NO_TYPE);
  root.hidden = !known;
  const focused = [...root.children].indexOf(document.activeElement);
  root.replaceChildren(...(known ? [...types] : []).map(([type, count]) => makeType(type, count, types, hidden, changed)));
  if (focused >= 0) root.children[focused]?.focus();
}

function makeType(type, count, types, hidden, changed) {
  const on = !hidden.has(type);
  const properties = { type: "button", class: "swatch typed small", "aria-pressed": String(on), ...typed(type, types) };
  const button = element("button", properties, type, element("span", { class: "times" }, String(count)));
  button.addEventListener("click", () => {
    if (on) hidden.add(type);
    else hidden.delete(type);
    changed();
  });
  return button;
}

export class EntityList {
  // `point` is told the title under the mouse or the focus, or null; `goTo` the link to show.
  constructor(root, summary, { point, goTo }) {
    Object.assign(this, { root, summary, point, goTo, entities: [] });
  }

  show(links, types) {
    this.entities = entitiesOf(links);
    const count = this.entities.length;
    this.summary.textContent = count === 0 ? "No entity found" : count === 1 ? "One entity" : `${count} entities`;
    this.root.replaceChildren(...this.entities.map((entity) => this.#line(entity, types)));
  }

  // A click goes to the first place of the entity in the text, the next one to the next; Enter does so, too, and
  // leaves the focus in the list, from where one goes on.
  #line(entity, types) {
    const times = element("span", { class: "times" }, entity.links.length > 1 ? `×${entity.links.length}` : "");
    const name = element("span", { class: "name swatch typed", ...typed(entity.type, types) }, entity.title);
    const what = entity.description ? element("span", { class: "what" }, entity.description) : null;
    const button = element("button", { type: "button", class: "entity" }, name, times, what);
    let visits = 0;
    button.addEventListener("click", (event) => {
      const place = visits++ % entity.links.length;
      if (entity.links.length > 1) times.textContent = `${place + 1}/${entity.links.length}`;
      this.goTo(entity.links[place], { focus: event.detail > 0 });
    });
    for (const event of ["pointerenter", "focusin"]) button.addEventListener(event, () => this.point(entity.title));
    for (const event of ["pointerleave", "focusout"]) button.addEventListener(event, () => this.point(null));
    return element("li", {}, button);
  }
}
