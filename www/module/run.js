// Runs the simulator's module apart from the page, so that nothing stands still while a long run is summed up.

import init, * as tidegate from "./tidegate.js";

let ready;
/** The module, fetched once; a failure is not for ever. */
const load = () => (ready ??= init().catch((reason) => {
  ready = undefined;
  throw reason;
}));

/** A whole run of a scenario. */
function run(text, recorded, sum) {
  const simulation = new tidegate.Simulation(text, { recorded, asPlayground: true });
  try { return sum(simulation); } finally { simulation.free(); }
}

const WORK = {
  json: (text, recorded) => run(text, recorded, (simulation) => simulation.reportJson()),
  csv: (text, recorded) => run(text, recorded, (simulation) => simulation.reportCsv()),
  log: (_, recorded) => {
    const { flat, ...about } = tidegate.readTrace(recorded, { asPlayground: true });
    return { about: JSON.stringify(about), rows: flat.buffer };
  },
  toml: (text) => tidegate.toToml(text),
  qr: (text) => {
    const code = tidegate.qrPath(text);
    return code ? `${code.side} ${code.path}` : "";
  },
};

onmessage = async ({ data: { id, what, text, file } }) => {
  try {
    await load();
    const done = WORK[what](text, file && new Uint8Array(await file.arrayBuffer()));
    postMessage({ id, done }, done.rows ? [done.rows] : []);
  } catch ({ message, path, rule, value }) {
    postMessage({ id, failed: { message, path, rule, value } });
  }
};
