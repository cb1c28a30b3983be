/** What is put behind the page's JavaScript: it loads the second part of the program (see `split.rs`), under the name `NAME`. */
const LATER = new URL("./NAME_later.wasm", import.meta.url);
let linked = false, bytes, coming;
/** As it is instantiated, the second part puts its functions where the stand-ins are. */
const link = (module) => {
  if (!linked) new WebAssembly.Instance(module, { "": wasm });
  linked = true;
};
/** Not from the browser's own cache without asking: it has to be the other half of this very program. */
const read = async () => {
  const answer = await fetch(LATER, { cache: "no-cache" });
  if (!answer.ok) throw new Error(`${LATER}: ${answer.status}`);
  return answer.arrayBuffer();
};
/** Begins to load it. */
export const fetch_later = () => (bytes ??= read());
/** Makes it part of the program, from `given` bytes where they are at hand. */
export function load_later(given) {
  coming ??= (async () => link(await WebAssembly.compile(await (given ?? fetch_later()))))();
  coming.catch(() => { bytes = coming = undefined; });
  return coming;
}
/**
 * The same for a call that needs it at once, and has to wait: it must return something. Bytes come as text, as a page may ask
 * for nothing else in this way. Which function is called is said by number: the build writes a list of them.
 */
function load_now(place) {
  try {
    const request = new XMLHttpRequest();
    request.open("GET", LATER, false);
    request.overrideMimeType("text/plain; charset=x-user-defined");
    request.send();
    if (request.status !== 200) throw new Error(`${LATER}: ${request.status}, for ${place}`);
    link(new WebAssembly.Module(Uint8Array.from(request.responseText, (c) => c.charCodeAt(0))));
  } catch (reason) {
    globalThis.tidegate?.lacking?.(reason);
    throw reason;
  }
}
/** What stands in for its functions until it is there, by their places in the table. */
const stand_ins = new Proxy({}, {
  get: (_, place) => (...given) => {
    if (!linked) load_now(place);
    return wasm.later.get(+place)(...given);
  },
});
