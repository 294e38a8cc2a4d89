/** Tabs by click and by arrow keys, as the ARIA Authoring Practices have them. */

/** @param {(name: string) => void} chosen  called with the id of the panel that is shown */
export function listenToTabs(chosen) {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const choose = (wanted) => {
    for (const tab of tabs) {
      const is = tab === wanted;
      tab.setAttribute("aria-selected", is);
      tab.tabIndex = is ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !is;
    }
    chosen(wanted.getAttribute("aria-controls"));
  };
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs.at((index + step) % tabs.length);
      next.focus();
      choose(next);
    });
  });
}
