// Selected rows of a list, and what can be done with them. A page of the server says how many tasks that is and asks.
const ENDED = ["completed", "failed", "cancelled"];
const RETRIED = ["failed", "cancelled"];

function selected() {
  return [...document.querySelectorAll("[data-selectable] tr.is-selected")];
}

function show() {
  const bar = document.querySelector("[data-selection]");
  if (!bar) return;
  const rows = selected();
  bar.hidden = rows.length === 0;
  bar.querySelector("[data-selected]").textContent = `${rows.length} selected`;
  for (const link of bar.querySelectorAll("[data-bulk]")) {
    const fitting = rows.filter(({ dataset }) =>
      link.dataset.verb === "retry" ? RETRIED.includes(dataset.state) : !ENDED.includes(dataset.state),
    );
    link.hidden = fitting.length === 0;
    link.href = `${link.dataset.bulk}&ids=${fitting.map((row) => row.dataset.id).join(",")}`;
    link.textContent = `${link.dataset.label} ${fitting.length}`;
  }
}

function mark(row, isSelected) {
  row.classList.toggle("is-selected", isSelected);
  const box = row.querySelector("[data-select]");
  if (box) box.checked = isSelected;
}

export function toggleSelected() {
  const row = document.querySelector("[data-selectable] tr.is-current");
  if (!row?.querySelector("[data-select]")) return;
  mark(row, !row.classList.contains("is-selected"));
  show();
}

export function startSelection() {
  if (!document.querySelector("[data-selection]")) return;
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-select]")) mark(event.target.closest("tr"), event.target.checked);
    else if (event.target.matches("[data-select-all]"))
      for (const row of document.querySelectorAll("[data-selectable] tbody tr")) mark(row, event.target.checked);
    show();
  });
  document.querySelector("[data-clear-selection]").addEventListener("click", () => {
    for (const row of selected()) mark(row, false);
    const all = document.querySelector("[data-select-all]");
    if (all) all.checked = false;
    show();
  });
  // Rows come and go, and change their states, beneath the selection.
  document.addEventListener("regions-read", show);
  // Back: the browser has kept the boxes, and not the rows.
  for (const box of document.querySelectorAll("[data-select]")) mark(box.closest("tr"), box.checked);
  show();
}
