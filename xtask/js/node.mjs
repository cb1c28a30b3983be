// Runs the page's module in Node: one line of JSON for each preset named on the command line (all if none is).
import { readFileSync } from "node:fs";
import * as tidegate from "./pkg/tidegate_web.js";

tidegate.initSync({ module: readFileSync(new URL("./pkg/tidegate_web_bg.wasm", import.meta.url)) });
const [call, ...args] = process.argv.slice(2);
process.stdout.write(tidegate[call](...args));
