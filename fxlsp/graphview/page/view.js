"use strict";
// The visible part of the picture: moved by its transform. Only items near the window are in the document.

const SMALLEST = 0.03;
const LARGEST = 3;

// Milliseconds without a movement.
const REST = 200;

class View {
  constructor(canvas) {
    this.canvas = canvas;
    canvas.innerHTML = `<defs>${ARROW}</defs><g class="world"><g></g><g></g><g></g><g></g></g>`;
    this.world = canvas.lastElementChild;
    [this.frames, this.edges, this.headers, this.items] = this.world.children;
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.entries = [];
    this.shown = new Map();
    this.covered = null;
    this.isDue = false;
    this.onRest = () => {};
    new ResizeObserver(() => this.#moved()).observe(canvas);
    this.#listen();
  }

  /** Shows a scene. `classesOf` returns the classes that mark an item or an edge. */
  show(scene, drawing, classesOf) {
    this.scene = scene;
    this.drawing = drawing;
    this.classesOf = classesOf;
    this.places = new Map([...scene.frames, ...scene.items].map((placed) => [placed.id, placed]));
    this.entries = [
      ...scene.frames.map((placed) => this.#entry(this.frames, placed, (classes) => drawing.frame(placed, classes), placed.id)),
      ...scene.edges.map((edge) => this.#entry(this.edges, extent(edge.points), (classes) => drawing.edge(edge, classes), edge)),
      ...scene.frames.map((placed) => this.#entry(this.headers, { ...placed, height: HEADER }, (classes) => drawing.header(placed, classes), placed.id)),
      ...scene.items.map((placed) => this.#entry(this.items, placed, (classes) => drawing.item(placed, classes), placed.id)),
    ];
    this.#reuse();
    this.covered = null;
    this.#moved();
  }

  #entry(layer, { x, y, width, height }, markup, subject) {
    return { layer, x, y, width, height, markup, subject, classes: "" };
  }

  /** Items that only changed position are moved: to create them again takes longer than a layout. */
  #reuse() {
    const key = ({ layer, subject, width, height, classes }) =>
      [[...this.world.children].indexOf(layer), subject, width, height, classes].join();
    const before = new Map();
    for (const [entry, element] of this.shown) {
      if (typeof entry.subject === "number") before.set(key(entry), element);
      else element.remove();
    }
    this.shown.clear();
    for (const entry of this.entries) {
      const classes = typeof entry.subject === "number" ? this.classesOf(entry.subject) : "";
      const element = before.get(key({ ...entry, classes }));
      if (element === undefined) continue;
      element.setAttribute("transform", placeOf(entry));
      entry.classes = classes;
      this.shown.set(entry, element);
      before.delete(key(entry));
    }
    for (const element of before.values()) element.remove();
  }

  /** Redraw the items whose marks changed. */
  remark() {
    for (const [entry, element] of this.shown) {
      if (this.classesOf(entry.subject) === entry.classes) continue;
      element.insertAdjacentHTML("afterend", this.#markup(entry));
      this.shown.set(entry, element.nextElementSibling);
      element.remove();
    }
  }

  #markup(entry) {
    entry.classes = this.classesOf(entry.subject);
    return entry.markup(entry.classes);
  }

  get size() {
    return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  /** Move so that the whole picture is readable, else its upper part. */
  fit(smallest = SMALLEST) {
    const { width, height } = this.size;
    const whole = Math.min(width / (this.scene.width + 40), height / (this.scene.height + 40), 1.2);
    this.scale = Math.max(whole, smallest);
    this.left = (width - this.scene.width * this.scale) / 2;
    this.top = Math.max((height - this.scene.height * this.scale) / 2, 20);
    this.#moved();
  }

  get position() {
    return { scale: this.scale, left: this.left, top: this.top };
  }

  /** Moves to an earlier `position`. */
  put({ scale, left, top }) {
    Object.assign(this, { scale, left, top });
    this.#moved();
  }

  /** Moves an item into the middle, large enough to be read. */
  centre(id) {
    const { x, y, width, height } = this.places.get(id);
    this.scale = Math.max(this.scale, 0.8);
    this.left = this.size.width / 2 - (x + width / 2) * this.scale;
    this.top = this.size.height / 2 - (y + Math.min(height, 300) / 2) * this.scale;
    this.#moved();
  }

  /** Moves only if an item is not in the window. */
  bring(id) {
    const { x, y, width, height } = this.places.get(id);
    if (!holds(this.#window(0), { x, y, width, height })) this.centre(id);
  }

  /** Where the corner of an item is in the window. */
  corner(id) {
    const { x, y } = this.places.get(id);
    return [x * this.scale + this.left, y * this.scale + this.top];
  }

  /** Moves the corner of an item to where it was before the scene changed. */
  keep(id, [left, top]) {
    const { x, y } = this.places.get(id);
    this.left = left - x * this.scale;
    this.top = top - y * this.scale;
    this.#moved();
  }

  pan(right, down) {
    this.left += right;
    this.top += down;
    this.#moved();
  }

  zoom(factor, x = this.size.width / 2, y = this.size.height / 2) {
    const scale = Math.min(Math.max(this.scale * factor, SMALLEST), LARGEST);
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    this.#moved();
  }

  /** Draw once a frame, however often the view moves. */
  #moved() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.#draw();
    });
  }

  #draw() {
    this.world.setAttribute("transform", `translate(${this.left} ${this.top}) scale(${this.scale})`);
    this.canvas.classList.toggle("small", this.scale < 0.45);
    this.canvas.classList.toggle("tiny", this.scale < 0.2);
    if (!this.covered || !holds(this.covered, this.#window(0))) this.#cover(this.#window(0.6));
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.onRest(), REST);
  }

  /** The part of the picture in the window, with a margin of so many widths and heights of it. */
  #window(around) {
    const { width, height } = this.size;
    return {
      x: (-this.left - around * width) / this.scale,
      y: (-this.top - around * height) / this.scale,
      width: (width * (1 + 2 * around)) / this.scale,
      height: (height * (1 + 2 * around)) / this.scale,
    };
  }

  #cover(area) {
    this.covered = area;
    const added = new Map([...this.world.children].map((layer) => [layer, []]));
    for (const entry of this.entries) {
      const isNear = meets(entry, area);
      if (isNear && !this.shown.has(entry)) added.get(entry.layer).push(entry);
      if (!isNear && this.shown.has(entry)) {
        this.shown.get(entry).remove();
        this.shown.delete(entry);
      }
    }
    for (const [layer, entries] of added) {
      const known = layer.childElementCount;
      layer.insertAdjacentHTML("beforeend", entries.map((entry) => this.#markup(entry)).join(""));
      entries.forEach((entry, number) => this.shown.set(entry, layer.children[known + number]));
    }
  }

  #listen() {
    const { canvas } = this;
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button === 0) held = { x: event.clientX, y: event.clientY, hasMoved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (held === null) return;
      const [right, down] = [event.clientX - held.x, event.clientY - held.y];
      if (!held.hasMoved && Math.hypot(right, down) < 4) return;
      if (!held.hasMoved) canvas.setPointerCapture(event.pointerId);
      canvas.classList.add("moving");
      held = { x: event.clientX, y: event.clientY, hasMoved: true };
      this.pan(right, down);
    });
    const release = () => {
      // The click that follows belongs to the movement, not to what lies under it.
      if (held?.hasMoved) canvas.addEventListener("click", (event) => event.stopImmediatePropagation(), { capture: true, once: true });
      canvas.classList.remove("moving");
      held = null;
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  #wheel(event) {
    event.preventDefault();
    const { left, top } = this.canvas.getBoundingClientRect();
    // Pinching arrives as a wheel with Ctrl held.
    if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(-event.deltaY / 200), event.clientX - left, event.clientY - top);
    else this.pan(event.shiftKey ? -event.deltaY : -event.deltaX, event.shiftKey ? 0 : -event.deltaY);
  }
}

function extent(points) {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

function meets(one, other) {
  return one.x <= other.x + other.width && other.x <= one.x + one.width && one.y <= other.y + other.height && other.y <= one.y + one.height;
}

function holds(outer, inner) {
  return (
    outer.x <= inner.x && outer.y <= inner.y && outer.x + outer.width >= inner.x + inner.width && outer.y + outer.height >= inner.y + inner.height
  );
}
