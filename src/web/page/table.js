// A table of any length: only the rows that are on the screen are there.

import { element } from "./draw.js";

// So many rows are kept ready above and below the screen.
const SPARE = 12;

export class Table {
  // `columns`: { name, title, sortable, draw(item) }; `opens(item)` is where a row leads.
  constructor({ label, columns, key, opens, onsort }) {
    Object.assign(this, { columns, key, opens, items: [], drawn: new Map(), current: 0 });
    this.heads = columns.map(({ name, title, sortable }) =>
      element(
        "div",
        { role: "columnheader", class: `cell ${name}` },
        sortable ? element("button", { type: "button", onclick: () => onsort(name) }, title) : title,
      ),
    );
    this.body = element("div", { role: "rowgroup", class: "rows" });
    this.node = element(
      "div",
      { role: "table", class: "table", "aria-label": label },
      element("div", { role: "rowgroup", class: "heads" }, element("div", { role: "row", class: "row", "aria-rowindex": 1 }, this.heads)),
      this.body,
    );
    this.body.addEventListener("keydown", (event) => this.walk(event));
    this.body.addEventListener("focusin", (event) => this.hold(event.target.closest("[role=row]")));
    this.paint = this.paint.bind(this);
    addEventListener("scroll", this.paint, { passive: true });
    addEventListener("resize", this.paint);
  }

  // Takes the rows; `sorted` names the column they are sorted by.
  show(items, sorted, descending) {
    this.items = items;
    this.current = Math.min(this.current, Math.max(0, items.length - 1));
    this.node.setAttribute("aria-rowcount", items.length + 1);
    this.columns.forEach(({ name, sortable }, index) => {
      if (!sortable) return;
      this.heads[index].setAttribute("aria-sort", name !== sorted ? "none" : descending ? "descending" : "ascending");
    });
    this.paint();
  }

  // Marks the row that is open beside the table.
  mark(key) {
    this.marked = key;
    for (const [known, { row }] of this.drawn) row.classList.toggle("open", known === key);
  }

  rowHeight() {
    return parseFloat(getComputedStyle(this.node).getPropertyValue("--row")) || 56;
  }

  paint() {
    if (!this.node.isConnected) return;
    const height = this.rowHeight();
    this.body.style.height = `${this.items.length * height}px`;
    const above = -this.body.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(above / height) - SPARE);
    const last = Math.min(this.items.length, Math.ceil((above + innerHeight) / height) + SPARE);
    const wanted = new Map();
    for (let index = first; index < last; index++) wanted.set(this.key(this.items[index]), index);
    // The row with the focus stays, or the focus would be lost.
    for (const [key, { row }] of this.drawn) {
      if (wanted.has(key)) continue;
      const index = row.contains(document.activeElement) ? this.items.findIndex((item) => this.key(item) === key) : -1;
      if (index >= 0) wanted.set(key, index);
      else {
        row.remove();
        this.drawn.delete(key);
      }
    }
    let before = null;
    for (const [key, index] of [...wanted].sort((a, b) => a[1] - b[1])) {
      before = this.place(key, index, height, before);
    }
  }

  // Puts a row where it belongs, in the document too: a reader goes through it from top to bottom.
  place(key, index, height, before) {
    const item = this.items[index];
    let { row, drawnFrom } = this.drawn.get(key) ?? {};
    if (drawnFrom !== item) {
      const old = row;
      row = this.row(item);
      if (old) {
        const focused = old.contains(document.activeElement);
        old.replaceWith(row);
        if (focused) row.querySelector("a").focus({ preventScroll: true });
      }
      this.drawn.set(key, { row, drawnFrom: item });
    }
    row.style.transform = `translateY(${index * height}px)`;
    row.setAttribute("aria-rowindex", index + 2);
    row.classList.toggle("open", key === this.marked);
    row.dataset.index = index;
    row.querySelector("a").tabIndex = index === this.current ? 0 : -1;
    const next = before ? before.nextSibling : this.body.firstChild;
    if (row !== next) this.body.insertBefore(row, next);
    return row;
  }

  row(item) {
    return element(
      "div",
      { role: "row", class: "row" },
      this.columns.map(({ name, draw }, column) =>
        element(
          "div",
          { role: "cell", class: `cell ${name}` },
          column ? draw(item) : element("a", { href: this.opens(item) }, draw(item)),
        ),
      ),
    );
  }

  hold(row) {
    if (!row) return;
    this.current = Number(row.dataset.index);
    for (const { row: other } of this.drawn.values()) other.querySelector("a").tabIndex = other === row ? 0 : -1;
  }

  // Arrow keys go from row to row, also to one that is not there yet.
  walk(event) {
    const page = Math.max(1, Math.floor(innerHeight / this.rowHeight()) - 3);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.focus(Math.min(Math.max(this.current + steps[event.key], 0), this.items.length - 1));
  }

  // Brings a row on the screen and gives it the focus.
  focus(index) {
    if (!(index in this.items)) return;
    const height = this.rowHeight();
    const top = this.body.getBoundingClientRect().top + index * height;
    const room = 2 * height;
    if (top < room) scrollBy(0, top - room);
    else if (top + height > innerHeight - height) scrollBy(0, top + 2 * height - innerHeight);
    this.current = index;
    this.paint();
    this.drawn.get(this.key(this.items[index]))?.row.querySelector("a").focus({ preventScroll: true });
  }
}
