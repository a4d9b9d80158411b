// Elements out of values. No text is ever read as markup: what came from the store ends as a text node.

const SVG = "http://www.w3.org/2000/svg";

// An element; attributes that begin with "on" are listeners, false and null leave an attribute or a child out.
export function element(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// A part of a drawing.
export function shape(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value == null) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(2).filter((child) => child !== false && child != null));
  return node;
}

// Fills a list. What has not changed stays the very element it was, so that it keeps the focus and its state.
export function fillList(place, items, key, draw) {
  const known = new Map([...place.children].map((node) => [node.dataset.key, node]));
  let next = place.firstChild;
  for (const item of items) {
    const name = String(key(item));
    const text = JSON.stringify(item);
    let node = known.get(name);
    if (node?.drawnFrom !== text) {
      node = draw(item);
      node.dataset.key = name;
      node.drawnFrom = text;
    }
    if (node === next) next = next.nextSibling;
    else place.insertBefore(node, next);
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

// Calls a function once nobody has called it for a while.
export function after(milliseconds, act) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(act, milliseconds, ...values);
  };
}
