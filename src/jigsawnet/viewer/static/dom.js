/** Small helpers for the page. Text always goes in as text, never as markup. */

export const byId = (id) => document.getElementById(id);

/** Make an element: attributes, `on...` listeners, then children (elements or text; null is left out). */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const percent = (share) => (share === null || share === undefined ? "–" : `${Math.round(share * 100)} %`);

/** A file name without its ending, for narrow places. */
export const stem = (name) => name.replace(/\.[A-Za-z0-9]{1,5}$/, "") || name;

export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

/** Replace what is in `parent`; focus stays on the element with the same `data-key`, if there is one again. */
export function refill(parent, ...children) {
  const key = parent.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  parent.replaceChildren(...children.flat().filter(Boolean));
  if (!key) return;
  const again = [...parent.querySelectorAll("[data-key]")].find((element) => element.dataset.key === key);
  (again ?? parent.closest("[tabindex]"))?.focus({ preventScroll: true });
}
