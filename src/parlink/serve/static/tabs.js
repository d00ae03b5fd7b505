// Tabs as ARIA has them: one is in the tab order, arrow keys move between them.

export class Tabs {
  // `shown` is told the id of the panel that a person chose.
  constructor(list, shown) {
    this.list = list;
    this.shown = shown;
    list.addEventListener("click", (event) => event.target.matches("[role=tab]") && this.choose(event.target));
    list.addEventListener("keydown", (event) => this.#press(event));
  }

  choose(tab) {
    for (const other of this.list.querySelectorAll("[role=tab]")) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = other !== tab;
    }
    this.shown(tab.getAttribute("aria-controls"));
  }

  #press(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...this.list.querySelectorAll("[role=tab]:not([hidden])")];
    const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
    next.focus();
    this.choose(next);
  }
}
