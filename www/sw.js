// Keeps the page for when there is no network. One cache a version; `pkg/version.js` names the version, made of all
// files, and the files the page consists of. Only those are answered from the cache, and what is loaded on request once
// it was: never /events, never another origin, nothing outside the folder this file is in.

importScripts("./pkg/version.js");
const { version, files } = self.tidegate;

// Caches belong to the whole origin; the scope keeps ours apart from those of a page in another folder.
const OURS = `tidegate ${registration.scope} `;
const CACHE = OURS + version;
const HOME = new URL("./", location).pathname;
const ON_REQUEST = /^(module|scenarios)\//;
/** So long the network has to say which version is there; then what is kept will do. */
const PATIENCE_MS = 1500;

const fresh = (name, rest) => fetch(new URL(name, location), { cache: "no-store", ...rest });
const announced = async (rest) => (await fresh("pkg/version.js", rest)).text();

async function install() {
  const cache = await caches.open(CACHE);
  await cache.addAll(files.map((name) => new Request(new URL(name, location), { cache: "no-cache" })));
  // A new version laid out meanwhile would leave us with some files of each.
  if (!(await announced()).includes(version)) throw new Error("another version came");
  await skipWaiting();
}

async function activate() {
  for (const name of await caches.keys()) {
    if (name.startsWith(OURS) && name !== CACHE) await caches.delete(name);
  }
  await clients.claim();
}

/** The page itself. The network is asked for the version only, which is one small file: what is kept is at hand at
 *  once, and a new version is there at the next load. */
async function page(request) {
  const kept = await caches.match(HOME, { cacheName: CACHE });
  if (!kept) return fetch(request);
  try {
    if ((await announced({ signal: AbortSignal.timeout(PATIENCE_MS) })).includes(version)) return kept;
  } catch {
    return kept; // no network
  }
  // Another version, or another site at the same address: all that is kept is of no use.
  await caches.delete(CACHE);
  registration.update().catch(() => {});
  return fetch(request);
}

async function file(request, keep) {
  const kept = await caches.match(request, { cacheName: CACHE, ignoreSearch: true });
  if (kept) return kept;
  const answer = await fetch(request);
  if (keep && answer.ok && (await caches.has(CACHE))) {
    const cache = await caches.open(CACHE);
    await cache.put(request, answer.clone());
  }
  return answer;
}

addEventListener("install", (event) => event.waitUntil(install()));
addEventListener("activate", (event) => event.waitUntil(activate()));
addEventListener("fetch", (event) => {
  const { request } = event, { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || !pathname.startsWith(HOME)) return;
  const name = pathname.slice(HOME.length);
  if (request.mode === "navigate") {
    if (name === "" || name === "index.html") event.respondWith(page(request));
  } else if (files.includes(name) || ON_REQUEST.test(name)) {
    event.respondWith(file(request, ON_REQUEST.test(name)));
  }
});
