/* A link to each value that has an address, in its cell or at the head of its row. One of a row is reached by tab, the others from there by arrow keys. */
(function () {
  "use strict";
  const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

  function added(cell, id, name) {
    const link = document.createElement("a");
    link.className = "pa-permalink";
    link.href = `#${id}`;
    link.setAttribute("aria-label", name);
    const kind = cell.lastElementChild; // Words below a name, which have room at their end.
    (kind?.classList.contains("pa-kind") ? kind : cell).append(link);
    return link;
  }

  document.querySelectorAll("tr[id], tr:has(> td[id])").forEach((row) => {
    const title = row.cells[0].textContent.trim().replace(/\s+/g, " ");
    const heads = row.closest("table").tHead.rows[0].cells;
    const links = row.id ? [added(row.cells[0], row.id, `Link to ${title}`)] : [];
    for (const cell of row.querySelectorAll("td[id]")) links.push(added(cell, cell.id, `Link to ${title}, ${heads[cell.cellIndex].textContent.trim()}`));
    links.slice(1).forEach((link) => (link.tabIndex = -1));
    row.addEventListener("keydown", (event) => {
      const next = links[links.indexOf(event.target) + STEPS[event.key]];
      if (!next || !links.includes(event.target)) return;
      event.preventDefault();
      next.focus();
    });
  });
})();
