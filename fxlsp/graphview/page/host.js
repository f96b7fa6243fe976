"use strict";
// The page's host: an editor's webview, another page around it, or a browser by itself. All else is the same.
//
// To the editor:   {type: "ready"}, {type: "open", node, place: {file, line, column, endLine, endColumn, cell}},
//                  {type: "chosen", node, path}
// From the editor: {type: "reveal", node: "layer1_0_conv1"}, {type: "reveal", path: "layer1.0"} or
//                  {type: "reveal", place: {file, line, column}}
// Lines and columns count from 1, columns in code points.

class Host {
  constructor(picture) {
    this.files = picture.files;
    this.link = picture.link;
    this.editor = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : null;
    this.isInside = this.editor !== null || window.parent !== window;
  }

  send(message) {
    if (this.editor !== null) this.editor.postMessage(message);
    else if (this.isInside) window.parent.postMessage(message, "*");
  }

  /** Call `reveal` with each message that requests it. */
  listen(reveal) {
    window.addEventListener("message", ({ data }) => {
      if (data?.type === "reveal") reveal(data);
    });
  }

  /** Save the state that a newer page restores when an editor replaces this one. */
  keep(state) {
    this.editor?.setState(state);
  }

  /** The state that an earlier page saved; undefined if there was none. */
  get kept() {
    return this.editor?.getState();
  }

  open(node, place) {
    if (this.isInside) this.send({ type: "open", node, place: { ...place, file: this.files[place.file] } });
    else if (this.link) this.#follow(this.address(place));
  }

  /** The address that opens a location in an editor; "" if there is none. */
  address(place) {
    if (!this.link) return "";
    const path = this.files[place.file].replaceAll("\\", "/").replace(/^(?!\/)/, "/");
    const values = { file: path.split("/").map(encodeURIComponent).join("/"), line: place.line, column: place.column };
    return this.link.replace(/\{(file|line|column)\}/g, (_, name) => values[name]);
  }

  #follow(address) {
    const link = document.createElement("a");
    link.href = address;
    document.body.append(link);
    link.click();
    link.remove();
  }
}
