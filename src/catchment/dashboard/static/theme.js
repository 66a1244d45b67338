// Light or dark. The choice is a cookie, so that the server writes it into the page and nothing flashes.
export function startTheme() {
  const html = document.documentElement;
  document.querySelector("[data-switch-theme]")?.addEventListener("click", () => {
    const isDark = html.dataset.theme === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : html.dataset.theme === "dark";
    html.dataset.theme = isDark ? "light" : "dark";
    document.cookie = `catchment_theme=${html.dataset.theme}; path=${html.dataset.root || "/"}; max-age=31536000; samesite=strict`;
  });
}
