// The text with its links in place, and the card that follows the mouse, the focus or the finger until it is pinned.

import { makeCard } from "./card.js";
import { element } from "./elements.js";
import { typed, utf16Offsets } from "./entities.js";

const LINGER = 220; // milliseconds, so that the mouse can travel to the card
const GAP = 6; // pixels between a line and the card

export class Article {
  constructor(root) {
    this.root = root;
    this.links = new Map(); // mention element -> link
    this.types = new Map();
    this.open = this.card = null;
    this.pinned = this.returning = false;
    root.addEventListener("pointermove", (event) => this.#hover(event)); // not pointerover, which scrolling causes too
    root.addEventListener("pointerout", () => this.#leaveSoon());
    root.addEventListener("focusin", (event) => this.#focus(event));
    root.addEventListener("focusout", (event) => this.pinned || root.contains(event.relatedTarget) || this.close());
    root.addEventListener("click", (event) => this.#click(event));
    root.addEventListener("keydown", (event) => this.#press(event));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.close({ refocus: true }));
    document.addEventListener("pointerdown", (event) => this.#pointElsewhere(event));
    window.addEventListener("resize", () => this.card && place(this.card, this.open));
  }

  // Show a text and the links in it, which must be disjoint and in order; `types` are those of the document.
  show(text, links, types) {
    this.close();
    this.types = types;
    const offsets = utf16Offsets(text);
    const pieces = [];
    this.links.clear();
    let at = 0;
    for (const link of links) {
      const [start, end] = [offsets[link.start], offsets[link.end]];
      const mention = makeMention(link, text.slice(start, end), types);
      this.links.set(mention, link);
      pieces.push(text.slice(at, start), mention);
      at = end;
    }
    this.root.replaceChildren(...pieces, text.slice(at));
  }

  // Mark the mentions of one entity; null: of none.
  point(title) {
    for (const [mention, link] of this.links) mention.classList.toggle("pointed", title !== null && link.title === title);
  }

  // Go to the place of a link and open its card; the focus goes along, unless it is to stay where it is.
  goTo(wanted, { focus = true } = {}) {
    for (const [mention, link] of this.links) {
      if (link !== wanted) continue;
      this.close();
      mention.scrollIntoView({ block: "center", behavior: "instant" });
      if (focus) mention.focus({ preventScroll: true });
      else this.#openAt(mention);
    }
  }

  close({ refocus = false } = {}) {
    clearTimeout(this.timer);
    const { open: mention, card } = this;
    const back = refocus && card?.contains(document.activeElement);
    this.open = this.card = null;
    this.pinned = false;
    card?.remove();
    mention?.removeAttribute("aria-describedby");
    mention?.setAttribute("aria-expanded", "false");
    if (back) this.#refocus(mention);
  }

  // Give the focus back without opening the card again.
  #refocus(mention) {
    this.returning = true;
    mention.focus({ preventScroll: true });
    this.returning = false;
  }

  #mentionOf(event) {
    const mention = event.target.closest?.(".mention");
    return mention && this.root.contains(mention) ? mention : null;
  }

  #hover(event) {
    if (event.pointerType === "touch" || this.pinned) return;
    const mention = this.#mentionOf(event);
    if (mention) this.#openAt(mention);
    else if (event.target.closest(".card")) clearTimeout(this.timer);
  }

  #leaveSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (!this.pinned && !this.root.querySelector(".card:hover, .card:focus-within, .mention:focus")) this.close();
    }, LINGER);
  }

  // A pinned card stays, but a finger has no Escape key: its touch beside the text closes any card.
  #pointElsewhere(event) {
    if (!this.root.contains(event.target) && (!this.pinned || event.pointerType === "touch")) this.close();
  }

  #focus(event) {
    const mention = this.#mentionOf(event);
    if (mention && !this.pinned && !this.returning) this.#openAt(mention);
  }

  #click(event) {
    const mention = this.#mentionOf(event);
    if (mention) this.#togglePin(mention);
    else if (event.target.closest(".pin")) this.#pin(!this.pinned);
    else if (event.target.closest(".close")) this.close({ refocus: true });
  }

  #press(event) {
    const mention = this.#mentionOf(event);
    if (!mention || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    this.#togglePin(mention);
  }

  #togglePin(mention) {
    const again = this.open === mention && this.pinned;
    this.#openAt(mention);
    this.#pin(!again);
  }

  #pin(on) {
    this.pinned = on;
    this.card.classList.toggle("pinned", on);
    const button = this.card.querySelector(".pin");
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Pinned" : "Pin";
  }

  #openAt(mention) {
    clearTimeout(this.timer);
    if (this.open === mention) return;
    this.close();
    this.open = mention;
    this.card = makeCard(this.links.get(mention), this.types);
    mention.setAttribute("aria-describedby", "card");
    mention.setAttribute("aria-expanded", "true");
    mention.after(this.card);
    place(this.card, mention);
    requestAnimationFrame(() => this.card && place(this.card, this.open)); // the focus may scroll after this
  }
}

function makeMention(link, surface, types) {
  const linked = link.title != null;
  const properties = {
    class: linked ? "mention typed" : "mention nil typed", role: "button", tabindex: 0, "aria-expanded": "false",
    "aria-label": `${surface}: ${linked ? link.title : "not linked"}`, "--sure": link.confidence ?? 1, ...typed(link.type, types),
  };
  return element("span", properties, surface);
}

// Below the last line of the mention or above its first, wherever there is more room; never over them or the edge, and
// over what stands beside the text only where the text is narrower than the card.
function place(card, mention) {
  const room = document.documentElement.clientWidth - 16;
  card.style.maxHeight = "none";
  card.style.maxWidth = `${room}px`;
  const frame = card.offsetParent.getBoundingClientRect();
  const lines = mention.getClientRects();
  const [first, last] = [lines[0], lines[lines.length - 1]];
  const { width, height } = card.getBoundingClientRect();
  const below = window.innerHeight - last.bottom - GAP - 8;
  const above = first.top - GAP - 8;
  const up = height > below && above > below;
  const tall = Math.max(Math.min(height, up ? above : below), Math.min(height, 160));
  card.style.maxHeight = `${tall}px`;
  const panel = mention.closest(".reading")?.getBoundingClientRect().right ?? Infinity;
  const right = Math.min(room + 8, Math.max(panel, 8 + width));
  card.style.left = `${Math.max(8, Math.min(last.left, right - width)) - frame.left}px`;
  card.style.top = `${(up ? first.top - tall - GAP : last.bottom + GAP) - frame.top}px`;
}
