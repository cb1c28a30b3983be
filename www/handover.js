// What the page hands over, pictures, tables and files, and the way to the simulator's own module, which runs apart in a
// worker: it makes the digits of reports and reads logs. Loaded when the first of them is asked for.

import { draw } from "./svg.js";

/** Hands a file to the browser to be saved. */
export function save(name, content) {
  const type = { csv: "text/csv", json: "application/json", svg: "image/svg+xml", toml: "application/toml" }[name.split(".").pop()];
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Pixels of an SVG, at the screen's resolution and at least twice its size. */
function pixels({ svg, width, height }) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => {
      const scale = Math.max(2, devicePixelRatio);
      const canvas = document.createElement("canvas");
      canvas.width = width * scale;
      canvas.height = height * scale;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))));
    };
    image.onerror = () => reject(new Error("no picture"));
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
}

/** Saves the parts of the page that `selectors` name, as `NAME.svg` or `NAME.png`. `paint(name, context)` paints
 *  the canvas of that name; it is called before this returns. */
export function picture(name, selectors, title, about, paint) {
  const drawn = draw([...document.querySelectorAll(selectors)], title, about, paint);
  if (name.endsWith(".svg")) return Promise.resolve(save(name, drawn.svg));
  return pixels(drawn).then((blob) => save(name, blob));
}

/** Prints the page with a report below it; `words` are the heads of its columns. */
export function print(report, words) {
  const { classes, seed, engine, trace_hash } = JSON.parse(report);
  const number = (value) => (value == null ? "–" : Number(value.toPrecision(4)).toLocaleString(document.documentElement.lang));
  const table = document.createElement("table");
  const row = (kind, cells) => {
    const tr = table.insertRow();
    for (const text of cells) tr.append(Object.assign(document.createElement(kind), { textContent: text }));
  };
  row("th", words.split("|"));
  for (const { name, arrived, completed, shed, failed, goodput_per_s, wait_s } of classes) {
    const turned_away = Object.values(shed).reduce((sum, n) => sum + n, 0);
    row("td", [name, ...[arrived, completed, turned_away, failed, goodput_per_s, wait_s.mean, wait_s.p99].map(number)]);
  }
  const source = Object.assign(document.createElement("p"), { textContent: `seed ${seed} · engine ${engine} · ${trace_hash}` });
  document.getElementById("paper").replaceChildren(table, source);
  window.print();
}

let worker;
const waiting = new Map();
let asked = 0;

function start() {
  worker = new Worker(new URL("./module/run.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data: { id, done, failed } }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    failed ? reject(Object.assign(new Error(failed.message), failed)) : resolve(done);
    // A log may have been large, and the memory of a module never shrinks.
    if (done?.rows && !waiting.size) end();
  };
  worker.onerror = () => {
    waiting.forEach(({ reject }) => reject(new Error("module/run.js")));
    waiting.clear();
    end();
  };
}

function end() {
  worker.terminate();
  worker = undefined;
}

/** Has the module do `what` (see module/run.js) with a scenario or text, and a log if the run plays one. */
export function make(what, text, file) {
  if (!worker) start();
  return new Promise((resolve, reject) => {
    waiting.set(++asked, { resolve, reject });
    worker.postMessage({ id: asked, what, text, file });
  });
}
