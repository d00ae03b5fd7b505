"use strict";
// The list of errors: filtered by kind, searched by words, and shown a page at a time.
const PAGE = 50;

function manage(section) {
  const boxes = [...section.querySelectorAll(".filters input")];
  const search = section.querySelector(".search input");
  const errors = [...section.querySelectorAll("article.error")];
  const texts = new Map(errors.map((error) => [error, error.textContent.toLowerCase()]));
  const pager = section.querySelector(".pager");
  const buttons = [...pager.querySelectorAll("button")];
  let matching = errors;
  let page = 0;

  const filter = () => {
    const kinds = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const words = search.value.toLowerCase().split(/\s+/);
    matching = errors.filter((error) => kinds.has(error.dataset.kind) && words.every((word) => texts.get(error).includes(word)));
    section.querySelector(".search output").textContent = `${matching.length} of ${errors.length} errors`;
    turn(0);
  };
  const turn = (to) => {
    const pages = Math.max(Math.ceil(matching.length / PAGE), 1);
    page = Math.min(Math.max(to, 0), pages - 1);
    const visible = new Set(matching.slice(page * PAGE, (page + 1) * PAGE));
    for (const error of errors) error.hidden = !visible.has(error);
    pager.hidden = pages === 1;
    pager.querySelector("output").textContent = `page ${page + 1} of ${pages}`;
    for (const button of buttons) button.disabled = page + Number(button.value) < 0 || page + Number(button.value) >= pages;
  };
  const check = (wanted) => {
    for (const box of boxes) box.checked = wanted(box);
    filter();
  };

  for (const box of boxes) {
    box.addEventListener("change", filter);
    box.parentElement.addEventListener("dblclick", () => check((other) => other === box));
  }
  for (const button of section.querySelectorAll(".search button")) button.addEventListener("click", () => check(() => button.value === "all"));
  for (const button of buttons) {
    button.addEventListener("click", () => {
      turn(page + Number(button.value));
      section.querySelector(".search").scrollIntoView();
    });
  }
  search.addEventListener("input", filter);
  filter();
}

for (const section of document.querySelectorAll("section.report")) manage(section);
