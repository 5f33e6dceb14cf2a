/* The chosen encodings as data of live figures: kernels, profiles, lines of analyses, curves. */
(function () {
  "use strict";
  const DASHES = [null, [5, 2], [1.5, 1.5], [7, 2, 1.5, 2], [3, 1.5], [9, 2]];
  const LEAST = 150; // Width of a picture, in pixels.
  const atlas = (window.atlas = window.atlas || {});

  /* Kernels: of encodings that have one; ``asStored`` or by shape. Returns { data, longest, missing: sentences } */
  atlas.kernelData = (encodings, asStored) => {
    const all = encodings.map((encoding) => kernelOf(encoding, asStored));
    const found = all.filter(({ missing }) => !missing);
    const { sequential, diverging } = atlas.catalogue.colormaps;
    const panels = found.map((kernel) => picture(kernel, asStored && isCosine(kernel) ? diverging : sequential));
    const missing = all.filter((kernel) => kernel.missing).map((kernel) => kernel.missing);
    if (encodings.length === 2 && found.length === 2) {
      const between = difference(found, asStored);
      if (between.missing) missing.push(between.missing);
      else panels.push(picture(between, diverging));
    }
    const most = panels.length > 4 ? 3 : 4;
    panels.forEach((panel, index) => (panel.column = index % most));
    const longest = found.reduce((best, kernel, index) => (kernel.positions > found[best].positions ? index : best), 0);
    return { data: { panels, series: [], scale: null, least: LEAST }, longest, most: found[longest]?.positions ?? atlas.catalogue.windows[0], missing };
  };

  const isCosine = ({ quantity }) => quantity.includes("cosine");

  function kernelOf({ title, quantity, heads, shown }, asStored) {
    const kernel = asStored ? shown.stored : shown.shape;
    if (!kernel || kernel.low === null) return { missing: `${title} has ${asStored ? "values that are not numbers" : "no shape, because all its pairs have the same value"}.` };
    const limits = !asStored ? [0, 1] : isCosine({ quantity }) ? [-1, 1] : [kernel.low, kernel.high];
    const label = asStored ? quantity + (heads > 1 ? `, mean of ${heads} heads` : "") : "";
    return { ...shown, ...kernel, title, quantity, limits, label, step: atlas.step(kernel) };
  }

  /* The kernel of B less that of A, over the positions that both have. */
  function difference([first, second], asStored) {
    if (asStored && first.quantity !== second.quantity) {
      return { missing: `No difference is shown, because the quantities differ (${first.quantity} and ${second.quantity}). Only the shapes can be compared.` };
    }
    if (first.block !== second.block) return { missing: "No difference is shown, because the pictures have blocks of different sizes." };
    const n = Math.min(first.n, second.n);
    const values = Float64Array.from({ length: n * n }, (_, index) => {
      const [query, key] = [Math.floor(index / n), index % n];
      return second.values[query * second.n + key] - first.values[query * first.n + key];
    });
    const most = values.reduce((largest, value) => Math.max(largest, Math.abs(value) || 0), 0);
    const step = first.step + second.step || 1e-3;
    return {
      title: "Difference (B − A)",
      label: asStored ? first.quantity : "",
      n,
      block: first.block,
      positions: n * first.block,
      values,
      limits: [-most, most],
      step,
    };
  }

  function picture({ title, label, n, positions, values, limits, step }, stops) {
    const axis = (name, ends) => ({ label: name, scale: "linear", limits: ends, ticks: null });
    const [first, last] = [-0.5, positions - 0.5];
    return {
      title,
      shape: 1,
      square: true,
      x: axis("key", [first, last]),
      y: axis("query", [last, first]),
      marks: [{ kind: "cells", rows: n, columns: n, extent: [first, last, last, first], values, step, limits, stops }],
      scale: { label, limits, stops },
    };
  }

  /* The style of the encoding with this index: those of the page are distinct, whatever their colours elsewhere. */
  atlas.styleOf = (index) => ({ colour: atlas.catalogue.colours[index % atlas.catalogue.colours.length], dash: DASHES[index % DASHES.length] });

  /* Lines { index, title, x, y } over each other. x, y: { label, scale } */
  function chart(lines, x, y) {
    const marks = lines.map((line, series) => ({
      kind: "line",
      x: line.x,
      y: line.y,
      ...atlas.styleOf(line.index),
      width: 1.5,
      name: line.title,
      series,
    }));
    const axis = (values, { label, scale }, margin) => ({ label, scale, limits: limitsOf(values, scale, margin), ticks: null });
    const places = lines.flatMap((line) => Array.from(atlas.places(line.x)));
    const values = lines.flatMap((line) => line.y.filter((value) => value !== null));
    const panel = { column: 0, title: "", shape: 0.34, square: false, x: axis(places, x, 0), y: axis(values, y, 0.04), marks };
    return { panels: [panel], series: lines.map(({ title, index }) => ({ name: title, ...atlas.styleOf(index) })), scale: null };
  }

  function limitsOf(values, scale, margin) {
    const used = scale === "log" ? values.filter((value) => value > 0) : values;
    if (!used.length) return [0, 1];
    const [low, high] = [Math.min(...used), Math.max(...used)];
    if (scale === "log") return low < high ? [low / (1 + margin) ** 2, high * (1 + margin) ** 2] : [low / 2, high * 2];
    return low < high ? [low - margin * (high - low), high + margin * (high - low)] : [low - 0.5, high + 0.5];
  }

  /* Profiles of the same encodings. */
  atlas.profileData = (encodings, asStored) => {
    const lines = encodings.flatMap((encoding, index) => {
      const kernel = kernelOf(encoding, asStored);
      if (kernel.missing) return [];
      const x = { first: -(kernel.n - 1) * kernel.block, step: kernel.block, count: 2 * kernel.n - 1 };
      return [{ index, title: encoding.title, label: kernel.label, quantity: kernel.quantity, x, y: kernel.profile }];
    });
    const labels = [...new Set(lines.map(({ label }) => label))];
    const mixed = asStored && new Set(lines.map(({ quantity }) => quantity)).size > 1;
    const label = asStored ? (labels.length > 1 ? "mean, as stored" : labels[0]) : "mean shape";
    const missing = mixed ? [`The heights of the lines cannot be compared, because the quantities differ: ${labels.join("; ")}.`] : [];
    return { data: chart(lines, { label: "offset: key − query (positions)", scale: "linear" }, { label, scale: "linear" }), count: lines.length, missing };
  };

  /* The lines of an analysis. Returns { data, having, lacking: titles } */
  atlas.overlayData = (overlay, encodings) => {
    const having = encodings.map((encoding, index) => ({ ...encoding.lines[overlay.key], index, title: encoding.title })).filter(({ y }) => y);
    const scale = (which) => ({ label: overlay[which], scale: overlay.logarithmic === which ? "log" : "linear" });
    const lacking = encodings.filter(({ lines }) => !lines[overlay.key]).map(({ title }) => title);
    return { data: chart(having, scale("x"), scale("y")), count: having.length, lacking };
  };

  /* Curves of positions, each with colours from its first position to its last. */
  atlas.curveData = (encodings) => {
    const having = encodings.filter(({ curve }) => curve);
    const most = having.length > 4 ? 3 : 4;
    const axis = { label: "", scale: "linear", limits: [-1, 1], ticks: null };
    const panels = having.map(({ title, curve }, index) => ({
      column: index % most,
      title,
      shape: 1,
      square: true,
      x: axis,
      y: axis,
      marks: [{ kind: "curve", ...rows(curve), joined: true, colour: null }],
      scale: { label: "position", limits: [0, curve.last], stops: atlas.catalogue.colormaps.sequential },
    }));
    const lacking = encodings.filter(({ curve }) => !curve).map(({ title }) => title);
    return { data: { panels, series: [], scale: null, least: LEAST }, count: having.length, lacking };
  };

  /* Positions and coordinates of a curve, with a gap after each row of a grid. */
  function rows(curve) {
    const points = atlas.numbers(curve);
    const count = points.length / 3;
    const at = [];
    const columns = [[], [], []];
    const add = (position, values) => [at.push(position), columns.forEach((column, axis) => column.push(values[axis]))];
    const rowOf = (position) => (curve.columns ? Math.floor(position / curve.columns) : 0);
    for (let index = 0; index < count; index++) {
      const position = index === count - 1 ? curve.last : index * curve.step;
      if (index && rowOf(position) !== rowOf(at[at.length - 1])) add(NaN, [NaN, NaN, NaN]);
      add(position, points.subarray(3 * index, 3 * index + 3));
    }
    return { at, columns };
  }
})();
