// How far the linking of a text is: the service does not say, so it is told from how fast earlier texts went.

const at = (id) => document.getElementById(id);
let speed = 4000; // characters a second, until a text of some length was timed

// Show the bar until the function that is returned is called; it wants to know whether the text was linked.
export function showProgress(text) {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  const tell = () => {
    const expected = Math.max(text.length / speed, 0.3);
    at("share").value = 1 - 0.9 ** ((10 * seconds()) / expected); // about two thirds when the time is over, never full
    const length = text.length.toLocaleString("en");
    at("waiting").textContent = seconds() < 1.5 ? "Linking…" : `Linking ${length} characters… ${Math.round(seconds())} s`;
  };
  tell();
  at("progress").hidden = false;
  at("progress").scrollIntoView({ block: "nearest" }); // on a phone it lies below the text
  const timer = setInterval(tell, 100);
  return (linked) => {
    clearInterval(timer);
    at("progress").hidden = true;
    if (linked && text.length > 2000) speed = text.length / seconds();
  };
}
