"use strict";
// Main part of the page: which boxes are open, which item is selected, and what clicks and keys do.

// The first hundred layouts also make the engine compile elkjs: later ones take a fifth of the time.
const MOST_AHEAD = 120;

class Page {
  constructor(picture) {
    const byId = (id) => document.getElementById(id);
    this.picture = picture;
    this.tree = new Tree(picture);
    this.host = new Host(picture);
    this.drawing = new Drawing(this.tree, picture);
    this.layouts = new Layouts(this.tree, startElk(byId("elk").textContent));
    this.view = new View(byId("canvas"));
    this.details = new Details(byId("details"), this.tree, picture, this.host);
    this.busy = byId("busy");
    this.open = picture.depth === null ? this.tree.openedAtStart() : this.tree.opened(picture.depth);
    this.chosen = null;
    this.matches = [];
    this.marked = new Set();
    this.asked = 0;
    this.theme = new Theme(byId("theme"));
    this.search = new Search(byId("search"), byId("matches"), this.tree, {
      onChange: (matches) => this.#mark(matches),
      onPick: (id) => this.reveal(id),
    });
    byId("title").textContent = picture.title;
    byId("facts").textContent = picture.facts.join(" · ");
    this.#listen(byId);
  }

  async start() {
    this.details.show(null);
    await this.#arrangeAtStart();
    this.view.onRest = () => this.#keep();
    this.host.listen((message) => this.#asked(message));
    this.#fromHash();
    this.host.send({ type: "ready" });
  }

  /** In the state of an earlier page, else with as many open levels as fit on a screen. */
  async #arrangeAtStart() {
    const { kept } = this.host;
    if (kept === undefined) return this.arrange(() => this.view.fit(0.75));
    const paths = new Set(kept.open);
    const isOpen = ({ path }, at) => at === 0 || paths.has(path);
    this.open = new Set(this.picture.boxes.flatMap((box, at) => (isOpen(box, at) ? [this.tree.root + at] : [])));
    await this.arrange(() => this.view.put(kept.view));
  }

