// Starts the page: settles theme and language before the first paint, then loads the program.
// Everything else is Rust; see web/src.

const asked = new URLSearchParams(location.hash.slice(1).replace(/^t[^&]*/, ""));
// An embedded page keeps nothing in the browser and reads nothing that was kept.
const embedded = asked.get("embed") === "1";
const kept = (key) => { try { return embedded ? null : localStorage.getItem(key); } catch { return null; } };

const theme = asked.get("theme") || kept("tidegate.theme") || "system";
const dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.dataset.theme = dark ? "dark" : "light";

const language = asked.get("lang") ?? kept("tidegate.lang") ?? navigator.language ?? "en";
const chinese = language.toLowerCase().startsWith("zh");
document.documentElement.lang = chinese ? "zh-Hans" : "en";

const say = (title, text) => {
  document.getElementById("boot-title").textContent = title;
  document.getElementById("boot-text").textContent = text;
};
if (chinese) say("正在载入模拟器", "约半兆字节，仅此一次，之后断网也能用。你在这里做的一切都不会离开本浏览器。");
if (embedded) {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = "embed.css";
  document.head.append(style);
}

// What the program loads when somebody asks for it.
globalThis.tidegate = {
  handover: () => import("./handover.js"),
  chinese: () => file("./pkg/zh.txt"),
  presets: () => file("./pkg/presets.txt"),
  // The second part of the program was called and cannot be had: the program stands still in the middle of something.
  lacking: (reason) => {
    const note = document.createElement("div");
    note.className = "boot lacking";
    note.setAttribute("role", "alertdialog");
    note.innerHTML = '<div><h1 id="boot-title"></h1><p id="boot-text"></p><button class="button"></button></div>';
    document.body.append(note);
    say(chinese ? "程序的一部分未能载入" : "A part of the program could not be loaded",
      chinese ? `网络恢复后请重新载入；地址栏里的链接保存着当前的场景。(${reason.message})`
        : `Reload when the network is back; the address keeps the scenario. (${reason.message})`);
    const again = note.querySelector("button");
    again.textContent = chinese ? "重新载入" : "Reload";
    again.addEventListener("click", () => location.reload());
    again.focus();
  },
};
/** A file of texts, empty if it cannot be had. That of another version is of no use, so the server is asked. */
const file = (name) => fetch(new URL(name, import.meta.url), { cache: "no-cache" })
  .then((answer) => (answer.ok ? answer.text() : "")).catch(() => "");
const texts = chinese ? tidegate.chinese() : "";
// What leads to the second part of the program.
const LEADS_ON = "[role=tab]:not([aria-selected=true]), [type=radio], .lane, .onto, .whyopen, .look button, #as-text, #serve, #read-as-table";
const named = `${asked.get("preset") ?? "flash-crowd"} ${asked.get("b") ?? ""}`;
// All but the first built-in scenario are in a file. The page around a frame may ask for any of them and go on: with the file
// here, what it asks for is done in its order.
const usual = !embedded && /^flash-crowd (?!preset\.)/.test(named);
const presets = usual ? "" : tidegate.presets();

try {
  if (typeof WebAssembly !== "object") throw new Error("no WebAssembly");
  const { default: init, run_app, fetch_later, load_later } = await import("./pkg/tidegate_web.js");
  // The second part of the program: other modes, other policies, what explains and finds. An address may ask for it at once,
  // and whoever goes towards what is in it wants it soon. If it cannot be had now, the first call that needs it asks once more,
  // and says so.
  const more = () => load_later().catch(() => {});
  const whole = !usual || ["mode", "b", "cmp", "tour"].some((key) => asked.has(key));
  if (whole) fetch_later().catch(() => {});
  await init({ module_or_path: new URL("./pkg/tidegate_web_bg.wasm", import.meta.url) });
  if (whole) await more();
  run_app(await texts, await presets);
  const towards = ({ type, target }) => (type === "dragenter" || target.closest?.(LEADS_ON)) && more();
  for (const sign of ["pointerover", "focusin", "dragenter"]) addEventListener(sign, towards, { capture: true, passive: true });
} catch (reason) {
  document.getElementById("boot-meter")?.remove();
  const lacking = typeof WebAssembly !== "object";
  if (document.getElementById("boot-title")) {
    if (lacking) {
      say(chinese ? "此浏览器无法运行 WebAssembly" : "This browser cannot run WebAssembly",
        chinese ? "不用浏览器也能使用本机服务器：tidegate serve。" : "The native server works without it: tidegate serve.");
    } else {
      say(chinese ? "模拟器未能启动" : "The simulator did not start", String(reason));
    }
  }
  throw reason;
}

// From now on without a network, too; `none`, so that a new version is noticed in the list it imports. A browser that
// allows no such thing (plain HTTP, private windows) goes without.
if (!embedded) navigator.serviceWorker?.register("./sw.js", { updateViaCache: "none" }).catch(() => {});
