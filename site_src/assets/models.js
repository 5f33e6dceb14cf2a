// The table of models: all rows from data/models.js in place of the first part, facets, and their state in the address.
(() => {
  "use strict";
  const form = document.getElementById("pa-models-filter");
  const table = document.querySelector(".pa-models");
  const models = window.atlasModels;
  if (!form || !table || !models) return;
  const body = table.tBodies[0];
  const buttons = [...table.tHead.querySelectorAll(".pa-sort")];
  const fields = [...form.elements].filter((field) => field.name);

  const made = (name, text, to) => {
    const element = document.createElement(name);
    element.textContent = text;
    if (to) element.href = to;
    return element;
  };

  const rows = models.map((model) => {
    const row = document.createElement("tr");
    model.cells.forEach(([text, value, address, hint], column) => {
      const cell = document.createElement(column ? "td" : "th");
      if (!column) cell.scope = "row";
      if (value !== null) cell.dataset.value = value;
      cell.append(address ? made("a", text, address) : text);
      if (hint) cell.append(" ", made("small", hint));
      row.append(cell);
    });
    return { row, model, words: row.textContent.toLowerCase() };
  });

  const fits = ({ model, words }, wanted) =>
    wanted.words.toLowerCase().split(/\s+/).every((word) => words.includes(word)) &&
    ["scheme", "kind", "input"].every((name) => !wanted[name] || model[name].includes(wanted[name])) &&
    model.context >= Number(wanted.context) &&
    (!wanted.year || model.year >= wanted.year) &&
    (!wanted.maker || model.maker === wanted.maker);

  const filter = () => {
    const wanted = Object.fromEntries(fields.map((field) => [field.name, field.value.trim()]));
    for (const entry of rows) entry.row.hidden = !fits(entry, wanted);
    const shown = rows.filter(({ row }) => !row.hidden).length;
    form.querySelector("output").textContent = `${shown} of ${rows.length} models`;
  };

  const write = () => {
    const state = new URLSearchParams(fields.filter((field) => field.value).map((field) => [field.name, field.value]));
    const column = [...table.tHead.rows[0].cells].findIndex((cell) => cell.hasAttribute("aria-sort"));
    if (column >= 0) {
      const down = table.tHead.rows[0].cells[column].getAttribute("aria-sort") === "descending";
      state.set("sort", `${column}${down ? "-" : ""}`);
    }
    const text = state.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  };

  const read = () => {
    if (location.hash && !location.hash.includes("=")) return;
    const state = new URLSearchParams(location.hash.slice(1));
    for (const field of fields) field.value = state.get(field.name) ?? "";
    const [, column, down] = /^(\d+)(-?)$/.exec(state.get("sort") ?? "") ?? [];
    const button = buttons[column];
    if (button) {
      button.closest("th").removeAttribute("aria-sort");
      button.click();
      if (down) button.click();
    }
    filter();
  };

  body.replaceChildren(...rows.map(({ row }) => row));
  table.caption.textContent = "Published configs, newest first";
  document.querySelector(".pa-pages")?.remove();
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    filter();
    write();
  });
  read();
  table.addEventListener("pa-sorted", write);
  addEventListener("hashchange", read);
})();
