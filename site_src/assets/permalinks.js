/* A link to each value that has an address, in its cell or at the head of its row, and a button that cites it. One of a row is reached by tab, the
   others from there by arrow keys. */
(function () {
  "use strict";
  const STEPS = { ArrowRight: 1, ArrowLeft: -1 };
  const cite = new URL("cite.js", document.currentScript.src);

  function added(cell, id, name) {
    const link = document.createElement("a");
    link.className = "pa-permalink";
    link.href = `#${id}`;
    link.setAttribute("aria-label", name);
    const kind = cell.lastElementChild; // Words below a name, which have room at their end.
    (kind?.classList.contains("pa-kind") ? kind : cell).append(link);
    return link;
  }

  /* Beside a link, a button that cites the value. what: its measure and itself */
  function quoted(link, id, name, what) {
    const button = document.createElement("button");
    button.className = "pa-quote";
    button.type = "button";
    button.setAttribute("aria-label", `Cite ${name}`);
    button.addEventListener("click", () => loaded().then(() => window.atlas.cite.number(id, what)));
    link.after(button);
    return button;
  }

  /* A promise of the script that cites. */
  function loaded() {
    if (window.atlas?.cite) return Promise.resolve();
    const script = document.createElement("script");
    script.src = cite.href;
    document.head.append(script);
    return new Promise((resolve) => (script.onload = resolve));
  }

  const said = (cell) => cell.textContent.trim().replace(/\s+/g, " ");

  // The name of a heading is its words, without the link within it.
  document.querySelectorAll(":is(h1, h2, h3, h4, h5, h6) > .headerlink").forEach((link) => {
    link.setAttribute("aria-label", link.title);
    link.parentElement.setAttribute("aria-label", said(link.parentElement).replace(/\s*¶$/, ""));
  });

  document.querySelectorAll("tr[id], tr:has(> td[id])").forEach((row) => {
    const title = said(row.cells[0]);
    if (row.cells[0].tagName === "TH") row.cells[0].setAttribute("aria-label", title); // As before it has links.
    const heads = row.closest("table").tHead.rows[0].cells;
    const links = [];
    const add = (cell, id, name, what) => {
      const link = added(cell, id, `Link to ${name}`);
      links.push(link, ...(what ? [quoted(link, id, name, what)] : []));
    };
    const valued = (cell) => `${said(heads[cell.cellIndex])} = ${said(cell)}`;
    const value = row.dataset.paRow
      ? [...row.cells].slice(1).filter((cell) => said(cell) !== "–").map(valued).join("; ") // All of an encoding.
      : row.closest(".pa-metrics") && row.cells[1]
        ? `${title} = ${said(row.cells[1])}`
        : ""; // Else a row of many values.
    if (row.id) add(row.cells[0], row.id, title, value);
    for (const cell of row.querySelectorAll("td[id]")) {
      add(cell, cell.id, `${title}, ${said(heads[cell.cellIndex])}`, valued(cell));
    }
    links.slice(1).forEach((link) => (link.tabIndex = -1));
    row.addEventListener("keydown", (event) => {
      const next = links[links.indexOf(event.target) + STEPS[event.key]];
      if (!next || !links.includes(event.target)) return;
      event.preventDefault();
      next.focus();
    });
  });
})();
