/* The frame of a figure: it comes alive when it comes into view; table, numbers and pictures to take away, address, embedding, citation. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const MOST_ROWS = 200; // Of a table on the page; the CSV has all.
  const base = new URL("..", document.currentScript.src); // Of the site.
  const arrived = new Map();

  /* Called by each figure's script. */
  atlas.figure = (data) => arrived.set(document.currentScript.src, data);

  const load = (address) => atlas.fetched(address, arrived, address);
  atlas.loadFigure = (name) => load(new URL(`figures/${name}.js`, base).href);

  /* The script of a figure lies beside its picture. */
  const scriptOf = (figure) => figure.querySelector(".pa-scroll a").href.replace(/\.\w+$/, ".js");

  /* Watch every figure below ``root`` that has data. */
  atlas.watch = (root = document) =>
    root.querySelectorAll("figure.pa-figure:has(.pa-scroll a)").forEach((figure) =>
      atlas.whenSeen(figure, () =>
        load(scriptOf(figure)).then(
          (data) => awake(figure, data),
          () => {}, // The picture stays.
        ),
      ),
    );

  function awake(figure, data) {
    if (!data.panels?.length) return;
    const still = figure.querySelector(".pa-scroll");
    const place = atlas.element("div", "pa-live");
    still.before(place);
    figure.classList.add("pa-alive");
    const [few, plain] = ["data-pa-first", "data-pa-plain"].map((name) => figure.hasAttribute(name));
    const marked = plain ? data.panels.filter(({ marks }) => marks.some(({ ringed }) => ringed)) : [];
    const shown = few || plain ? { ...data, panels: [marked[0] ?? data.panels[0]] } : data;
    const view = atlas.live(place, shown, { label: data.caption });
    if (figure.hasAttribute("data-pa-spins")) return spins(view);
    if (!plain) figure.querySelector("figcaption").append(tools(figure, data, view, still.querySelector("a").href));
    figure.dispatchEvent(new Event("pa-awake"));
  }

  /* Turn curves as the reader scrolls, unless the reader asked for less motion. */
  function spins(view) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    addEventListener("scroll", () => view.turned([60 + window.scrollY / 4, 20]), { passive: true });
  }

  function tools(figure, data, view, picture) {
    const bar = atlas.element("div", "pa-tools");
    const below = atlas.element("div", "pa-below");
    const name = picture
      .split("/")
      .pop()
      .replace(/\.[a-z]+$/, "");
    const address = figure.id ? `${location.href.replace(/#.*/, "")}#${figure.id}` : location.href;
    const panel = (title, fill) => toggle(bar, below, title, fill);
    panel("Table", () => table(data));
    bar.append(action("CSV", () => save(new Blob([csv(data)], { type: "text/csv" }), `${name}.csv`)));
    bar.append(action("PNG", () => view.canvas().toBlob((blob) => save(blob, `${name}.png`))));
    const svg = atlas.element("a", "", "SVG");
    svg.href = picture;
    bar.append(svg);
    panel("Link", () => copied("Address of this figure", address));
    panel("Embed", () => copied("A frame for another page", frameOf(figure, data)));
    panel("Cite", () =>
      copied("Cite as", `Position Atlas: ${data.caption} ${address}, version ${data.version}${data.date ? `, data as of ${data.date}` : ""}.`),
    );
    const both = atlas.element("div");
    both.append(bar, below);
    return both;
  }

  function action(title, act) {
    const made = atlas.element("button", "", title);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  /* A button that opens and closes what ``fill`` makes; one at a time. */
  function toggle(bar, below, title, fill) {
    const made = action(title, () => {
      const opens = made.getAttribute("aria-expanded") !== "true";
      bar.querySelectorAll("[aria-expanded]").forEach((other) => other.setAttribute("aria-expanded", "false"));
      made.setAttribute("aria-expanded", opens);
      below.replaceChildren(...(opens ? [fill()] : []));
    });
    made.setAttribute("aria-expanded", "false");
    bar.append(made);
  }

  function frameOf(figure, data) {
    const source = new URL("assets/embed.html", base);
    source.hash = scriptOf(figure).slice(new URL("figures/", base).href.length).replace(/\.js$/, "");
    return `<iframe src="${source.href}" title="${data.caption.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}" width="100%" height="480" loading="lazy"></iframe>`;
  }

  /* A text to copy, with a button that does. */
  function copied(title, text) {
    const outer = atlas.element("div", "pa-copy");
    const field = atlas.element("textarea");
    field.readOnly = true;
    field.rows = 3;
    field.value = text;
    field.setAttribute("aria-label", title);
    const done = atlas.element("span");
    done.setAttribute("role", "status");
    const copy = action("Copy", () => {
      field.select();
      (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error())).then(
        () => (done.textContent = "copied"),
        () => (done.textContent = "press Ctrl+C"),
      );
    });
    outer.append(field, copy, done);
    return outer;
  }

  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  /* The numbers of a figure, one a row: [panel, series, x, y], with a second value for bands. */
  function rowsOf(data) {
    return data.panels.flatMap((panel, number) =>
      panel.marks
        .filter(({ aside }) => !aside)
        .flatMap((packed) => {
          const mark = atlas.unpacked(packed);
          const series = mark.name ?? (Number.isInteger(mark.series) ? data.series[mark.series].name : "");
          const first = [panel.title || `panel ${number + 1}`, series];
          if (mark.kind === "line") return Array.from(mark.xs, (x, index) => [...first, x, mark.ys[index], ""]);
          if (mark.kind === "band") return Array.from(mark.xs, (x, index) => [...first, x, mark.lows[index], mark.highs[index]]);
          if (mark.kind === "rule") return [[...first, mark.along === "y" ? mark.at : "", mark.along === "x" ? mark.at : "", ""]];
          if (mark.kind === "points" || mark.kind === "curve")
            return Array.from(mark.order, (at, index) => [first[0], at, ...[0, 1, 2].map((axis) => mark.places[axis]?.[index] ?? "")]);
          if (mark.kind !== "cells") return [];
          const [left, right, bottom, top] = mark.extent;
          const middle = (index, from, to, count) => from + ((index + 0.5) * (to - from)) / count;
          return Array.from(mark.values, (value, index) => [
            ...first,
            middle(index % mark.columns, left, right, mark.columns),
            middle(Math.floor(index / mark.columns), top, bottom, mark.rows),
            value,
          ]);
        }),
    );
  }

  const heads = (data) => {
    const [panel] = data.panels;
    const kinds = new Set(data.panels.flatMap(({ marks }) => marks.map(({ kind }) => kind)));
    if (kinds.has("cells")) return ["panel", "series", panel.x.label || "column", panel.y.label || "row", data.scale?.label ?? "value"];
    if (kinds.has("points") || kinds.has("curve")) return ["panel", "position", "first", "second", "third"];
    return ["panel", "series", panel.x.label || "x", panel.y.label || "y", "upper"];
  };

  const plain = (value) => (typeof value === "number" ? (Number.isNaN(value) ? "" : String(Number(value.toPrecision(6)))) : value);

  function csv(data) {
    const cell = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const safe = (value) => (typeof value === "string" && /^[=+\-@]/.test(value) ? `'${value}` : plain(value)); // A spreadsheet would take it for a formula.
    return [heads(data), ...rowsOf(data)].map((row) => row.map((value) => cell(String(safe(value)))).join(",")).join("\n") + "\n";
  }

  function table(data) {
    const rows = rowsOf(data);
    const every = Math.ceil(rows.length / MOST_ROWS);
    const shown = rows.filter((_, index) => index % every === 0);
    const used = heads(data).map((_, column) => shown.some((row) => row[column] !== "" && row[column] !== undefined));
    const outer = atlas.element("div", "pa-wide");
    outer.tabIndex = 0;
    outer.setAttribute("role", "region");
    outer.setAttribute("aria-label", "Numbers of this figure");
    const made = atlas.element("table", "pa-metrics");
    made.append(
      atlas.element(
        "caption",
        "",
        every > 1
          ? `${rows.length.toLocaleString("en")} numbers, of which every ${every}th is shown; the CSV has all`
          : `${rows.length.toLocaleString("en")} numbers`,
      ),
    );
    const line = (cells, name) => {
      const row = atlas.element("tr");
      row.append(...cells.filter((_, column) => used[column]).map((value) => atlas.element(name, "", typeof value === "number" ? atlas.say(value) : value)));
      return row;
    };
    const head = atlas.element("thead");
    head.append(line(heads(data), "th"));
    const body = atlas.element("tbody");
    body.append(...shown.map((row) => line(row, "td")));
    made.append(head, body);
    outer.append(made);
    return outer;
  }
  atlas.watch();
})();
