"use strict";
// SVG markup of boxes, nodes and edges, as strings, so that a page and a file get the same.

const SEVERITIES = ["error", "warning", "info", "hint"];

function escaped(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  // XML has no way to write the other control characters.
  return `${text}`.replace(/[&<>"']/g, (character) => names[character]).replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, "\ufffd");
}

/** The worst severity and the number of the problems of an item and, of a box, of what it holds. */
function troubleOf(tree, picture, id) {
  const found = new Set();
  const visit = (each) => {
    for (const number of tree.items[each].problems) found.add(number);
    if (tree.isBox(each)) tree.children.get(each).forEach(visit);
  };
  visit(id);
  const severities = [...found].map((number) => SEVERITIES.indexOf(picture.problems[number].severity));
  return found.size === 0 ? null : { count: found.size, severity: SEVERITIES[Math.min(...severities)] };
}

/** The text of an item for screen readers and tooltips. */
function labelOf(tree, id) {
  const item = tree.items[id];
  return [item.path || item.name || item.title, item.kind, item.flow || item.shape, item.cost].filter(Boolean).join(", ");
}

class Drawing {
  constructor(tree, picture) {
    this.tree = tree;
    this.picture = picture;
    this.troubles = new Map();
  }

  /** Markup of an item at its position; `classes` are additional ones, such as that of the selected item. */
  item(placed, classes = "") {
    return this.tree.isBox(placed.id) ? this.#closed(placed, classes) : this.#node(placed, classes);
  }

  #node({ id, x, y, width, height }, classes) {
    const node = this.tree.items[id];
    const kinds = `item node op-${node.op} ${node.state} ${classes}`;
    const inside = `<path class="band" d="M6 0H5A5 5 0 0 0 0 5V${height - 5}A5 5 0 0 0 5 ${height}H6Z"/>`;
    return this.#group(id, x, y, kinds, this.#shell(width, height) + inside + this.#words(id, width, height));
  }

  #closed({ id, x, y, width, height }, classes) {
    const behind = `<rect class="behind" x="5" y="5" width="${width}" height="${height}" rx="6"/>`;
    const sign = `<text class="sign" x="${MARGIN - 3}" y="21">▸</text>`;
    const words = sign + this.#words(id, width, height, 2 * CHARACTER);
    return this.#group(id, x, y, `item box ${classes}`, behind + this.#shell(width, height) + words);
  }

  /** The background of an open box, below the edges. */
  frame({ id, x, y, width, height }, classes = "") {
    const inside = `<rect class="shell" width="${width}" height="${height}" rx="8"/>`;
    return this.#group(id, x, y, `frame depth-${this.tree.around(id).length % 2} ${classes}`, inside);
  }

  /** The header of an open box, above the edges, which pass below it. */
  header({ id, x, y, width }, classes = "") {
    const { title, kind } = headOf(this.tree, id);
    const room = Math.floor((width - 3 * MARGIN) / CHARACTER) - title.length - kind.length - 5;
    const facts = factsThatFit(this.tree.items[id].cost.split(" · "), room);
    const inside =
      `<path class="bar" d="M0.5 ${HEADER - 4}V8A7.5 7.5 0 0 1 8 0.5H${width - 8}A7.5 7.5 0 0 1 ${width - 0.5} 8V${HEADER - 4}Z"/>` +
      `<text class="sign" x="${MARGIN - 3}" y="20">▾</text>` +
      `<text class="title" x="${MARGIN + 2 * CHARACTER}" y="20">${escaped(title)}` +
      `<tspan class="kind" dx="10">${escaped(kind)}</tspan></text>` +
      `<text class="cost" x="${width - MARGIN}" y="20" text-anchor="end">${escaped(facts)}</text>`;
    return this.#group(id, x, y, `header ${classes}`, inside + this.#badge(id, width));
  }

  #group(id, x, y, kinds, inside) {
    const label = escaped(labelOf(this.tree, id));
    return `<g class="${kinds.trim()}" data-id="${id}" transform="${placeOf({ x, y })}" role="button" aria-label="${label}"><title>${label}</title>${inside}</g>`;
  }

  #shell(width, height) {
    return `<rect class="shell" width="${width}" height="${height}" rx="6"/>`;
  }

  #words(id, width, height, indent = 0) {
    const item = this.tree.items[id];
    const { title, kind } = headOf(this.tree, id);
    const classes = this.tree.items[id].shape ? ["shape", "cost"] : ["cost"];
    const lines = linesOf(this.tree, id).map((line, number) => {
      const y = 21 + (number + 1) * LINE;
      return `<text class="${classes[number] ?? "cost"}" x="${MARGIN}" y="${y}">${escaped(line)}</text>`;
    });
    const share = item.share ? `<rect class="share" x="6" y="${height - 4}" width="${round(item.share * (width - 12))}" height="3"/>` : "";
    return (
      `<text class="title" x="${MARGIN + indent}" y="21">${escaped(title)}</text>` +
      `<text class="kind" x="${width - MARGIN + 4}" y="21" text-anchor="end">${escaped(kind)}</text>` +
      lines.join("") +
      share +
      this.#badge(id, width)
    );
  }

  #badge(id, width) {
    if (!this.troubles.has(id)) this.troubles.set(id, troubleOf(this.tree, this.picture, id));
    const trouble = this.troubles.get(id);
    if (trouble === null) return "";
    const text = trouble.count > 9 ? "9+" : trouble.count > 1 ? trouble.count : "!";
    return `<g class="badge ${trouble.severity}"><circle cx="${width}" cy="0" r="9"/><text x="${width}" y="4">${text}</text></g>`;
  }

  edge({ points, arrow }, classes = "") {
    const end = arrow ? ' marker-end="url(#arrow)"' : "";
    return `<path class="edge ${classes}" d="${rounded(points)}"${end}/>`;
  }
}

function placeOf({ x, y }) {
  return `translate(${round(x)} ${round(y)})`;
}

/** A line with its corners rounded. */
function rounded(points, radius = 8) {
  const parts = [`M${points[0].map(round).join(" ")}`];
  for (let at = 1; at < points.length - 1; at++) {
    const corner = points[at];
    const before = towards(corner, points[at - 1], radius);
    const after = towards(corner, points[at + 1], radius);
    parts.push(`L${before.join(" ")}Q${corner.map(round).join(" ")} ${after.join(" ")}`);
  }
  return `${parts.join("")}L${points.at(-1).map(round).join(" ")}`;
}

/** The point that lies `distance` from one point on the way to another, at most half of it. */
function towards([x, y], [otherX, otherY], distance) {
  const length = Math.hypot(otherX - x, otherY - y);
  const part = length === 0 ? 0 : Math.min(distance / length, 0.5);
  return [round(x + (otherX - x) * part), round(y + (otherY - y) * part)];
}

function round(number) {
  return Math.round(number * 10) / 10;
}

const ARROW =
  '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">' +
  '<path class="head" d="M0 0L8 4L0 8Z"/></marker>';
