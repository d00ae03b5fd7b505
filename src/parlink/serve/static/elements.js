// DOM from values; strings only ever become text nodes, so that nothing of a text or a name is executed.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, properties = {}, ...children) {
  return fill(document.createElement(name), properties, children);
}

export function svg(name, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, name), properties, children);
}

function fill(node, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (value == null || value === false) continue;
    if (key.startsWith("--")) node.style.setProperty(key, String(value));
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

// A link that opens beside the page, or plain text if there is no address that may be followed.
export function outward(url, properties, ...children) {
  const address = safeUrl(url);
  if (address === null) return element("span", properties, ...children);
  return element("a", { ...properties, href: address, target: "_blank", rel: "noopener noreferrer" }, ...children);
}

// A knowledge base could hold `javascript:`.
function safeUrl(url) {
  return typeof url === "string" && /^https?:\/\//i.test(url) ? url : null;
}

export function percent(value) {
  return value == null ? "" : `${(100 * value).toFixed(value > 0 && value < 0.01 ? 1 : 0)} %`;
}

export function number(value) {
  return value == null ? "" : value.toFixed(2).replace("-", "−");
}
