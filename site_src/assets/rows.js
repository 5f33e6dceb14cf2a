/* Rows that open: all at once, and again by a link that was followed before. */
(function () {
  "use strict";
  const rows = [...document.querySelectorAll("details.pa-row")];

  // The theme opens what a new address leads into; a link to where the reader is already changes none.
  document.addEventListener("click", ({ target }) => {
    const hash = target.closest?.("a[href]")?.hash;
    const row = hash && hash === location.hash && document.getElementById(decodeURIComponent(hash.slice(1)))?.closest("details.pa-row");
    if (row) row.open = true;
  });

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
