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
  const [none, ask] = ["none", "ask"].map((name) => form.querySelector(`[data-pa-${name}]`));
  const sheet = table?.closest(".pa-sheet");
  const cost = heads.find((head) => head.dataset.paCost);
  let length = 0; // of the contexts whose cost is shown

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
    if (none) none.hidden = shown > 0;
    if (none && sheet) sheet.hidden = !shown;
    form.querySelector("output").textContent = `${shown} of ${Math.max(rows.length, table?.dataset.paTotal ?? 0)} ${form.dataset.paNoun}`;
  };
  const isDown = (head) => head.getAttribute("aria-sort") === "descending";
  const sortBy = (head, down) => {
    const button = head.querySelector(".pa-sort");
    head.removeAttribute("aria-sort");
    button?.click();
    if (down) button?.click();
  };

  // The column of what a further token takes has instead what a context takes, where its length is chosen; else, where rows are sorted by it, the form asks for one.
  const size = (bytes) => {
    const [unit, name] = bytes >= 1e9 ? [1e9, "GB"] : bytes >= 1e6 ? [1e6, "MB"] : bytes >= 1e3 ? [1e3, "kB"] : [1, bytes === 1 ? "byte" : "bytes"];
    const four = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
    return `${four(bytes / unit)} ${name}${bytes >= 1e9 ? ` (${four(bytes / 2 ** 30)} GiB)` : ""}`; // As in text.py.
  };
  const whole = (value) => value.toLocaleString("en-US");
  const takes = (cell) => {
    cell.dataset.paToken ??= cell.dataset.value;
    const token = Number(cell.dataset.paToken);
    const limited = (cell.dataset.paLimited ?? "").split(" ").filter(Boolean).map((one) => one.split(":").map(Number));
    const all = limited.reduce((sum, [bytes, most]) => sum + bytes * Math.min(length, most), token * length);
    const note = cell.querySelector("small");
    if (note) note.hidden = length > 0;
    cell.dataset.value = length ? all : token;
    const shown = (cell.querySelector("a") ?? cell).firstChild;
    cell.dataset.paText ??= shown.textContent;
    shown.textContent = length ? size(all) : cell.dataset.paText;
  };
  const price = () => {
    if (!cost) return;
    const chosen = Number(form.elements[cost.dataset.paCost].value);
    if (chosen !== length) {
      length = chosen;
      for (const { cells } of rows) if (cells[cost.cellIndex].dataset.value !== undefined) takes(cells[cost.cellIndex]);
      const name = cost.querySelector(".pa-sort") ?? cost;
      cost.dataset.paTitle ??= name.textContent;
      name.textContent = length ? `KV cache of ${whole(length)} tokens` : cost.dataset.paTitle;
      table.classList.toggle("pa-priced", length > 0);
      if (cost.hasAttribute("aria-sort")) sortBy(cost, isDown(cost));
    }
    ask.hidden = length > 0 || !cost.hasAttribute("aria-sort");
  };
  const write = () => {
    const state = new URLSearchParams(fields.filter((field) => field.value).map((field) => [field.name, field.value]));
    const head = heads.find((one) => one.dataset.paColumn && one.hasAttribute("aria-sort"));
    if (head) state.set("sort", `${head.dataset.paColumn.split(" ")[0]}${isDown(head) ? "-" : ""}`);
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
    price();
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
    price();
    const [, name, down] = /^(.+?)(-?)$/.exec(state.get("sort") ?? "") ?? [];
    const head = heads.find(({ dataset }) => (dataset.paColumn ?? "").split(" ").includes(name));
    if (head) sortBy(head, down);
    price();
    place();
    show();
  };

  // A row that is cut short is whole after a press; the styles do it for keys.
  table?.addEventListener("click", ({ target }) => {
    if (!target.closest("a, button, thead") && getSelection().isCollapsed) target.closest("tr")?.classList.toggle("pa-open");
  });
  for (const row of rows) if (row.dataset.paRow) pin(row);
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  const complete = (act) => (table && window.atlas?.whole ? window.atlas.whole(table, act) : act());
  const follow = () => (location.hash.includes("=") ? complete(read) : read());
  form.addEventListener("input", () => complete(update));
  form.addEventListener("reset", () => setTimeout(() => complete(update)));
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
