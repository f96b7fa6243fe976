"use strict";
// elkjs without a worker: in an embedded engine, or where a page may start none.

/** @returns a function that lays out one graph, a promise of it. */
function elkInPlace(Worker) {
  const worker = new Worker();
  const ask = (message) =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => (data.error ? reject(data.error) : resolve(data.data));
      worker.dispatcher.saveDispatch({ data: { id: 0, ...message } });
    });
  ask({ cmd: "register", algorithms: ["layered"] });
  return (graph) => ask({ cmd: "layout", graph });
}
