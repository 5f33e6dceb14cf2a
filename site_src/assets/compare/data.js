/* The encodings' data. Each file of data calls atlas.add with its own, because a page on a disk may run scripts but not fetch. */
(function () {
  "use strict";
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const STEPS = 4094; // The level after the last stands for "not defined".
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const arrived = new Map();
  const asked = new Map();
  const atlas = (window.atlas = window.atlas || {});

  /* Called by data/compare/index.js. */
  atlas.list = (catalogue) => {
    atlas.catalogue = catalogue;
    atlas.sequential = atlas.colormap(catalogue.colormaps.sequential);
    atlas.diverging = atlas.colormap(catalogue.colormaps.diverging);
    atlas.byName = new Map(catalogue.encodings.map((encoding) => [encoding.name, encoding]));
  };

  /* Called by data/compare/<checkpoint>/<encoding>.js. */
  atlas.add = (name, record) => arrived.set(name, record);

  /* A promise of the encoding of this name, with its numbers unpacked. */
  atlas.load = (name) => {
    if (!asked.has(name)) asked.set(name, fetchByScript(name).then((record) => unpack(name, record)));
    return asked.get(name);
  };

  function fetchByScript(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `data/compare/${name}.js`;
      script.onload = () => (arrived.has(name) ? resolve(arrived.get(name)) : reject(new Error(name)));
      script.onerror = () => {
        asked.delete(name);
        reject(new Error(name));
      };
      document.head.append(script);
    });
  }

  function unpack(name, record) {
    const { n, columns, heads, quantity, stored, shape } = record.kernels;
    const kernel = (packed) => packed && { ...matrix(packed, n, columns), profile: packed.profile.map((value) => value ?? NaN) };
    return {
      ...atlas.byName.get(name),
      n,
      heads,
      quantity,
      stored: kernel(stored),
      shape: kernel(shape && { ...shape, levels: shape.levels ?? stored.levels }), // One head has the same levels either way.
      curve: record.curve && { step: record.curve.step, last: record.curve.last, columns: record.curve.columns, points: atlas.numbers(record.curve) },
      metrics: record.metrics,
    };
  }

  /* The numbers of a packed array, NaN where not defined; each is within half a step of the truth. */
  atlas.numbers = ({ low, high, levels }) => {
    const values = new Float64Array(levels.length / 2);
    for (let index = 0; index < values.length; index++) {
      const level = 64 * ALPHABET.indexOf(levels[2 * index]) + ALPHABET.indexOf(levels[2 * index + 1]);
      const share = level / STEPS;
      values[index] = level > STEPS ? NaN : low * (1 - share) + high * share;
    }
    return values;
  };

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
    return { values, low: packed.low, high: packed.high, step: (packed.high - packed.low) / STEPS };
  }

  /* A number for readers: as exact as its step bears, or four significant digits or all before the point, as everywhere on the site. */
  atlas.say = (value, step) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "not defined";
    const power = step > 0 ? Math.ceil(Math.log10(step)) : null;
    const fixed = power !== null && power <= 0 && power >= -7;
    const text = fixed ? value.toFixed(-power) : fourDigits(power === null ? value : Math.round(value / 10 ** power) * 10 ** power);
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
  };

  function fourDigits(value) {
    const size = Math.abs(value);
    if (size < 1e15 && Math.abs(value - Math.round(value)) <= 1e-12 * size) return Math.round(value).toLocaleString("en");
    if (size >= 1000 && size < 1e9) return Math.round(value).toLocaleString("en");
    if (size >= 1e-4 && size < 1e9) return value.toLocaleString("en", { minimumSignificantDigits: 4, maximumSignificantDigits: 4 });
    const [mantissa, exponent] = value.toExponential(3).split("e");
    return `${mantissa} × 10${[...exponent].map((mark) => (mark === "-" ? "⁻" : (SUPERSCRIPTS[mark] ?? ""))).join("")}`;
  }
})();
