// Copies ids and commands on click; on plain http too, where browsers have no clipboard for pages.
async function copy(text) {
  if (navigator.clipboard && isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Not allowed here: the old way.
    }
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  return isDone;
}

export function startCopy() {
  document.addEventListener("click", async (event) => {
    const target = event.target.closest("[data-copy]");
    if (!target) return;
    event.preventDefault();
    if (await copy(target.dataset.copy)) {
      target.classList.add("copied");
      setTimeout(() => target.classList.remove("copied"), 1200);
    }
  });
}
