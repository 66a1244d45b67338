// Opens a task beside the list, so that the list stays. A link with a modifier key opens as always.
import { refreshTimes } from "./time.js";

const panel = document.querySelector("[data-panel]");
let opener = null;

// The stylesheets that the page of the panel has and this one lacks.
function takeStyles(page) {
  for (const link of page.querySelectorAll('link[rel="stylesheet"]')) {
    const href = link.getAttribute("href");
    if (![...document.querySelectorAll('link[rel="stylesheet"]')].some((own) => own.getAttribute("href") === href)) {
      const added = document.createElement("link");
      added.rel = "stylesheet";
      added.href = href;
      document.head.append(added);
    }
  }
}

export async function openPanel(address, from) {
  if (!panel || innerWidth <= 700) {
    location.href = address;
    return;
  }
  const answer = await fetch(address, { credentials: "same-origin" });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const detail = page.querySelector("[data-detail]") ?? page.querySelector("main > *");
  if (!answer.ok && !detail) return;
  opener = from ?? document.activeElement;
  takeStyles(page);
  const close = document.createElement("button");
  close.type = "button";
  close.className = "quiet close";
  close.textContent = "Close";
  close.addEventListener("click", closePanel);
  const whole = document.createElement("a");
  whole.href = address;
  whole.textContent = "Open as a page";
  const bar = document.createElement("p");
  bar.className = "bar";
  bar.append(whole, close);
  panel.replaceChildren(bar, document.adoptNode(detail));
  panel.dataset.address = address;
  panel.hidden = false;
  panel.scrollTop = 0;
  refreshTimes(panel);
  close.focus({ preventScroll: true });
}

export function closePanel() {
  if (!panel || panel.hidden) return false;
  panel.hidden = true;
  panel.replaceChildren();
  delete panel.dataset.address;
  opener?.focus?.({ preventScroll: true });
  return true;
}

export function startPanel() {
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest("a[data-panel-link]");
    if (link) {
      event.preventDefault();
      openPanel(link.href, link);
      return;
    }
    const row = event.target.closest("tr[data-open]");
    if (row && !event.target.closest("a, button, input, form, summary") && !String(getSelection())) openPanel(row.dataset.open, row);
  });
}
