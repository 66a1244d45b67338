// Follows the events of the server: reads the regions marked data-live again, at most once a second.
import { morph } from "./morph.js";
import { clock, refreshTimes } from "./time.js";

const EVERY = 1000;
const SILENCE = 40000;
const PATIENCE = 30000;
const RETRY = 3000;

let leaving = null;
let heardAt = 0;
let readAt = 0;
let timer = null;
let reading = null;
let isStale = false;
let lostSince = null;
let databaseLostSince = null;
let outdated = null;
let unreadSince = null;
let unreadBecause = "";
let pausedSince = null;

const button = document.querySelector("[data-pause]");
const bar = document.querySelector("[data-lost]");
const heard = document.querySelector("[data-heard]");

function show() {
  const since = lostSince ?? databaseLostSince ?? unreadSince;
  button?.setAttribute("aria-pressed", String(pausedSince !== null));
  button?.classList.toggle("is-lost", since !== null && pausedSince === null);
  const text = document.querySelector("[data-pause-text]");
  if (text) text.textContent = pausedSince !== null ? "Paused" : since !== null ? "Lost" : "Live";
  if (pausedSince !== null) bar.textContent = `Paused since ${clock(pausedSince)}. The page shows the data of that time.`;
  else if (lostSince !== null) bar.textContent = `The dashboard has been unreachable since ${clock(lostSince)}. This page shows older data.`;
  else if (databaseLostSince !== null) bar.textContent = `The database has been unreachable since ${clock(databaseLostSince)}. This page shows older data.`;
  else if (unreadSince !== null) bar.textContent = `This page has not been updated since ${clock(unreadSince)}: ${unreadBecause}. It shows older data.`;
  else if (outdated !== null) bar.textContent = `This dashboard cannot change anything any more, and its data may be wrong: ${outdated}`;
  // A page that says nothing but that it cannot be read needs no bar for it.
  bar.hidden = (pausedSince === null && since === null && outdated === null) || document.querySelector("[data-recovers]") !== null;
}

function hear(event) {
  if (event.type === "cut" || event.type === "refused") {
    lostSince ??= Date.now();
    show();
    if (event.type === "refused") {
      refresh();
      setTimeout(reopen, 5000);
    }
    return;
  }
  heardAt = Date.now();
  if (lostSince !== null) lostSince = null;
  const fields = event.data ? JSON.parse(event.data) : {};
  if (event.type === "lost") databaseLostSince = Date.parse(fields.since);
  else if (event.type === "hello") databaseLostSince = fields.lost ? Date.parse(fields.lost) : null;
  else if (event.type === "found" || event.type === "change") databaseLostSince = null;
  if (event.type === "hello" || event.type === "schema") outdated = fields.outdated;
  if (event.type === "change" && heard) {
    heard.textContent = `last event ${clock(heardAt)}`;
    heard.hidden = false;
  }
  show();
  if (event.type === "change" || event.type === "found" || event.type === "hello") later();
}

function later() {
  if (timer !== null || pausedSince !== null) return;
  timer = setTimeout(() => {
    timer = null;
    refresh();
  }, Math.max(0, readAt + EVERY - Date.now()));
}

// Reads the regions within an element again; returns why they cannot be read, or nothing.
async function regions(address, within) {
  const live = [...within.querySelectorAll("[data-live][id]")];
  if (live.length === 0) return "";
  const answer = await fetch(address, {
    headers: { Accept: "text/html", "X-Catchment-Live": "1" },
    credentials: "same-origin",
    redirect: "manual",
    signal: reading.signal,
  });
  // Nobody is logged in any more, and the server or its host leads to the log-in: the browser goes there too.
  if (answer.type === "opaqueredirect" || answer.status === 401) {
    location.reload();
    return "nobody is logged in";
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok) return page.querySelector("h1")?.textContent.trim() || `status ${answer.status}`;
  if (pausedSince !== null) return "";
  for (const region of live) {
    const wanted = page.getElementById(region.id);
    if (wanted) morph(region, document.adoptNode(wanted));
  }
  if (within.id === "main") document.title = page.title;
  refreshTimes(within);
  document.dispatchEvent(new Event("regions-read"));
  return "";
}

