/* The numbers of a figure, tidy: one point a row, as the picture has them; as a table and as CSV. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const MOST_ROWS = 200; // Of a table on the page; the CSV has all.
  const COLUMNS = ["panel", "series", "position", "row", "column", "x", "y", "z", "value", "low", "high"];

  /* Names of the panels: of those without a title by their axis, where no other has it, else by their number, after the title before. */
  atlas.panelNames = ({ panels }) => {
    if (panels.length === 1) return [panels[0].title];
    let before = "";
    return panels.map(({ title, x: { label } }, index) => {
      if (title) return (before = title);
      const own = label && panels.filter(({ x }) => x.label === label).length === 1 ? label : `panel ${index + 1}`;
      return [before, own].filter(Boolean).join(", ");
    });
  };

  /* { columns, rows } of a figure: every value with its panel and series, without lines that are only for reference. */
  atlas.tidy = (data) => {
    const names = atlas.panelNames(data);
    const rows = data.panels.flatMap((panel, index) => {
      const named = { ...panel, y: { ...panel.y, label: panel.y.label || (data.panels.find(({ y }) => y.label)?.y.label ?? "") } };
      return rowsOf(named).map((row) => ({ panel: names[index], ...row }));
    });
    return { columns: COLUMNS.filter((column) => rows.some((row) => row[column] !== undefined && row[column] !== "")), rows };
  };

  function rowsOf(panel) {
    const marks = panel.marks.filter(({ aside }) => !aside).map(atlas.unpacked);
    const of = (kind) => marks.filter((mark) => mark.kind === kind);
    const bands = new Map(of("band").map((band) => [band.name, band]));
    const lines = of("line").flatMap((line) => lineRows(panel, line, bands));
    const alone = [...bands.values()].flatMap((band) => bandRows(panel, band)); // Those of no line.
    const points = [...of("points"), ...of("curve")].flatMap(pointRows);
    return [...lines, ...alone, ...points, ...of("cells").flatMap(cellRows)];
  }

  function lineRows(panel, line, bands) {
    const series = atlas.seriesOf(panel, line);
    if (line.across) {
      const nameAt = (place) => panel.y.ticks.reduce((one, other) => (Math.abs(other[0] - place) < Math.abs(one[0] - place) ? other : one))[1];
      return Array.from(line.xs, (value, index) => ({ series, x: nameAt(line.ys[index]), value }));
    }
    const band = bands.get(line.name);
    bands.delete(line.name);
    const edges = new Map(band ? Array.from(band.xs, (x, index) => [x, { low: band.lows[index], high: band.highs[index] }]) : []);
    const rows = Array.from(line.xs, (x, index) => ({ series, x, value: line.ys[index] - (line.base ?? 0), ...edges.get(x) }));
    return line.xs.some(Number.isNaN) ? rows.filter(({ x }) => !Number.isNaN(x)) : rows;
  }

  function bandRows(panel, band) {
    return Array.from(band.xs, (x, index) => ({ series: atlas.seriesOf(panel, band), x, low: band.lows[index], high: band.highs[index] }));
  }

  function pointRows({ order, places: [x, y, z] }) {
    return Array.from(order, (position, index) => ({ position, x: x[index], y: y[index], ...(z ? { z: z[index] } : {}) })).filter(
      ({ position }) => !Number.isNaN(position),
    );
  }

  function cellRows({ values, rows, columns, at, extent: [left, right, bottom, top] }) {
    const middle = (index, from, to, count) => from + ((index + 0.5) * (to - from)) / count;
    return Array.from(values, (value, index) => ({
      row: at?.rows[Math.floor(index / columns)] ?? middle(Math.floor(index / columns), top, bottom, rows),
      column: at?.columns[index % columns] ?? middle(index % columns, left, right, columns),
      value,
    }));
  }

  const plain = (value) => (typeof value === "number" ? (Number.isNaN(value) ? "" : String(Number(value.toPrecision(6)))) : (value ?? ""));

  atlas.csv = (data) => {
    const { columns, rows } = atlas.tidy(data);
    const safe = (value) => (typeof value === "string" && /^[=+\-@]/.test(value) ? `'${value}` : plain(value)); // A spreadsheet would take it for a formula.
    const cell = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    return [columns, ...rows.map((row) => columns.map((column) => safe(row[column])))].map((row) => row.map(cell).join(",") + "\n").join("");
  };

  /* What x and value are, for the caption of the table: the axes have names for readers. */
  function meanings(data) {
    const label = (which) => data.panels.find((panel) => panel[which].label)?.[which].label;
    const cells = data.panels.some(({ marks }) => marks.some(({ kind }) => kind === "cells"));
    const across = data.panels.some(({ marks }) => marks.some((mark) => mark.across));
    const names = cells ? [label("x"), label("y"), data.scale?.label] : across ? [label("y"), label("x")] : [label("x"), label("y")];
    const heads = cells ? ["column", "row", "value"] : ["x", "value"];
    return heads.flatMap((head, index) => (names[index] ? [`${head}: ${names[index]}`] : [])).join("; ");
  }

  atlas.tableOf = (data) => {
    const { columns, rows } = atlas.tidy(data);
    const every = Math.ceil(rows.length / MOST_ROWS);
    const outer = atlas.element("div", "pa-wide");
    outer.tabIndex = 0;
    outer.setAttribute("role", "region");
    outer.setAttribute("aria-label", "Numbers of this figure");
    const made = atlas.element("table", "pa-metrics");
    const count = `${rows.length.toLocaleString("en")} rows${every > 1 ? `, of which every ${every}th is shown; the CSV has all` : ""}`;
    made.append(atlas.element("caption", "", [count, meanings(data)].filter(Boolean).join(". ")));
    const line = (cells, name) => {
      const row = atlas.element("tr");
      row.append(...cells.map((value) => atlas.element(name, "", typeof value === "number" ? atlas.say(value) : (value ?? ""))));
      return row;
    };
    made.createTHead().append(line(columns, "th"));
    made.createTBody().append(...rows.filter((_, index) => index % every === 0).map((row) => line(columns.map((column) => row[column]), "td")));
    outer.append(made);
    return outer;
  };
})();
