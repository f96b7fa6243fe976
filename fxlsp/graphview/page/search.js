"use strict";
// Finds nodes and modules by path, name, op, what is called, and shape; all words have to be there.

const MOST_MATCHES = 60;

class Search {
  /** @param onChange is called with the ids that match; @param onPick with the one that is chosen. */
  constructor(input, list, tree, { onChange, onPick }) {
    Object.assign(this, { input, list, tree, onChange, onPick, matches: [], at: 0 });
    this.texts = tree.items.map((item) =>
      [item.path, item.name, item.title, item.kind, item.op, item.target, item.shape, item.shape.replaceAll(" ", "")]
        .filter(Boolean)
        .join(" ")
        .toLowerCase(),
    );
    input.addEventListener("input", () => this.#look());
    input.addEventListener("keydown", (event) => this.#key(event));
    input.addEventListener("blur", () => this.#open(false));
    input.addEventListener("focus", () => this.input.value && this.#look());
    // Before the input loses the focus, and with it the list.
    list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const line = event.target.closest("[data-at]");
      if (line) this.#pick(Number(line.dataset.at));
    });
  }

  find(text) {
    // A shape is one word, however it is spaced.
    const words = text.toLowerCase().replace(/,\s+/g, ",").split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const order = [...this.texts.keys()].filter((id) => id !== this.tree.root);
    return order.filter((id) => words.every((word) => this.texts[id].includes(word)));
  }

  #look() {
    this.matches = this.find(this.input.value);
    this.at = 0;
    this.#draw();
    this.#open(this.input.value.trim() !== "");
    this.onChange(this.matches);
  }

  #open(isOpen) {
    this.list.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", isOpen);
  }

  #draw() {
    const lines = this.matches.slice(0, MOST_MATCHES).map((id, at) => {
      const item = this.tree.items[id];
      const where = escaped(item.name || item.path || item.title);
      const what = escaped([item.kind, item.shape].filter(Boolean).join("  "));
      return `<li role="option" data-at="${at}" aria-selected="${at === this.at}"><code class="where">${where}</code><code class="what">${what}</code></li>`;
    });
    const rest = this.matches.length - MOST_MATCHES;
    if (rest > 0) lines.push(`<li class="none">${rest} more</li>`);
    this.list.innerHTML = lines.join("") || '<li class="none">nothing found</li>';
    this.list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const count = Math.min(this.matches.length, MOST_MATCHES);
    if (step && count) {
      this.at = (this.at + step + count) % count;
      this.#draw();
    } else if (event.key === "Enter" && count) {
      this.#pick(this.at);
    } else if (event.key === "Escape") {
      this.input.value = "";
      this.#look();
      this.input.blur();
    } else return;
    event.preventDefault();
  }

  #pick(at) {
    this.at = at;
    this.#draw();
    this.#open(false);
    this.onPick(this.matches[at]);
  }
}
