"use strict";
// Positions of all items. Each open box is laid out by itself with elkjs, the inner ones first; a box that holds what it
// held before keeps its layout, so opening one lays out that box and those around it.

// The font is monospaced, so that widths are known without a browser that measures them.
const CHARACTER = 7.3;
const LINE = 17;
const MARGIN = 14;
const WIDEST = 46;
const HEADER = 34;

const LEVEL_OPTIONS = {
  "elk.algorithm": "layered",
  "elk.direction": "DOWN",
  "elk.edgeRouting": "ORTHOGONAL",
  "elk.padding": `[top=${HEADER + 14},left=18,bottom=18,right=18]`,
  "elk.spacing.nodeNode": "26",
  "elk.spacing.edgeNode": "16",
  "elk.spacing.edgeEdge": "12",
  "elk.layered.spacing.nodeNodeBetweenLayers": "30",
  "elk.layered.spacing.edgeNodeBetweenLayers": "14",
  "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
  "elk.layered.nodePlacement.bk.fixedAlignment": "BALANCED",
  "elk.layered.thoroughness": "1",
  "elk.portConstraints": "FIXED_SIDE",
};

/** The lines of text of a node or a closed box. */
function linesOf(tree, id) {
  const item = tree.items[id];
  const count = tree.isBox(id) ? `${item.count} node${item.count === 1 ? "" : "s"}` : "";
  const facts = [count, ...item.cost.split(" · "), item.share >= 0.001 ? percent(item.share) : ""];
  return [shortened(item.shape, WIDEST), factsThatFit(facts, WIDEST)].filter(Boolean);
}

/** As many lines as fit, so that none is cut in the middle. */
function factsThatFit(facts, room) {
  let line = "";
  for (const fact of facts.filter(Boolean)) {
    const longer = line ? `${line} · ${fact}` : fact;
    if (longer.length > room) break;
    line = longer;
  }
  return line;
}

function percent(share) {
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

/** Title and kind, which share the first line. */
function headOf(tree, id) {
  const item = tree.items[id];
  const title = shortened(item.title, 28);
  return { title, kind: shortened(item.kind === item.title ? "" : item.kind, WIDEST - Math.min(title.length, 18)) };
}

function shortened(text, width) {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

function sizeOf(tree, id) {
  const { title, kind } = headOf(tree, id);
  const lines = linesOf(tree, id);
  const head = title.length + kind.length + 3 + (tree.isBox(id) ? 2 : 0);
  const characters = Math.max(14, head, ...lines.map((line) => line.length));
  return { width: Math.round(characters * CHARACTER + 2 * MARGIN), height: (lines.length + 1) * LINE + 16 };
}

/** A chain of layouts that share what did not change. */
class Layouts {
  /** @param elk lays out one graph in elkjs's JSON; returns a promise of it. */
  constructor(tree, elk) {
    this.tree = tree;
    this.elk = elk;
    this.kept = new Map();
  }

  /**
   * @returns {frames, items, edges, width, height}: `frames` are open boxes, the outer ones first; `items` nodes and
   *   closed boxes; each {id, x, y, width, height}. `edges` are {points, joins, arrow}. All in one coordinate system.
   */
  async arrange(open) {
    const levels = this.tree.levels(open);
    const placed = new Map();
    for (const box of [...levels.keys()].reverse()) placed.set(box, await this.#level(box, levels.get(box), placed));
    return flattened(this.tree.root, placed);
  }

  /** Lay out the inside of a closed box in advance, as it will be when it is opened. */
  async ahead(box) {
    if (this.kept.has(box)) return;
    const open = new Set([...this.tree.around(box), box]);
    await this.#level(box, this.tree.levels(open).get(box), new Map());
  }

  async #level(box, level, placed) {
    const graph = this.#graph(box, level, placed);
    const key = JSON.stringify(graph);
    const before = this.kept.get(box);
    if (before?.key === key) return { ...before.result, edges: edgesOf(before.laid, level) };
    const laid = (await this.elk(graph)).children[0];
    const result = resultOf(laid);
    this.kept.set(box, { key, laid, result });
    return { ...result, edges: edgesOf(laid, level) };
  }

  #graph(box, level, placed) {
    const children = level.children.map((id) => {
      const inner = placed.get(id);
      if (inner === undefined) return { id: `${id}`, ...sizeOf(this.tree, id) };
      const ports = [...inner.ports].map(([port, { x, y }]) => portOf(id, port, { x, y }));
      const { width, height } = inner;
      return { id: `${id}`, width, height, ports, layoutOptions: { "elk.portConstraints": "FIXED_POS" } };
    });
    const edges = [...level.inner.values()].map(({ from, to }, number) => ({
      id: `e${number}`,
      sources: [endOf(from)],
      targets: [endOf(to)],
    }));
    const header = box === this.tree.root ? 0 : sizeOf(this.tree, box).width;
    const layoutOptions = {
      ...LEVEL_OPTIONS,
      "elk.nodeSize.constraints": "MINIMUM_SIZE PORTS",
      "elk.nodeSize.minimum": `(${header}, ${HEADER})`,
    };
    const ports = [...level.ports].map((port) => portOf(box, port, {}));
    // elkjs places the ports of a box only if the box is part of another.
    return { id: "all", layoutOptions: { "elk.algorithm": "fixed" }, children: [{ id: `${box}`, layoutOptions, ports, children, edges }] };
  }
}

function portOf(box, port, place) {
  const side = port.startsWith("in") ? "NORTH" : "SOUTH";
  return { id: `${box}.${port}`, width: 0, height: 0, ...place, layoutOptions: { "elk.port.side": side } };
}

function endOf({ id, port }) {
  return port === undefined ? `${id}` : `${id}.${port}`;
}

function resultOf(laid) {
  const ports = new Map((laid.ports ?? []).map(({ id, x, y }) => [id.slice(id.indexOf(".") + 1), { x, y }]));
  const children = laid.children.map(({ id, x, y, width, height }) => ({ id: Number(id), x, y, width, height }));
  return { width: laid.width, height: laid.height, ports, children };
}

function edgesOf(laid, level) {
  return [...level.inner.values()].map(({ to, joins }, number) => {
    const { startPoint, bendPoints = [], endPoint } = laid.edges[number].sections[0];
    const points = [startPoint, ...bendPoints, endPoint].map(({ x, y }) => [x, y]);
    return { points, joins, arrow: to.port === undefined };
  });
}

/** The levels, each in the coordinates of its box, put into those of the root. */
function flattened(root, placed) {
  const scene = { frames: [], items: [], edges: [], width: placed.get(root).width, height: placed.get(root).height };
  const visit = (box, left, top) => {
    const level = placed.get(box);
    for (const { points, joins, arrow } of level.edges) {
      scene.edges.push({ points: points.map(([x, y]) => [x + left, y + top]), joins, arrow });
    }
    for (const child of level.children) {
      const moved = { ...child, x: child.x + left, y: child.y + top };
      scene[placed.has(child.id) ? "frames" : "items"].push(moved);
      if (placed.has(child.id)) visit(child.id, moved.x, moved.y);
    }
  };
  visit(root, 0, 0);
  return scene;
}
