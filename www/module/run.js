// Runs the simulator's module apart from the page, so that nothing stands still while a long run is summed up.

import init, * as tidegate from "./tidegate.js";

const ready = init();

/** A whole run of a scenario. */
function run(text, recorded, sum) {
  const simulation = new tidegate.Simulation(text, { recorded, asPlayground: true });
  try { return sum(simulation); } finally { simulation.free(); }
}

const WORK = {
  json: (text, recorded) => run(text, recorded, (simulation) => simulation.reportJson()),
  csv: (text, recorded) => run(text, recorded, (simulation) => simulation.reportCsv()),
  toml: (text) => tidegate.toToml(text),
  qr: (text) => {
    const code = tidegate.qrPath(text);
    return code ? `${code.side} ${code.path}` : "";
  },
};

onmessage = async ({ data: { id, what, text, recorded } }) => {
  try {
    await ready;
    postMessage({ id, done: WORK[what](text, recorded) });
  } catch ({ message, path, rule, value }) {
    postMessage({ id, failed: { message, path, rule, value } });
  }
};
