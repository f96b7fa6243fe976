"use strict";
// elkjs in a worker, so that the page moves while a layout is made.

/** @returns a function that lays out one graph, a promise of it. */
function startElk(text) {
  let worker;
  try {
    worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  } catch {
    return elkInPage(text);
  }
  const waiting = new Map();
  let last = 0;
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) reject(data.error);
    else resolve(data.data);
  };
  worker.onerror = (error) => waiting.forEach(({ reject }) => reject(error));
  const ask = (message) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      worker.postMessage({ id: last, ...message });
    });
  ask({ cmd: "register", algorithms: ["layered"] });
  return (graph) => ask({ cmd: "layout", graph });
}

/** Where a page may start no worker: some previews forbid it. */
function elkInPage(text) {
  window.module = { exports: {} };
  window.exports = window.module.exports;
  const script = document.createElement("script");
  script.textContent = text;
  document.head.append(script);
  return elkInPlace(window.module.exports.Worker);
}
