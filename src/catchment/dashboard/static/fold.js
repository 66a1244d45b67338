// What is folded is read when it is opened: payloads and results. Without scripts there is a link to it.
export function startFolds() {
  document.addEventListener(
    "toggle",
    async (event) => {
      const fold = event.target;
      if (!fold.open || !fold.dataset?.fetch) return;
      const answer = await fetch(fold.dataset.fetch, { credentials: "same-origin" });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const value = page.querySelector("[data-value]") ?? page.querySelector("main > *");
      if (value) fold.replaceChildren(fold.querySelector("summary"), document.adoptNode(value));
    },
    true,
  );
}
