// The rows or cards that a form leaves, in its order and with those pinned to the top; all of it stays in the address.
// A field is fulfilled by the data attribute of its name: one of several values, or at least or at most a number; a search by words of the first cell, or of the whole row.
(() => {
  "use strict";
  const form = document.querySelector(".pa-filter[data-pa-rows]");
  if (!form) return;
  const rows = [...document.querySelectorAll(form.dataset.paRows)];
  const table = rows[0]?.closest("table");
  const heads = [...(table?.tHead.rows[0].cells ?? [])];
  const fields = [...form.elements].filter((field) => field.name);
  const wordsOf = (row) => (("paWholeRows" in form.dataset ? row : row.cells?.[0]) ?? row).textContent.toLowerCase();
  const words = new Map(rows.map((row) => [row, wordsOf(row)]));
  const pinned = new Set();
  const folds = [...document.querySelectorAll("details.pa-band")];

  const fits = (row, field) => {
    const wanted = field.value.trim();
    const has = row.dataset[field.name] ?? "";
    if (!wanted) return true;
    if (field.type === "search") return wanted.toLowerCase().split(/\s+/).every((word) => words.get(row).includes(word));
    if ("atLeast" in field.dataset) return has !== "" && Number(has) >= Number(wanted);
    if ("atMost" in field.dataset) return has !== "" && Number(has) <= Number(wanted);
    return has.split("|").includes(wanted);
  };
  const show = () => {
    for (const row of rows) row.hidden = !pinned.has(row) && !fields.every((field) => fits(row, field));
    const shown = rows.filter((row) => !row.hidden).length;
    const filters = fields.some((field) => field.value);
    folds.forEach((fold, number) => {
      fold.hidden = !fold.querySelector("tbody tr:not([hidden])");
      fold.open = filters || !number;
    });
    form.querySelector("output").textContent = `${shown} of ${Math.max(rows.length, table?.dataset.paTotal ?? 0)} ${form.dataset.paNoun}`;
  };
  const write = () => {
    const state = new URLSearchParams(fields.filter((field) => field.value).map((field) => [field.name, field.value]));
    const column = heads.findIndex((head) => head.hasAttribute("aria-sort"));
    if (column >= 0) state.set("sort", `${column}${heads[column].getAttribute("aria-sort") === "descending" ? "-" : ""}`);
    if (pinned.size) state.set("pin", [...pinned].map((row) => row.dataset.paRow).join(","));
    history.replaceState(null, "", `${state}` ? `#${state}` : location.pathname + location.search);
  };

  // Pinned rows first, in the order in which they were pinned; a sorted table keeps its order below them.
  const place = () => {
    if (!rows[0]?.dataset.paRow) return;
    if (!heads.some((head) => head.hasAttribute("aria-sort"))) table.tBodies[0].append(...rows);
    table.tBodies[0].prepend(...pinned);
    for (const row of rows) {
      row.classList.toggle("pa-pinned", pinned.has(row));
      row.querySelector(".pa-pin").setAttribute("aria-pressed", pinned.has(row));
    }
  };
  const pin = (row) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "pa-pin";
    button.setAttribute("aria-label", `Pin ${row.cells[0].textContent.trim().replace(/\s+/g, " ")} to the top`);
    button.addEventListener("click", () => {
      if (!pinned.delete(row)) pinned.add(row);
      update();
      button.focus();
    });
    row.cells[0].prepend(button);
  };
  const update = () => {
    place();
    show();
    write();
  };

  const read = () => {
    if (location.hash && !location.hash.includes("=")) return;
    const state = new URLSearchParams(location.hash.slice(1));
    for (const field of fields) field.value = state.get(field.name) ?? "";
    // Filters of the address that are folded away are shown.
    const fold = form.querySelector("details");
    if (fold && fields.some((field) => field.value && fold.contains(field))) fold.open = true;
    const keys = (state.get("pin") ?? "").split(",");
    pinned.clear();
    for (const row of keys.flatMap((key) => rows.filter((one) => key && one.dataset.paRow === key))) pinned.add(row);
    const [, column, down] = /^(\d+)(-?)$/.exec(state.get("sort") ?? "") ?? [];
    const button = heads[column]?.querySelector(".pa-sort");
    if (button) {
      heads[column].removeAttribute("aria-sort");
      button.click();
      if (down) button.click();
    }
    place();
    show();
  };

  for (const row of rows) if (row.dataset.paRow) pin(row);
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  const whole = (act) => (table && window.atlas?.whole ? window.atlas.whole(table, act) : act());
  const follow = () => (location.hash.includes("=") ? whole(read) : read());
  form.addEventListener("input", () => whole(update));
  table?.addEventListener("pa-whole", () => {
    for (const row of document.querySelectorAll(form.dataset.paRows)) {
      if (words.has(row)) continue;
      rows.push(row);
      words.set(row, wordsOf(row));
      if (row.dataset.paRow) pin(row);
    }
  });
  follow();
  table?.addEventListener("pa-sorted", update);
  addEventListener("hashchange", follow);
})();
