/* The encodings' data. Each file of data calls a function of this page, because a page on a disk may run scripts but not fetch. */
(function () {
  "use strict";
  const [records, longer] = [new Map(), new Map()];
  const atlas = (window.atlas = window.atlas || {});
  const base = new URL("../..", document.currentScript.src); // Of the site.

  /* The whole address of a path below the site. */
  atlas.addressOf = (path) => new URL(path, base).href;

  /* Called by data/compare/index.js. */
  atlas.list = (catalogue) => {
    atlas.catalogue = catalogue;
    atlas.byName = new Map(catalogue.encodings.map((encoding) => [encoding.name, encoding]));
  };

  /* Called by data/compare/<checkpoint>/<encoding>.js, and by the same with -windows. */
  atlas.add = (name, record) => records.set(name, record);
  atlas.addWindows = (name, windows) => longer.set(name, windows);

  /* A promise of the encoding of this name with its kernels unpacked: of the first positions, or of the longest window of up to ``count``. */
  atlas.load = (name, count) => {
    const data = (arrived, suffix = "") => atlas.fetched(atlas.addressOf(`data/compare/${name}${suffix}.js`), arrived, name);
    const wanted = [data(records)];
    if (count > atlas.catalogue.windows[0]) wanted.push(data(longer, "-windows"));
    return Promise.all(wanted).then(([{ kernels: packed, curve, lines, metrics }, windows = {}]) => {
      const fitting = Object.keys(windows).filter((positions) => positions <= count);
      const [{ quantity, heads }, first] = [packed, kernels(packed)];
      const shown = fitting.length ? kernels(windows[Math.max(...fitting)]) : first;
      return { ...atlas.byName.get(name), quantity, heads, first, shown, curve, lines, metrics };
    });
  };

  /* { n, block, positions, stored, shape }: n × n pictures of so many positions, in blocks of so many. */
  function kernels({ n, block, columns, stored, shape }) {
    const whole = (packed, levels) => packed && { ...matrix({ ...packed, levels }, n, columns), profile: packed.profile };
    const made = { n, block, positions: n * block, stored: whole(stored, stored.levels), shape: shape && whole(shape, shape.levels ?? stored.levels) };
    if (shape?.out) cut(made.shape.values, n, shape.out);
    return made;
  }

  /* A shape that is a stored kernel moved and scaled: what lies beyond 0 and 1 is cut, and outliers have none. */
  function cut(values, n, out) {
    values.forEach((value, index) => (values[index] = Math.min(Math.max(value, 0), 1)));
    out.forEach((position) => {
      for (let other = 0; other < n; other++) values[position * n + other] = values[other * n + position] = NaN;
    });
  }

  /* A kernel (n × n, row by row) from its upper triangle, or from one entry for each offset on a grid of so many columns. */
  function matrix(packed, n, columns) {
    const entries = atlas.numbers(packed);
    const values = new Float64Array(n * n);
    const width = Math.min(columns, n);
    const rows = Math.ceil(n / columns);
    for (let query = 0; query < n; query++) {
      for (let key = 0; key < n; key++) {
        let entry;
        if (columns === null) {
          const [first, second] = query < key ? [query, key] : [key, query];
          entry = first * n - (first * (first - 1)) / 2 + second - first;
        } else {
          const down = Math.floor(key / columns) - Math.floor(query / columns) + rows - 1;
          entry = down * (2 * width - 1) + (key % columns) - (query % columns) + width - 1;
        }
        values[query * n + key] = entries[entry];
      }
    }
    return { values, low: packed.low, high: packed.high };
  }
})();
