// Ctrl-K: the screens, a task by its number, tasks of a command, and the buttons of this page.
import { ask, questionOf } from "./dialog.js";

const palette = document.querySelector("[data-palette]");
let chosen = 0;
let shown = [];

function entries(text) {
  const root = document.documentElement.dataset.root;
  const found = [];
  const digits = text.replace(/[,\s]/g, "");
  if (/^\d{1,19}$/.test(digits)) found.push({ name: `Task ${digits}`, kind: "open", go: () => (location.href = `${root}/tasks/${digits}`) });
  for (const link of document.querySelectorAll("[data-screen]"))
    found.push({ name: link.dataset.screen, kind: link.dataset.key ? `g ${link.dataset.key}` : "screen", go: () => link.click() });
  for (const form of document.querySelectorAll("main form[data-confirm]")) {
    const question = questionOf(form);
    found.push({ name: question.verb, kind: "action", go: () => ask(question) });
  }
  found.push({ name: "Start a task", kind: "form", go: () => (location.href = `${root}/start`) });
  for (const state of ["failed", "processing", "waiting", "pending"])
    found.push({ name: `Tasks that are ${state}`, kind: "filter", go: () => (location.href = `${root}/tasks?state=${state}`) });
  for (const [name, selector] of [["Pause or follow", "[data-pause]"], ["Light or dark", "[data-switch-theme]"]])
    found.push({ name, kind: "command", go: () => document.querySelector(selector)?.click() });
  if (text.trim()) {
    const word = text.trim();
    found.push({ name: `Tasks of command ${word}`, kind: "filter", go: () => (location.href = `${root}/tasks?command=${encodeURIComponent(word)}`) });
  }
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return found.filter((entry) => words.every((word) => entry.name.toLowerCase().includes(word))).slice(0, 12);
}

function draw(list, input) {
  shown = entries(input.value);
  chosen = Math.max(0, Math.min(chosen, shown.length - 1));
  list.replaceChildren(
    ...shown.map((entry, index) => {
      const item = document.createElement("li");
      item.id = `find-${index}`;
      item.role = "option";
      item.setAttribute("aria-selected", String(index === chosen));
      const kind = document.createElement("span");
      kind.className = "faint";
      kind.textContent = entry.kind;
      item.append(entry.name, kind);
      item.addEventListener("click", () => go(index));
      return item;
    }),
  );
  input.setAttribute("aria-activedescendant", shown.length ? `find-${chosen}` : "");
  list.children[chosen]?.scrollIntoView({ block: "nearest" });
}

function go(index) {
  const entry = shown[index];
  if (!entry) return;
  palette.close();
  entry.go();
}

export function openPalette() {
  if (!palette?.showModal || palette.open) return;
  const input = document.createElement("input");
  input.type = "text";
  input.placeholder = "A screen, a task number, a command";
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-expanded", "true");
  input.setAttribute("aria-controls", "find-list");
  input.setAttribute("aria-label", "Find");
  const list = document.createElement("ul");
  list.id = "find-list";
  list.role = "listbox";
  chosen = 0;
  input.addEventListener("input", () => {
    chosen = 0;
    draw(list, input);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") chosen = (chosen + 1) % Math.max(1, shown.length);
    else if (event.key === "ArrowUp") chosen = (chosen + shown.length - 1) % Math.max(1, shown.length);
    else if (event.key === "Enter") return event.preventDefault(), go(chosen);
    else return;
    event.preventDefault();
    draw(list, input);
  });
  palette.replaceChildren(input, list);
  draw(list, input);
  palette.showModal();
  input.focus();
}

export function startPalette() {
  document.querySelector("[data-open-palette]")?.addEventListener("click", openPalette);
  palette?.addEventListener("click", (event) => event.target === palette && palette.close());
}
