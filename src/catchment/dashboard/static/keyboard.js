// Keys: j and k move, Enter opens, x selects, Escape closes, / searches, p pauses, g and a letter goes to a screen.
import { togglePause } from "./live.js";
import { openPalette } from "./palette.js";
import { closePanel, openPanel } from "./panel.js";
import { toggleSelected } from "./selection.js";

let isGoing = false;

function rows() {
  return [...document.querySelectorAll("main [data-rows] tbody tr")];
}

function move(step) {
  const all = rows();
  if (all.length === 0) return;
  const at = all.findIndex((row) => row.classList.contains("is-current"));
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + step))];
  all[at]?.classList.remove("is-current");
  next.classList.add("is-current");
  next.scrollIntoView({ block: "nearest" });
  const panel = document.querySelector("[data-panel]:not([hidden])");
  if (panel && next.dataset.open) openPanel(next.dataset.open, next);
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  x: toggleSelected,
  p: togglePause,
  g: () => {
    isGoing = true;
    setTimeout(() => (isGoing = false), 1500);
  },
  "/": () => document.querySelector("[data-search], .filters input")?.focus(),
  Enter: () => {
    const row = document.querySelector("tr.is-current");
    const address = row?.dataset.open ?? row?.querySelector("a")?.href;
    if (row?.dataset.open) openPanel(address, row);
    else if (address) location.href = address;
  },
};

export function startKeyboard() {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape" && closePanel()) return;
    if (event.target.closest("input:not([data-select], [data-select-all]), select, textarea")) return;
    if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
    if (isGoing) {
      isGoing = false;
      const link = document.querySelector(`[data-screen][data-key="${CSS.escape(event.key)}"]`);
      if (link) {
        event.preventDefault();
        link.click();
        return;
      }
    }
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
