"use strict";
for (const section of document.querySelectorAll("section.report")) {
  const boxes = [...section.querySelectorAll(".filters input")];
  const search = section.querySelector(".search input");
  const shown = section.querySelector(".search output");
  const cards = [...section.querySelectorAll(".card")];
  const texts = new Map(cards.map((card) => [card, card.textContent.toLowerCase()]));
  const filter = () => {
    const kinds = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const wanted = search.value.trim().toLowerCase();
    let count = 0;
    for (const card of cards) {
      card.hidden = !kinds.has(card.dataset.kind) || !texts.get(card).includes(wanted);
      count += card.hidden ? 0 : 1;
    }
    shown.textContent = `${count} of ${cards.length} errors`;
  };
  for (const box of boxes) {
    box.addEventListener("change", filter);
    box.parentElement.addEventListener("dblclick", () => {
      for (const other of boxes) other.checked = other === box;
      filter();
    });
  }
  for (const button of section.querySelectorAll(".search button")) {
    button.addEventListener("click", () => {
      for (const box of boxes) box.checked = button.value === "all";
      filter();
    });
  }
  if (search) {
    search.addEventListener("input", filter);
    filter();
  }
}
