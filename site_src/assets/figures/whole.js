/* Heat maps of picked rows and columns: zoomed in, they show every value of the table, loaded from its file or computed from its formula. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const base = new URL("..", document.currentScript.src); // Of the site.
  const [ARRAY, STEP] = ["whole_table.vectors.npy", 1e-4]; // Name of the table in its file, and of the values that are shown.
  const STANDS_OUT = 2; // As where the first picks are made.
  const KEPT = "so the figure still shows only the selected values.";
  const tables = new Map(); // Promises of tables, by address.

  /* Before a panel is drawn: zoomed in, what is in view of its table takes the place of the picked values; else these come back. */
  atlas.refine = (state, panel) => {
    const mark = panel.marks.find(({ kind, whole }) => kind === "cells" && whole);
    if (!mark) return;
    mark.picked ??= { at: mark.at, rows: mark.rows, columns: mark.columns, values: mark.values, extent: mark.extent, step: undefined };
    mark.zoomed = panel.x.limits !== panel.whole.x || panel.y.limits !== panel.whole.y;
    if (mark.zoomed) load(state, mark);
    const shown = mark.zoomed && mark.table ? inView(panel, mark) : mark.picked;
    if (mark.shown !== shown) Object.assign(mark, shown, { shown, picture: null });
    note(state);
  };

  /* Say what a zoomed figure shows of its tables. */
  function note(state) {
    const marks = state.panels.flatMap((panel) => panel.marks).filter(({ zoomed }) => zoomed);
    const failed = marks.find((mark) => mark.failed)?.failed;
    const loaded = marks.every(({ table: found }) => found);
    const all = loaded && marks.every(({ shown }) => shown.all);
    const text = failed ?? (!loaded ? "Loading the whole table …" : all ? "Every value in view is shown." : "Zoom in further to see every value.");
    if (!state.note) {
      state.note = atlas.element("span", "pa-in-view");
      state.note.setAttribute("role", "status");
      state.foot.append(state.note);
    }
    const shown = marks.length ? text : "";
    if (state.note.textContent !== shown) state.note.textContent = shown; // Else it would be said again.
  }

  function load(state, mark) {
    if (mark.asked) return;
    mark.asked = true;
    table(state, mark.whole)
      .then(
        (found) => (mark.table = found),
        (error) => (mark.failed = `${error.message}, ${KEPT}`),
      )
      .then(() => atlas.redraw(state));
  }

  /* A promise of { value(row, column), sizes: of rows and of columns, or null }. */
  function table(state, whole) {
    if (whole.formula) return Promise.resolve(byFormula(whole));
    const path = `data/${state.data.of?.[whole.table]}.npz`;
    if (!tables.has(path)) tables.set(path, fetched(new URL(path, base), whole));
    return tables.get(path);
  }

  function byFormula({ formula, unit }) {
    const [places, cosines] = [formula.places.map(atlas.places), formula.cosines];
    const value = (row, column) => {
      const angle = places.reduce((sum, axis, index) => sum + axis[row] * formula.frequencies[index][column], 0);
      return (formula.scale * (cosines[column] ? Math.cos(angle) : Math.sin(angle))) / unit;
    };
    return { value, sizes: null }; // No row and no column of a sinusoid stands out.
  }

  async function fetched(address, { rows, columns, unit }) {
    if (location.protocol === "file:") throw new Error("A page opened from disk may not load the whole table");
    const answer = await fetch(address).catch(() => null);
    const found = answer?.ok ? await array(await answer.arrayBuffer()).catch(() => null) : null;
    if (!found) throw new Error("The whole table could not be loaded");
    if (found.shape[0] !== rows || found.shape[1] !== columns) throw new Error("The file holds only a part of this table");
    const [down, across] = found.byColumns ? [1, rows] : [columns, 1];
    const value = (row, column) => found.values[row * down + column * across] / unit;
    return { value, sizes: sizes(value, rows, columns) };
  }

  /* Root mean square of each row and of each column. */
  function sizes(value, rows, columns) {
    const [ofRows, ofColumns] = [new Float64Array(rows), new Float64Array(columns)];
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) {
        const square = value(row, column) ** 2;
        ofRows[row] += square / columns;
        ofColumns[column] += square / rows;
      }
    return [ofRows.map(Math.sqrt), ofColumns.map(Math.sqrt)];
  }

  /* The table in an .npz: { shape, byColumns, values }. */
  async function array(buffer) {
    const member = await unzipped(buffer);
    const view = new DataView(member);
    const [length, start] = view.getUint8(6) === 1 ? [view.getUint16(8, true), 10] : [view.getUint32(8, true), 12];
    const head = new TextDecoder("latin1").decode(new Uint8Array(member, start, length));
    const shape = /'shape': \(([\d, ]+)\)/.exec(head)[1].split(",").filter((size) => size.trim()).map(Number);
    const numbers = member.slice(start + length);
    return { shape, byColumns: head.includes("'fortran_order': True"), values: NUMBERS[/'descr': '<(\w+)'/.exec(head)[1]](numbers) };
  }

  const NUMBERS = {
    f8: (bytes) => new Float64Array(bytes),
    f4: (bytes) => new Float32Array(bytes),
    f2: (bytes) => Float32Array.from(new Uint16Array(bytes), half),
  };

  /* The number that 16 bits stand for. */
  function half(bits) {
    const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
    const size = exponent === 31 ? (fraction ? NaN : Infinity) : exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction;
    return bits & 32768 ? -size : size;
  }

  /* The member of a zip that holds the table, found by the directory at its end. */
  function unzipped(buffer) {
    const view = new DataView(buffer);
    let end = buffer.byteLength - 22;
    while (view.getUint32(end, true) !== 0x06054b50) end--;
    let at = view.getUint32(end + 16, true);
    for (let left = view.getUint16(end + 10, true); left > 0; left--) {
      const [name, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
      if (new TextDecoder().decode(new Uint8Array(buffer, at + 46, name)) === ARRAY) {
        const place = view.getUint32(at + 42, true);
        const start = place + 30 + view.getUint16(place + 26, true) + view.getUint16(place + 28, true);
        const packed = new Blob([new Uint8Array(buffer, start, view.getUint32(at + 20, true))]);
        return new Response(packed.stream().pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer();
      }
      at += 46 + name + extra + comment;
    }
    throw new Error(ARRAY);
  }

  /* What is in view of a table: every value where each has a pixel, else picked rows and columns. Made once for each view. */
  function inView(panel, mark) {
    const ratio = window.devicePixelRatio || 1;
    const rows = inside(panel.y.limits, mark.whole.rows);
    const columns = inside(panel.x.limits, mark.whole.columns);
    const most = [panel.box.height, panel.box.width].map((pixels) => Math.max(Math.floor(pixels * ratio), 1));
    const key = [...rows, ...columns, ...most].join();
    if (mark.shown?.key === key) return mark.shown;
    const typical = mark.table.sizes && Math.hypot(...mark.table.sizes[1]) / Math.sqrt(mark.whole.columns);
    const at = {
      rows: picked(rows, most[0], mark.table.sizes?.[0], STANDS_OUT * typical),
      columns: mark.paired ? inPairs(columns, most[1], mark.table.sizes?.[1], STANDS_OUT * typical) : picked(columns, most[1], mark.table.sizes?.[1], STANDS_OUT * typical),
    };
    const values = new Float64Array(at.rows.length * at.columns.length);
    at.rows.forEach((row, down) => at.columns.forEach((column, across) => (values[down * at.columns.length + across] = mark.table.value(row, column))));
    return {
      key,
      at,
      values,
      rows: at.rows.length,
      columns: at.columns.length,
      extent: [columns[0] - 0.5, columns[1] + 0.5, rows[1] + 0.5, rows[0] - 0.5],
      step: STEP,
      all: at.rows.length === rows[1] - rows[0] + 1 && at.columns.length === columns[1] - columns[0] + 1,
    };
  }

  /* First and last of so many numbers that lie within limits, at least in part. */
  function inside(limits, count) {
    const [low, high] = [Math.min(...limits), Math.max(...limits)];
    const within = (value) => Math.min(Math.max(value, 0), count - 1);
    return [within(Math.floor(low + 0.5)), within(Math.ceil(high - 0.5))];
  }

  /* The same of pairs of neighbours, such as a sine and a cosine; of all where there is room. */
  function inPairs([first, last], most, sizeOf, limit) {
    if (last - first < most) return picked([first, last], most);
    const [start, stop] = [Math.ceil(first / 2), Math.floor((last - 1) / 2)];
    const sizes = sizeOf && Float64Array.from({ length: stop + 1 }, (_, pair) => Math.max(sizeOf[2 * pair], sizeOf[2 * pair + 1]));
    return picked([start, stop], Math.max(most >> 1, 1), sizes, limit).flatMap((pair) => [2 * pair, 2 * pair + 1]);
  }

  /* Of the numbers from first to last, one of each group of neighbours: the largest that stands out, else one at random, always the same. */
  function picked([first, last], most, sizeOf, limit) {
    const count = last - first + 1;
    if (count <= most) return Array.from({ length: count }, (_, index) => first + index);
    let seed = 1;
    return Array.from({ length: most }, (_, group) => {
      const [start, stop] = [group, group + 1].map((edge) => first + Math.floor((edge * count) / most));
      const largest = sizeOf ? sizeOf.subarray(start, stop).reduce((best, size, index, all) => (size > all[best] ? index : best), 0) : 0;
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; // Numerical Recipes, section 7.1.
      return sizeOf && sizeOf[start + largest] > limit ? start + largest : start + Math.floor((seed / 2 ** 32) * (stop - start));
    });
  }
})();