export async function refresh() {
  if (pausedSince !== null || document.hidden) return;
  // What is being read may be from before the event that asks now.
  isStale = reading !== null;
  if (isStale) return;
  reading = new AbortController();
  readAt = Date.now();
  const limit = setTimeout(() => reading?.abort(new DOMException("no answer", "TimeoutError")), PATIENCE);
  try {
    let problem = await regions(location.href, document.getElementById("main"));
    const panel = document.querySelector("[data-panel]:not([hidden])");
    if (panel?.dataset.address) problem = (await regions(panel.dataset.address, panel)) || problem;
    unreadSince = problem ? unreadSince ?? readAt : null;
    unreadBecause = problem;
  } catch (error) {
    if (error.name !== "AbortError") {
      unreadSince ??= readAt;
      unreadBecause = "there is no answer";
    }
  } finally {
    clearTimeout(limit);
    reading = null;
  }
  show();
  if (isStale) later();
}

// Pages of one browser share a stream, because a browser has six connections to a server: the page with the lock
// listens and tells the others. Without locks, which browsers have at https and loopback addresses, each page listens.
function open(isAlone = false) {
  // From now on: a stream that nothing comes through from the start is lost too.
  heardAt = Date.now();
  leaving = new AbortController();
  const { signal } = leaving;
  const ended = new Promise((resolve) => signal.addEventListener("abort", resolve));
  const name = `catchment ${document.body.dataset.follow}`;
  const others = new BroadcastChannel(name);
  others.addEventListener("message", (message) => hear(message.data));
  ended.then(() => others.close());
  const listen = () => {
    const source = listenFor((event) => {
      hear(event);
      if (!signal.aborted) others.postMessage(event);
    });
    return ended.then(() => source.close());
  };
  if (isAlone || !navigator.locks) listen();
  else share(name, signal, listen).catch(() => {});
}

async function share(name, signal, listen) {
  await navigator.locks.request(name, { ifAvailable: true }, (lock) => lock && listen());
  if (signal.aborted) return;
  // Another page listens. It does not repeat what happened before this one was opened.
  later();
  await navigator.locks.request(name, { signal }, listen);
}

function listenFor(tell) {
  const source = new EventSource(document.body.dataset.follow);
  for (const type of ["hello", "change", "lost", "found", "schema", "beat"]) source.addEventListener(type, ({ data }) => tell({ type, data }));
  // A browser gives up on an answer that is no stream: the session is over, or a proxy is in between.
  source.addEventListener("error", () => tell({ type: source.readyState === EventSource.CLOSED ? "refused" : "cut" }));
  return source;
}

function close() {
  leaving?.abort();
  leaving = null;
}

function reopen(isAlone = false) {
  close();
  if (pausedSince === null && !document.hidden) open(isAlone);
}

export function togglePause() {
  if (pausedSince === null) {
    pausedSince = Date.now();
    clearTimeout(timer);
    timer = null;
    reading?.abort();
    close();
  } else {
    pausedSince = null;
    lostSince = null;
    open();
  }
  show();
}

// A page that could not be read is loaded again as soon as it can be.
function recover() {
  if (!document.querySelector("[data-recovers]")) return;
  setInterval(async () => {
    if (document.hidden) return;
    try {
      const signal = AbortSignal.timeout(PATIENCE);
      const answer = await fetch(location.href, { headers: { "X-Catchment-Live": "1" }, redirect: "manual", signal });
      if (answer.ok || answer.type === "opaqueredirect") location.reload();
    } catch {
      // Not yet.
    }
  }, RETRY);
}

export function follow() {
  recover();
  if (!document.body.dataset.follow || !bar) return;
  button?.addEventListener("click", togglePause);
  open();
  // A page that nobody sees holds no connection; when it is seen again it reads everything.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else if (leaving === null) reopen();
  });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => event.persisted && reopen());
  // What changes without an event, such as ages and memory, is read periodically.
  setInterval(() => {
    const every = document.querySelector("#main [data-live][data-every]")?.dataset.every;
    if (every && leaving && Date.now() - readAt >= 1000 * Number(every)) later();
  }, 1000);
  setInterval(() => {
    if (leaving && Date.now() - heardAt > SILENCE) {
      lostSince ??= heardAt;
      show();
      // The page that listens may hang.
      reopen(true);
    }
  }, 5000);
}
