/** Dark, light, or as the system has it. */

const THEMES = ["auto", "light", "dark"];

/** Let a button go through the themes; `changed` is called after each. */
export function listenToTheme(button, changed) {
  let theme = "auto";
  const show = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    changed();
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  show();
}
