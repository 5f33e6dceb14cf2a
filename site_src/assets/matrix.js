// The table of all encodings: a filter by name, scheme and family, and rows that a reader pins to the top, which stay in the address.
(() => {
  const table = document.querySelector(".pa-matrix table");
  const form = document.querySelector(".pa-filter");
  if (!table || !form) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const byKey = new Map(rows.map((row) => [row.dataset.paRow, row]));
  const pinned = new Set();
  const elsewhere = document.querySelector(".pa-elsewhere");
  const here = new Set([...byKey.keys()].map((key) => key.split("/")[0]));
  const MOST = 24; // links to checkpoints on other pages

  const filter = () => {
    const [name, scheme, family] = ["name", "scheme", "family"].map((key) => form.elements[key].value.trim());
    for (const row of rows) {
      const matches =
        (!scheme || row.cells[1].textContent === scheme) &&
        (!family || row.cells[row.cells.length - 1].textContent === family) &&
        row.cells[0].textContent.toLowerCase().includes(name.toLowerCase());
      row.hidden = !matches && !pinned.has(row);
    }
    const shown = rows.filter((row) => !row.hidden).length;
    form.querySelector("output").textContent = name || scheme || family ? `${shown} of ${rows.length} shown` : "";
    if (elsewhere) link(name, scheme, family);
  };

  // Of a list in several pages: links to what the others have.
  const link = (name, scheme, family) => {
    elsewhere.hidden = true;
    if (!(name || scheme || family)) return;
    const root = new URL(elsewhere.dataset.paRoot, location);
    const found = window.atlasCatalogue.filter(
      ([slug, title, its, schemes]) =>
        !here.has(slug) &&
        title.toLowerCase().includes(name.toLowerCase()) &&
        (!scheme || schemes.includes(scheme)) &&
        (!family || its === family),
    );
    if (!found.length) return;
    const links = found.slice(0, MOST).map(([slug, title]) => {
      const made = document.createElement("a");
      [made.href, made.textContent] = [new URL(`checkpoints/${slug}.html`, root), title];
      return made;
    });
    const more = found.length > MOST ? ` and ${(found.length - MOST).toLocaleString("en-US")} more` : "";
    const listed = links.flatMap((made, index) => (index ? [" · ", made] : [made]));
    elsewhere.replaceChildren(`${found.length.toLocaleString("en-US")} on other pages of this list: `, ...listed, more);
    elsewhere.hidden = false;
  };

  // Pinned rows first, in the order in which they were pinned; a sorted table keeps its order below them.
  const place = () => {
    if (!table.querySelector("[aria-sort]")) body.append(...rows);
    body.prepend(...pinned);
    for (const row of rows) {
      row.classList.toggle("pa-pinned", pinned.has(row));
      row.querySelector(".pa-pin").setAttribute("aria-pressed", pinned.has(row));
    }
    filter();
  };

  const toggle = (row) => {
    if (!pinned.delete(row)) pinned.add(row);
    const keys = [...pinned].map((one) => one.dataset.paRow).join(",");
    history.replaceState(null, "", keys ? `#pin=${keys}` : location.pathname + location.search);
    place();
  };

  const read = () => {
    let keys = [];
    try {
      if (location.hash.startsWith("#pin=")) keys = decodeURIComponent(location.hash.slice(5)).split(",");
    } catch {
      // An address that is not encoded as addresses are pins nothing.
    }
    pinned.clear();
    for (const key of keys) if (byKey.has(key)) pinned.add(byKey.get(key));
    place();
  };

  for (const row of rows) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "pa-pin";
    button.setAttribute("aria-label", `Pin ${row.cells[0].textContent.trim().replace(/\s+/g, " ")} to the top`);
    button.addEventListener("click", () => {
      toggle(row);
      button.focus();
    });
    row.cells[0].prepend(button);
  }
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  table.addEventListener("pa-sorted", place);
  addEventListener("hashchange", read);
  read();
})();
