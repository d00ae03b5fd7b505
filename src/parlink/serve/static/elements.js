// DOM from values; strings only ever become text nodes, so that nothing of a text or a name is executed.

import { safeUrl } from "./links.js";

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value == null || value === false) continue;
    if (key === "class") made.className = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

// A link that opens beside the page, or plain text if there is no address that may be followed.
export function outward(url, properties, ...children) {
  const address = safeUrl(url);
  if (address === null) return element("span", properties, ...children);
  return element("a", { ...properties, href: address, target: "_blank", rel: "noopener noreferrer" }, ...children);
}

export function percent(value) {
  return value == null ? "" : `${(100 * value).toFixed(value > 0 && value < 0.01 ? 1 : 0)} %`;
}
