// Two to four published models side by side, which stay in the address.
(() => {
  "use strict";
  const form = document.getElementById("pa-compared");
  const models = window.atlasBeside;
  if (!form || !models) return; // The table of the page stands.
  const table = document.querySelector(".pa-compared");
  const MOST = Number(form.dataset.paMost);
  const made = (name, attributes = {}, ...inner) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...inner);
    return element;
  };
  const list = made("datalist", { id: "pa-compared-ids" }, ...Object.keys(models).map((id) => made("option", { value: id })));
  const byName = new Map(Object.keys(models).map((id) => [id.split("/").pop().toLowerCase(), id]));
  // An id, or the name in it; none for what is half typed.
  const idOf = ({ value }) => (Object.hasOwn(models, value.trim()) ? value.trim() : byName.get(value.trim().toLowerCase()));
  form.append(list);
  const fields = Array.from({ length: MOST }, (_, index) => {
    const field = made("input", { type: "search", autocomplete: "off", placeholder: "owner/name" });
    field.setAttribute("list", list.id);
    field.addEventListener("focus", () => field.select()); // The list is then of all models.
    field.addEventListener("change", () => field.setAttribute("aria-invalid", Boolean(field.value.trim() && !idOf(field))));
    form.append(made("label", {}, `Model ${index + 1} `, field));
    return field;
  });
  const titles = [...table.tBodies[0].rows].map((row) => row.cells[0]);
  // A command, and what follows it.
  const parts = (text) => {
    const [command, ...more] = text.startsWith(form.dataset.paStart) ? text.split("; ") : [];
    return command ? [made("code", {}, command), ["", ...more].join("; ")] : [text];
  };
  const chosen = () => [...new Set(fields.map(idOf).filter(Boolean))];
  const show = () => {
    const ids = chosen();
    const heads = ids.map((id) => {
      const link = made("a", { href: `${id.replace("/", "--")}.html` }, id.split("/").pop());
      return made("th", { scope: "col" }, link);
    });
    table.tHead.rows[0].replaceChildren(made("th", { scope: "col" }, "Setting"), ...heads);
    table.tBodies[0].replaceChildren(
      ...titles.map((title, index) => {
        const texts = ids.map((id) => models[id][index]);
        const cells = texts.map((text, column) => made("td", {}, ...parts(text.replace("{id}", () => ids[column]))));
        const className = new Set(texts).size > 1 ? "pa-differs" : "";
        const hidden = texts.every((text) => text === form.dataset.paUnknown);
        return made("tr", { className, hidden }, title.cloneNode(true), ...cells);
      }),
    );
  };
  const read = () => {
    const state = new URLSearchParams(location.hash.slice(1) || location.search);
    const named = (state.get("models") ?? "").split(",").filter((id) => Object.hasOwn(models, id));
    const ids = named.length ? named : JSON.parse(form.dataset.paModels);
    for (const [index, field] of fields.entries()) field.value = ids[index] ?? "";
    show();
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    show();
    history.replaceState(null, "", `#models=${chosen().map(encodeURIComponent).join(",")}`);
  });
  addEventListener("hashchange", read);
  form.hidden = false;
  read();
})();
