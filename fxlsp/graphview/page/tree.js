"use strict";
// What is drawn: nodes and boxes by one kind of id, which of them are visible while some boxes are open, and the edges
// between these. Nothing here needs a browser: `fxlsp graph -o FILE.svg` runs it in an embedded engine.

/**
 * Nodes have the ids 0, 1, ... of the picture; boxes follow, the root first.
 */
class Tree {
  constructor(picture) {
    this.items = [...picture.nodes, ...picture.boxes];
    this.root = picture.nodes.length;
    this.edges = [];
    picture.nodes.forEach((node, id) => node.inputs.forEach((input) => this.edges.push([input, id])));
    this.children = new Map();
    for (let id = this.root; id < this.items.length; id++) this.children.set(id, []);
    this.items.forEach((item, id) => {
      if (id !== this.root) this.children.get(this.parent(id)).push(id);
    });
    for (const list of this.children.values()) list.sort((one, other) => this.first(one) - this.first(other));
  }

  isBox(id) {
    return id >= this.root;
  }

  parent(id) {
    return this.root + this.items[id].parent;
  }

  /** The first node that ran in an item: what orders the items of one box. */
  first(id) {
    return this.isBox(id) ? this.items[id].first : id;
  }

  /** The boxes around an item, the root first; without the item itself. */
  around(id) {
    const boxes = [];
    for (let at = id; at !== this.root; ) {
      at = this.parent(at);
      boxes.unshift(at);
    }
    return boxes;
  }

  /** What shows an item while `open` boxes are open: itself, or the outermost closed box around it. */
  shown(id, open) {
    return this.around(id).find((box) => !open.has(box)) ?? id;
  }

  /** All boxes down to a depth; 0 is the root alone, which is always open. */
  opened(depth) {
    const boxes = [...this.children.keys()];
    return new Set(boxes.filter((box) => this.around(box).length <= depth));
  }

  /** As many levels of boxes as fit on a screen. */
  openedAtStart(most = 40) {
    let open = this.opened(0);
    for (let depth = 1; ; depth++) {
      const more = this.opened(depth);
      const isAll = more.size === open.size;
      // A model that is wrapped in another shows nothing until the wrapper is open.
      if (isAll || (this.visible(more).length > most && this.visible(open).length > 3)) return open;
      open = more;
    }
  }

  /** The ids of what can be seen, open boxes before what they hold, in the order in which it ran. */
  visible(open) {
    const found = [];
    const visit = (box) => {
      for (const id of this.children.get(box)) {
        found.push(id);
        if (open.has(id)) visit(id);
      }
    };
    visit(this.root);
    return found;
  }

  /**
   * What each open box holds: its children and the edges between them. An edge that crosses the border of an open box
   * is cut there: it ends at a port, "in" or "out" with the id of the node whose value it carries.
   *
   * @returns Map from the id of an open box to {children, inner: Map of edges, ports: Set}
   */
  levels(open) {
    const levels = new Map();
    for (const box of [this.root, ...this.visible(open).filter((id) => open.has(id))]) {
      levels.set(box, { children: this.children.get(box), inner: new Map(), ports: new Set() });
    }
    for (const [source, target] of this.edges) this.#cut(levels, open, source, target);
    return levels;
  }

  #cut(levels, open, source, target) {
    const from = this.#way(source, open);
    const to = this.#way(target, open);
    if (from.at(-1) === to.at(-1)) return;
    let common = 0;
    while (from[common] === to[common]) common++;
    const carried = { source, target };
    const outside = (way, port) => (way.length - 1 > common ? { id: way[common], port } : { id: way[common] });
    addEdge(levels.get(from[common - 1]), outside(from, `out${source}`), outside(to, `in${source}`), carried);
    this.#inside(levels, from, common, `out${source}`, (level, end, port) => addEdge(level, end, port, carried));
    this.#inside(levels, to, common, `in${source}`, (level, end, port) => addEdge(level, port, end, carried));
  }

  /** Adds the part of an edge that lies in each open box on the way down to its end. */
  #inside(levels, way, common, port, add) {
    for (let depth = common; depth < way.length - 1; depth++) {
      const level = levels.get(way[depth]);
      level.ports.add(port);
      const end = depth + 1 < way.length - 1 ? { id: way[depth + 1], port } : { id: way[depth + 1] };
      add(level, end, { id: way[depth], port });
    }
  }

  /** The open boxes around a node, then what shows it. */
  #way(id, open) {
    const way = [];
    for (const box of [...this.around(id), id]) {
      way.push(box);
      if (!open.has(box)) break;
    }
    return way;
  }
}

/** Edges with the same ends are drawn once, and list every node that they connect. */
function addEdge(level, from, to, carried) {
  const key = `${from.id}.${from.port ?? ""}>${to.id}.${to.port ?? ""}`;
  if (!level.inner.has(key)) level.inner.set(key, { from, to, joins: [] });
  level.inner.get(key).joins.push(carried);
}
