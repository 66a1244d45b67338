// Asks before an action. The server asks too: a form without "confirmed" gets a page with the question.
// A question is taken from its form once, with what is sent and the words: the page keeps changing beneath it.
function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

export function questionOf(form) {
  return {
    verb: form.dataset.verb,
    consequence: form.dataset.confirm,
    isDestructive: "destructive" in form.dataset,
    action: form.action,
    fields: [...new FormData(form), ["confirmed", "yes"]],
  };
}

export function ask(question) {
  const dialog = document.querySelector("[data-dialog]");
  const title = element("h2", `${question.verb}?`);
  title.id = "dialog-title";
  const form = element("form", "", "choices");
  form.method = "post";
  form.action = question.action;
  form.dataset.once = "";
  for (const [name, value] of question.fields) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = name;
    field.value = value;
    form.append(field);
  }
  const leave = element("button", "Leave it");
  leave.type = "button";
  leave.addEventListener("click", () => dialog.close());
  form.append(leave, element("button", question.verb, question.isDestructive ? "danger" : "primary"));
  dialog.replaceChildren(title, element("p", question.consequence), form);
  dialog.showModal();
  leave.focus();
}

export function startDialogs() {
  if (!document.querySelector("[data-dialog]")?.showModal) return;
  document.addEventListener("submit", (event) => {
    // A second click would do it twice.
    if ("once" in event.target.dataset) for (const one of event.target.querySelectorAll("button")) one.disabled = true;
    if (!event.target.matches("form[data-confirm]")) return;
    event.preventDefault();
    ask(questionOf(event.target));
  });
}
