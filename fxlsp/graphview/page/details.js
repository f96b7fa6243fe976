"use strict";
// The panel beside the picture: the selected item, else the whole model, its problems, and the legend of the marks.

class Details {
  constructor(panel, tree, picture, host) {
    Object.assign(this, { panel, tree, picture, host });
  }

  show(id) {
    this.panel.innerHTML = id === null ? this.#overview() : this.#item(id);
    this.panel.scrollTop = 0;
  }

  #item(id) {
    const item = this.tree.items[id];
    const isBox = this.tree.isBox(id);
    const rows = [
      ["module path", isBox || item.path !== null ? code(item.path || "(root)") : "none"],
      ...(isBox ? [["class", code(item.kind)], ["nodes", item.count]] : [["node", code(item.name)], ["op", code(item.op)], ["target", code(item.target)]]),
      ["shapes", item.flow && code(item.flow)],
      ["parameters", item.params ? item.params.toLocaleString("en") : ""],
      ["FLOPs", item.flops === null ? "unknown" : item.flops ? `${item.flops.toLocaleString("en")}${item.share ? ` (${percent(item.share)})` : ""}` : ""],
      ["state", { recovered: "only in the recovering pass", opaque: "run whole: its forward could not be followed" }[item.state] ?? ""],
      [isBox ? "called" : "source", this.#place(id, item.place)],
      ["forward", this.#place(id, item.forward)],
      ["made", this.#place(id, item.made)],
    ];
    return (
      `<h2 class="mono">${escaped(item.title)}</h2><dl>${this.#rows(rows)}</dl>` +
      this.#problems(item.problems) +
      (isBox ? "" : this.#neighbours("takes", item.inputs) + this.#neighbours("goes to", this.#users(id)))
    );
  }

  #rows(rows) {
    return rows.filter(([, value]) => value).map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("");
  }

  #place(id, place) {
    if (!place) return "";
    const text = escaped(`${this.picture.files[place.file].split(/[\\/]/).at(-1)}:${place.line}`);
    const address = this.host.address(place);
    const tip = escaped(`${this.picture.files[place.file]}:${place.line}:${place.column}`);
    if (this.host.isInside) return `<button class="link mono" data-open="${id}" data-place='${escaped(JSON.stringify(place))}' title="${tip}">${text}</button>`;
    return address ? `<a class="mono" href="${escaped(address)}" title="${tip}">${text}</a>` : `<code title="${tip}">${text}</code>`;
  }

  #users(id) {
    return this.tree.edges.filter(([source]) => source === id).map(([, target]) => target);
  }

  #neighbours(title, ids) {
    const lines = [...new Set(ids)].slice(0, 20).map((id) => {
      const { name, shape } = this.tree.items[id];
      return `<li><button class="link mono" data-reveal="${id}">${escaped(name)}</button> <code>${escaped(shape)}</code></li>`;
    });
    return lines.length ? `<h3>${title}</h3><ul>${lines.join("")}</ul>` : "";
  }

  #overview() {
    const { title, facts, recipe, problems } = this.picture;
    return (
      `<h2 class="mono">${escaped(title)}</h2><p>${escaped(facts.join(" · "))}</p><p><code>${escaped(recipe)}</code></p>` +
      this.#problems([...problems.keys()], true) +
      LEGEND
    );
  }

  #problems(numbers, withPlaces = false) {
    const lines = numbers.map((number) => {
      const { code: name, severity, message, page, nodes, place } = this.picture.problems[number];
      const at = withPlaces && nodes.length ? ` <button class="link mono" data-reveal="${nodes[0]}">${escaped(this.tree.items[nodes[0]].name)}</button>` : "";
      const head = `<a href="${escaped(page)}">${escaped(name)}</a>${at} ${this.#place(nodes[0] ?? this.tree.root, place)}`;
      return `<li class="problem ${escaped(severity)}">${head}\n${escaped(message)}</li>`;
    });
    return lines.length ? `<h3>problems</h3><ul>${lines.join("")}</ul>` : "";
  }
}

function code(text) {
  return `<code>${escaped(text)}</code>`;
}

const LEGEND = (() => {
  const band = (op) =>
    `<svg class="graph" width="26" height="18"><g class="item node op-${op}"><rect class="shell" x="0.5" y="0.5" width="25" height="17" rx="4"/><rect class="band" x="0.5" y="0.5" width="5" height="17" rx="2"/></g></svg>`;
  const svg = (inside) => `<svg class="graph" width="26" height="18">${inside}</svg>`;
  const shell = '<rect class="shell" x="0.5" y="0.5" width="25" height="17" rx="4"/>';
  const rows = [
    ...["call_module", "call_function", "call_method", "get_attr"].map((op) => [band(op), code(op)]),
    [band("placeholder"), `${code("placeholder")}, ${code("output")}`],
    [svg('<rect class="behind" x="4" y="4" width="21" height="13" rx="3"/><rect class="shell" x="0.5" y="0.5" width="21" height="13" rx="3"/>'), "module, closed: a click opens it"],
    [svg(`${shell}<rect class="share" x="3" y="12" width="14" height="3"/>`), "share of the model's FLOPs"],
    [svg('<g class="badge error"><circle cx="13" cy="9" r="8"/><text x="13" y="13">!</text></g>'), "problem, or number of them"],
    [svg(`<g class="recovered">${shell}</g>`), "not in torch.fx's graph: recovered"],
  ];
  const keys = [
    ["/", "search"], ["↑ ↓", "along the edges"], ["← →", "before and after"], ["Enter", "open or close; source of a node"],
    ["o", "source"], ["e c", "open all, close all"], ["+ - 0", "zoom, fit"], ["Esc", "choose nothing"],
  ];
  return (
    `<h3>legend</h3><div class="legend">${rows.map(([mark, text]) => `${mark}<span>${text}</span>`).join("")}</div>` +
    `<h3>keys</h3><div class="legend">${keys.map(([key, text]) => `<kbd>${key}</kbd><span>${text}</span>`).join("")}</div>` +
    "<p>Drag or scroll to move, Ctrl and scroll to zoom.</p>"
  );
})();
