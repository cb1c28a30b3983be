// Loads the page's module, and the one for programs, in Node and runs the body of an async function on them as `tidegate`
// and `programs`; prints the string that it returns. Arguments: the body, then what it sees as `args`.
import { readFileSync } from "node:fs";
import * as tidegate from "./pkg/tidegate_web.js";
import * as programs from "./module/tidegate.js";

tidegate.initSync({ module: readFileSync(new URL("./pkg/tidegate_web_bg.wasm", import.meta.url)) });
// What the second part of the page has is asked for too early here, too, and Node has no way to wait for a file.
await tidegate.load_later(readFileSync(new URL("./pkg/tidegate_web_later.wasm", import.meta.url)));
programs.initSync({ module: readFileSync(new URL("./module/tidegate_bg.wasm", import.meta.url)) });
const AsyncFunction = (async () => {}).constructor;
const [body, ...args] = process.argv.slice(2);
process.stdout.write(await new AsyncFunction("tidegate", "programs", "args", body)(tidegate, programs, args));
