// Texts from files, chosen or dropped.

const LARGEST = 20_000_000; // bytes; the service takes far less, but says so itself

export async function readText(file) {
  if (file.size > LARGEST) throw new Error(`${file.name} has ${file.size} bytes, which is too much for one text.`);
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${file.name} is not a text in UTF-8.`);
  }
}

// Take files that are dropped anywhere on the page; `paper` shows that they may be.
export function acceptDrops(paper, take) {
  const holdsFile = (event) => event.dataTransfer?.types.includes("Files");
  const mark = (on) => paper.classList.toggle("dropping", on);
  document.addEventListener("dragover", (event) => {
    if (holdsFile(event)) (event.preventDefault(), mark(true));
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && mark(false));
  document.addEventListener("drop", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    mark(false);
    take(event.dataTransfer.files[0]);
  });
}
