/* Rows that open: all at once, and that of what an address names. */
(function () {
  "use strict";
  const rows = [...document.querySelectorAll("details.pa-row")];

  /* Open what the address leads into, and go there. */
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    let opened = false;
    for (let outer = target?.closest("details"); outer; outer = outer.parentElement.closest("details")) {
      opened ||= !outer.open;
      outer.open = true;
    }
    if (opened) target.scrollIntoView();
  }

  addEventListener("hashchange", reveal);
  // A link to where the reader is already changes no address.
  document.addEventListener("click", ({ target }) => target.closest?.("a[href]")?.hash === location.hash && location.hash && setTimeout(reveal));
  reveal();

  if (rows.length < 2) return;
  const [outer, button] = [document.createElement("p"), document.createElement("button")];
  const name = () => (button.textContent = rows.every(({ open }) => open) ? "Close all" : `Open all ${rows.length}`);
  outer.className = "pa-open-all";
  button.type = "button";
  button.addEventListener("click", () => {
    const opens = rows.some(({ open }) => !open);
    rows.forEach((row) => (row.open = opens));
  });
  rows.forEach((row) => row.addEventListener("toggle", name));
  name();
  outer.append(button);
  const above = rows[0].previousElementSibling; // The heading of the first rows.
  (above?.matches("h3") ? above : rows[0]).before(outer);
})();
