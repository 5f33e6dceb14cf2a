/* Tables with data-pa-sortable can be sorted by each column, filtered, and taken away as CSV or JSON. Without this script they are
   plain tables. A cell's data-value, a number, goes before its text. A table with data-pa-filtered has a filter of its own; it gets the
   event pa-sorted. A caption says the order in an element with data-pa-order. A heading with a link has its button behind it. */
(function () {
  "use strict";
  const FORMULA = /^[=+\-@]/;
  const FEWEST = 6; // rows that are worth a filter
  const atlas = (window.atlas = window.atlas || {});
  let made = 0;

  atlas.sortable = (table) => {
    const head = [...table.tHead.rows[0].cells];
    head.forEach((cell, column) => addButton(table, head, cell, column));
    const place = table.closest(".pa-wide") ?? table;
    if (table.tBodies[0].rows.length >= FEWEST && table.dataset.paFiltered === undefined) place.before(bar(filter(table)));
    place.after(bar(["Download these rows:", download(table, "CSV", "text/csv", csv), download(table, "JSON", "application/json", json)]));
  };

  /* Acts when a long table has all its rows: those that its page leaves out are in a script beside it, of which it gets the event
     pa-whole. Where that cannot be loaded, it keeps the rows that it has. */
  let loaded;
  atlas.whole = (table, act) => {
    if (table.dataset.paRest === undefined) return act();
    loaded ??= new Promise((resolve) => {
      const script = document.createElement("script");
      script.onload = script.onerror = resolve;
      script.src = table.dataset.paRest;
      document.head.append(script);
    });
    loaded.then(() => {
      if (table.dataset.paRest !== undefined && atlas.rest) {
        delete table.dataset.paRest;
        table.caption.querySelector("[data-pa-hint]").remove();
        table.tBodies[0].insertAdjacentHTML("beforeend", atlas.rest[table.dataset.paNumber]);
        table.dispatchEvent(new Event("pa-whole"));
      }
      act();
    });
  };

  /* An address may name a row that the page leaves out. */
  function toRow() {
    const name = location.hash.slice(1);
    if (!name || name.includes("=") || document.getElementById(name)) return;
    const goThere = () => document.getElementById(name)?.scrollIntoView();
    document.querySelectorAll("table[data-pa-rest]").forEach((table) => atlas.whole(table, goThere));
  }

  function addButton(table, head, cell, column) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "pa-sort";
    if (cell.querySelector("a")) button.setAttribute("aria-label", `Sort by ${said(cell)}`);
    else button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      head.forEach((other) => other.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      atlas.whole(table, () => {
        sort(table.tBodies[0], column, down ? -1 : 1);
        const order = table.caption?.querySelector("[data-pa-order]");
        if (order) order.textContent = `, by ${said(cell)}, ${down ? "descending" : "ascending"}`;
        table.dispatchEvent(new Event("pa-sorted"));
      });
    });
  }

  /* Numbers before words, and what is missing last, whichever the direction. */
  function sort(body, column, direction) {
    // Of 0.78 ± 0.02 and over 0.9999, the order is that of the number.
    const keyed = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[column], /^(over|under) | ± .*$/g) }));
    keyed.sort((one, other) => {
      if (one.key === null || other.key === null) return (one.key === null) - (other.key === null);
      if (typeof one.key !== typeof other.key) return typeof one.key === "number" ? -1 : 1;
      return direction * (typeof one.key === "number" ? one.key - other.key : one.key.localeCompare(other.key, "en", { numeric: true }));
    });
    body.append(...keyed.map(({ row }) => row));
  }

  function keyOf(cell, beside = "") {
    const text = said(cell).replace(beside, "");
    if (text === "" || text === "–") return null;
    return numberOf(cell, text) ?? text;
  }

  function said(cell) {
    return cell ? cell.textContent.trim().replace(/\s+/g, " ") : "";
  }

  /* The number that a cell holds as the site writes them: 1,024 and −0.5 and 1.2 × 10⁻⁷; null if it is none. */
  function numberOf(cell, text) {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const plain = text
      .replace(/ × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/, (_, power) => `e${[...power].map((mark) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(mark)).map((at) => (at ? at - 1 : "-")).join("")}`)
      .replace(/,(?=\d{3})/g, "")
      .replace("−", "-");
    return plain === "" || Number.isNaN(Number(plain)) ? null : Number(plain);
  }

  function bar(parts) {
    const made = document.createElement("div");
    made.className = "pa-controls";
    made.append(...parts);
    return made;
  }

  function filter(table) {
    const [label, input, count] = ["label", "input", "span"].map((name) => document.createElement(name));
    label.textContent = "Filter rows";
    label.htmlFor = input.id = `pa-filter-${++made}`;
    input.type = "search";
    count.setAttribute("role", "status");
    const keep = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const rows = [...table.tBodies[0].rows];
      rows.forEach((row) => (row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word))));
      count.textContent = words.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows` : "";
    };
    input.addEventListener("input", () => atlas.whole(table, keep));
    return [label, input, count];
  }

  /* A link that makes its file, of the rows as they are shown, when it is followed. */
  function download(table, name, type, write) {
    const link = document.createElement("a");
    link.textContent = name;
    link.href = "#";
    link.download = `${(table.caption?.textContent ?? "table").trim().toLowerCase().replace(/[^a-z0-9]+/g, "-")}.${name.toLowerCase()}`;
    link.setAttribute("aria-label", `These rows as ${name}`);
    link.addEventListener("click", (event) => {
      if (table.dataset.paRest !== undefined) {
        event.preventDefault();
        atlas.whole(table, () => table.dataset.paRest === undefined && link.click());
        return;
      }
      link.href = URL.createObjectURL(new Blob([write(rowsOf(table))], { type }));
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    return link;
  }

  /* The heading and every row that is shown, as text and numbers; null for what is missing. */
  function rowsOf(table) {
    const head = [...table.tHead.rows[0].cells].map(said);
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
    return [head, ...rows.map((row) => head.map((_, column) => (row.cells[column] ? keyOf(row.cells[column]) : null)))];
  }

  function csv(rows) {
    return rows.map((row) => `${row.map(cellOf).join(",")}\n`).join("");
  }

  function cellOf(value) {
    if (typeof value !== "string") return value ?? "";
    const safe = FORMULA.test(value) ? `'${value}` : value; // A spreadsheet would take it for a formula.
    return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  function json([head, ...rows]) {
    return `${JSON.stringify(rows.map((row) => Object.fromEntries(row.map((value, column) => [head[column], value]))), null, 1)}\n`;
  }

  document.querySelectorAll("table[data-pa-sortable]").forEach(atlas.sortable);
  toRow();
  addEventListener("hashchange", toRow);
})();