  #keep() {
    const open = [...this.open].map((id) => this.tree.items[id].path);
    this.host.keep({ open, view: this.view.position });
  }

  /** Lay out what is open and show it; `settle` then moves the view. */
  async arrange(settle = () => {}) {
    const asked = ++this.asked;
    const late = setTimeout(() => (this.busy.hidden = false), 100);
    const scene = await this.layouts.arrange(this.open);
    clearTimeout(late);
    // Another box was opened meanwhile.
    if (asked !== this.asked) return;
    this.busy.hidden = true;
    this.marked = new Set(this.matches.map((id) => this.tree.shown(id, this.open)));
    this.view.show(scene, this.drawing, (subject) => this.#classes(subject));
    settle();
    // After the frame in which the view draws.
    await new Promise(requestAnimationFrame);
    document.documentElement.dataset.pictures = asked;
    this.#layAhead();
  }

  /** While the page is idle, lay out closed boxes in advance, the outer ones first, so that they open at once. */
  async #layAhead() {
    const { asked, tree } = this;
    const closed = [...tree.children.keys()].filter((id) => !this.open.has(id));
    const depth = (id) => tree.around(id).filter((box) => !this.open.has(box)).length;
    for (const id of closed.sort((one, other) => depth(one) - depth(other)).slice(0, MOST_AHEAD)) {
      if (asked !== this.asked) return;
      await this.layouts.ahead(id);
    }
  }

  async toggle(box) {
    const corner = this.view.corner(box);
    this.open = new Set(this.open);
    if (!this.open.delete(box)) this.open.add(box);
    await this.arrange(() => this.view.keep(box, corner));
  }

  async openAll(depth) {
    this.open = this.tree.opened(depth);
    if (this.chosen !== null) this.choose(this.tree.shown(this.chosen, this.open));
    await this.arrange(() => this.view.fit(0.75));
  }

  /** Open the boxes around an item, and center it. */
  async reveal(id) {
    this.open = new Set([...this.open, ...this.tree.around(id)]);
    this.choose(id);
    await this.arrange(() => this.view.centre(id));
  }

  choose(id) {
    this.chosen = id;
    this.details.show(id);
    if (id !== null) this.host.send({ type: "chosen", node: this.tree.items[id].name, path: this.tree.items[id].path });
    if (this.view.scene) this.view.remark();
  }

  openSource(id) {
    const item = this.tree.items[id];
    const place = item.place ?? item.forward ?? item.made;
    if (place) this.host.open(item.name, place);
  }

  /** Mark the search results, or the closed boxes around them. */
  #mark(matches) {
    this.matches = matches;
    this.marked = new Set(matches.map((id) => this.tree.shown(id, this.open)));
    this.view.remark();
  }

  #classes(subject) {
    if (typeof subject === "object") {
      const joins = ({ source, target }) => source === this.chosen || target === this.chosen;
      return this.chosen !== null && subject.joins.some(joins) ? "joined" : "";
    }
    return `${subject === this.chosen ? "chosen" : ""} ${this.marked.has(subject) ? "match" : ""}`;
  }

  #asked({ node, path, place }) {
    const found = node !== undefined ? this.#named(node) : path !== undefined ? this.#boxAt(path) : this.#standingAt(place);
    if (found !== undefined) this.reveal(found);
  }

  #named(name) {
    const at = this.picture.nodes.findIndex((node) => node.name === name);
    return at < 0 ? undefined : at;
  }

  #boxAt(path) {
    const at = this.picture.boxes.findIndex((box) => box.path === path);
    return at <= 0 ? this.#named(path.replaceAll(".", "_")) : this.tree.root + at;
  }

  /** The node whose expression is the smallest around a place. */
  #standingAt({ file, line, column }) {
    const number = this.picture.files.indexOf(file);
    const begins = (place) => place.line < line || (place.line === line && place.column <= column);
    const ends = (place) => place.endLine > line || (place.endLine === line && place.endColumn >= column);
    const size = (id) => {
      const { place } = this.tree.items[id];
      return (place.endLine - place.line) * 1e4 + place.endColumn - place.column;
    };
    const around = this.picture.nodes.flatMap(({ place }, id) => (place?.file === number && begins(place) && ends(place) ? [id] : []));
    return around.length ? around.reduce((best, id) => (size(id) < size(best) ? id : best)) : undefined;
  }

  #fromHash() {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.has("node")) this.#asked({ node: asked.get("node") });
    else if (asked.has("path")) this.#asked({ path: asked.get("path") });
  }

  #listen(byId) {
    const clicks = { "open-all": () => this.openAll(Infinity), "close-all": () => this.openAll(0), fit: () => this.view.fit() };
    clicks.larger = () => this.view.zoom(1.25);
    clicks.smaller = () => this.view.zoom(0.8);
    for (const [id, run] of Object.entries(clicks)) byId(id).addEventListener("click", run);
    byId("canvas").addEventListener("click", (event) => this.#clicked(event));
    byId("details").addEventListener("click", (event) => this.#clickedInPanel(event));
    document.addEventListener("keydown", (event) => this.#key(event));
    window.addEventListener("hashchange", () => this.#fromHash());
  }

  #clicked(event) {
    const group = event.target.closest("[data-id]");
    if (group === null) return this.choose(null);
    const id = Number(group.dataset.id);
    this.choose(id);
    if (!this.tree.isBox(id)) return this.openSource(id);
    // Dragging the background of an open box moves the picture; a click on its header closes it.
    return group.classList.contains("frame") ? undefined : this.toggle(id);
  }

  #clickedInPanel(event) {
    const { reveal, open, place } = event.target.closest("[data-reveal], [data-open]")?.dataset ?? {};
    if (reveal !== undefined) this.reveal(Number(reveal));
    if (open !== undefined) this.host.open(this.tree.items[Number(open)].name, JSON.parse(place));
  }

  #key(event) {
    if (event.target.matches("input, button, a") || event.ctrlKey || event.metaKey || event.altKey) return;
    const { chosen } = this;
    const actions = {
      "/": () => document.getElementById("search").focus(),
      Enter: () => chosen !== null && (this.tree.isBox(chosen) ? this.toggle(chosen) : this.openSource(chosen)),
      o: () => chosen !== null && this.openSource(chosen),
      e: () => this.openAll(Infinity),
      c: () => this.openAll(0),
      "+": () => this.view.zoom(1.25),
      "=": () => this.view.zoom(1.25),
      "-": () => this.view.zoom(0.8),
      0: () => this.view.fit(),
      Escape: () => this.choose(null),
      ArrowDown: () => this.#step((source, target) => [source, target]),
      ArrowUp: () => this.#step((source, target) => [target, source]),
      ArrowRight: () => this.#turn(1),
      ArrowLeft: () => this.#turn(-1),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** Select a neighbour of the selected item, in one direction of the edges. */
  #step(ends) {
    const { tree, open } = this;
    if (this.chosen === null) return this.#go(tree.children.get(tree.root)[0]);
    for (const edge of tree.edges) {
      const [from, to] = ends(...edge.map((id) => tree.shown(id, open)));
      const isFrom = from === this.chosen || tree.around(from).includes(this.chosen);
      if (isFrom && to !== from && !tree.around(to).includes(this.chosen)) return this.#go(to);
    }
  }

  #turn(step) {
    const all = this.tree.visible(this.open);
    const at = all.indexOf(this.chosen);
    this.#go(all[Math.min(Math.max(at + step, 0), all.length - 1)]);
  }

  #go(id) {
    this.choose(id);
    this.view.bring(id);
  }
}

new Page(JSON.parse(document.getElementById("picture").textContent)).start();
