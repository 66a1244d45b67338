// Asks before an action. The server asks too: a form without "confirmed" gets a page with the question.
function button(text, className) {
  const made = document.createElement("button");
  made.textContent = text;
  made.className = className;
  return made;
}

export function startDialogs() {
  const dialog = document.querySelector("[data-dialog]");
  if (!dialog?.showModal) return;
  document.addEventListener("submit", (event) => {
    // A second click would do it twice.
    if ("once" in event.target.dataset) for (const one of event.target.querySelectorAll("button")) one.disabled = true;
    const form = event.target.closest("form[data-confirm]");
    if (!form || form.elements.confirmed) return;
    event.preventDefault();
    const title = document.createElement("h2");
    title.id = "dialog-title";
    title.textContent = `${form.dataset.verb}?`;
    const text = document.createElement("p");
    text.textContent = form.dataset.confirm;
    const choices = document.createElement("div");
    choices.className = "choices";
    const leave = button("Leave it", "");
    const go = button(form.dataset.verb, "destructive" in form.dataset ? "danger" : "primary");
    leave.addEventListener("click", () => dialog.close());
    go.addEventListener("click", () => {
      go.disabled = true;
      const field = document.createElement("input");
      field.type = "hidden";
      field.name = "confirmed";
      field.value = "yes";
      form.append(field);
      form.submit();
    });
    choices.append(leave, go);
    dialog.replaceChildren(title, text, choices);
    dialog.showModal();
    leave.focus();
  });
}
