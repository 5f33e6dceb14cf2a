// How far models see: all rows from data/reach.js in place of the first part, those that see at least a number, and that number in the address.
(() => {
  "use strict";
  const form = document.getElementById("pa-far-filter");
  const table = document.querySelector(".pa-far");
  const models = window.atlasReach;
  if (!form || !table || !models) return;
  const field = form.elements.sees;
  const root = table.dataset.paRoot;
  const SVG = "http://www.w3.org/2000/svg";

  const made = (name, text, attributes = {}, space) => {
    const element = space ? document.createElementNS(space, name) : document.createElement(name);
    element.append(text);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const bar = ([kind, share, title]) => {
    const element = made("i", "", { class: kind, title });
    element.style.setProperty("--x", `${share}%`);
    return element;
  };
  const strip = ([count, lines]) => {
    const box = { class: "pa-stack", viewBox: `0 0 ${count} 1`, preserveAspectRatio: "none", "aria-hidden": "true" };
    const element = made("svg", "", box, SVG);
    element.append(...lines.map(([kind, d]) => made("path", "", { class: kind, d }, SVG)));
    return element;
  };
  const rows = models.map(({ title, address, hint, sees, details, bars, stacks }) => {
    const row = document.createElement("tr");
    const [head, length, axis, layers] = [made("th", "", { scope: "row" }), ...["td", "td", "td"].map((name) => made(name, ""))];
    head.append(address ? made("a", title, { href: root + address }) : title, " ", made("small", hint));
    length.append(sees === null ? "–" : sees.toLocaleString("en-US"), " ", made("small", details));
    axis.append(...bars.map(bar));
    layers.append(...stacks.map(strip));
    row.append(head, length, axis, layers);
    return { row, sees };
  });

  const filter = () => {
    const least = Number(field.value);
    for (const { row, sees } of rows) row.hidden = least > 0 && (sees === null || sees < least);
    const shown = rows.filter(({ row }) => !row.hidden).length;
    form.querySelector("output").textContent = `${shown} of ${rows.length} models`;
  };
  const read = () => {
    if (location.hash && !location.hash.includes("=")) return;
    field.value = /^#sees=(\d{1,15})$/.exec(location.hash)?.[1] ?? "";
    filter();
  };

  table.tBodies[0].replaceChildren(...rows.map(({ row }) => row));
  table.caption.textContent = "The farthest first";
  document.querySelector(".pa-pages")?.remove();
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    filter();
    const least = Math.round(Number(field.value));
    history.replaceState(null, "", least > 0 ? `#sees=${least}` : location.pathname + location.search);
  });
  addEventListener("hashchange", read);
  read();
})();
