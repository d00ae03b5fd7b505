// The text with its links in place, and the card that follows the mouse, the focus or the finger.

import { card } from "./card.js";
import { outward } from "./elements.js";
import { utf16Offsets } from "./links.js";

const LINGER = 180; // milliseconds, so that the mouse can travel to the card

export class Article {
  constructor(root) {
    this.root = root;
    this.links = new Map(); // mention element -> link
    this.open = null;
    root.addEventListener("pointerover", (event) => this.#hover(event));
    root.addEventListener("pointerout", () => this.#leaveSoon());
    root.addEventListener("focusin", (event) => this.#focus(event));
    root.addEventListener("focusout", (event) => root.contains(event.relatedTarget) || this.close());
    root.addEventListener("click", (event) => this.#click(event));
    root.addEventListener("pointerdown", (event) => (this.finger = event.pointerType === "touch"));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    document.addEventListener("pointerdown", (event) => root.contains(event.target) || this.close());
    window.addEventListener("resize", () => this.close());
  }

  // Show a text and the links in it, which must be disjoint and in order.
  show(text, links) {
    this.close();
    const offsets = utf16Offsets(text);
    const pieces = [];
    this.links.clear();
    let at = 0;
    for (const link of links) {
      const [start, end] = [offsets[link.start], offsets[link.end]];
      const made = mention(link, text.slice(start, end));
      this.links.set(made, link);
      pieces.push(text.slice(at, start), made);
      at = end;
    }
    this.root.replaceChildren(...pieces, text.slice(at));
  }

  // Mark the mentions of one entity; null: of none.
  point(title) {
    for (const [made, link] of this.links) made.classList.toggle("pointed", title !== null && link.title === title);
  }

  close() {
    clearTimeout(this.timer);
    this.card?.remove();
    this.open?.removeAttribute("aria-describedby");
    this.open = this.card = null;
  }

  #mentionOf(event) {
    const found = event.target.closest?.(".mention");
    return found && this.root.contains(found) ? found : null;
  }

  #hover(event) {
    if (event.pointerType === "touch") return;
    const found = this.#mentionOf(event);
    if (found) this.#openAt(found);
    else if (event.target.closest(".card")) clearTimeout(this.timer);
  }

  #leaveSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.root.querySelector(".card:hover, .card:focus-within, .mention:focus") || this.close(), LINGER);
  }

  #focus(event) {
    const found = this.#mentionOf(event);
    if (found) this.#openAt(found);
  }

  // A finger cannot hover: its first touch opens the card, its second follows the link.
  #click(event) {
    const found = this.#mentionOf(event);
    if (!found) return;
    if (this.finger && !(this.touched === found && this.open === found)) event.preventDefault();
    this.touched = found;
    this.#openAt(found);
  }

  #openAt(found) {
    clearTimeout(this.timer);
    if (this.open === found) return;
    this.close();
    this.open = found;
    this.card = card(this.links.get(found));
    found.setAttribute("aria-describedby", "card");
    found.after(this.card);
    place(this.card, found);
  }
}

function mention(link, surface) {
  const linked = link.title != null;
  const label = linked ? `${surface}: ${link.title}` : `${surface}: not linked`;
  const made = outward(link.url, { class: linked ? "mention" : "mention nil", "aria-label": label }, surface);
  if (made.tagName === "SPAN") {
    made.tabIndex = 0;
    made.setAttribute("role", "note");
  }
  made.style.setProperty("--sure", String(link.confidence ?? 1));
  return made;
}

// Below the end of the mention, or above its beginning where there is no room below; never over the edge.
function place(made, found) {
  const room = document.documentElement.clientWidth - 16;
  made.style.maxWidth = `min(34rem, ${room}px)`;
  const frame = made.offsetParent.getBoundingClientRect();
  const lines = found.getClientRects();
  const [first, last] = [lines[0], lines[lines.length - 1]];
  const { width, height } = made.getBoundingClientRect();
  const left = Math.max(8, Math.min(last.left, room + 8 - width));
  const above = last.bottom + height > window.innerHeight && first.top > height;
  made.style.left = `${left - frame.left}px`;
  made.style.top = `${(above ? first.top - height - 6 : last.bottom + 6) - frame.top}px`;
}
