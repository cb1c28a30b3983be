// The simulation worker. The page hands over the compiled module, so nothing is fetched or compiled twice.

import init, { run_worker } from "./pkg/tidegate_web.js";

self.onmessage = async ({ data }) => {
  self.onmessage = null;
  try {
    await init({ module_or_path: data });
    run_worker();
  } catch (reason) {
    // A rejected promise does not reach the page's `worker.onerror`; an error thrown from a task does.
    setTimeout(() => { throw reason; });
  }
};
