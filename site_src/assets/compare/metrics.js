/* All numbers side by side, with their difference where there are two. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});

  /* Fill ``place`` with a table of every metric that any of the encodings has. */
  atlas.metrics = (place, encodings) => {
    const titles = encodings.map(({ title }) => title);
    const difference = encodings.length === 2 ? ["Difference (B − A)"] : [];
    const table = atlas.element("table", "pa-list");
    table.append(atlas.element("caption", "", "All measures of the chosen encodings"));
    const head = table.createTHead().insertRow();
    ["Analysis", "Measure", ...titles, ...difference].forEach((title) => {
      const cell = atlas.element("th", "", title);
      cell.scope = "col";
      head.append(cell);
    });
    const body = table.createTBody();
    const having = ([key]) => encodings.filter(({ metrics }) => typeof metrics[key] === "number").length;
    const found = Object.entries(atlas.catalogue.metrics).filter(having);
    found.sort((one, other) => having(other) - having(one)); // What can be compared comes first.
    body.append(...found.map(([key, metric]) => row(key, metric, encodings)));
    const wide = atlas.element("div", "pa-wide");
    wide.append(table);
    place.replaceChildren(wide);
    atlas.sortable(table);
  };

  function row(key, [title, unit], encodings) {
    const line = document.createElement("tr");
    line.append(atlas.element("td", "", atlas.catalogue.analyses[key.split(".")[0]]));
    const name = atlas.element("th", "", unit ? `${title} (${unit})` : title);
    name.scope = "row";
    line.append(name);
    const values = encodings.map(({ metrics }) => metrics[key]);
    values.forEach((value) => line.append(cell(value, unit)));
    if (values.length === 2) {
      const both = values.every((value) => typeof value === "number");
      line.append(cell(both ? Number((values[1] - values[0]).toPrecision(6)) : undefined, unit));
    }
    return line;
  }

  function cell(value, unit) {
    const made = atlas.element("td", "", typeof value === "number" ? atlas.measured(value, unit) : "–");
    if (typeof value === "number") made.dataset.value = value;
    else made.title = value ?? "not applicable";
    return made;
  }
})();
