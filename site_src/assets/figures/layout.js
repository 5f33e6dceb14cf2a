/* Size, axes and content of the panels of a figure. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const NARROW = 480; // Pixels; below, one panel a row.
  const LEAST = 250; // Width of a panel, in pixels.
  const GAP = (atlas.GAP = 18);
  const MOST_NAMED = 6; // Lines with names at their ends.
  /* Layout and drawing. data.least: the least width of panels that are to be of one size */
  atlas.redraw = (state) => {
    const width = state.place.clientWidth;
    if (!width) return;
    state.theme = atlas.theme();
    const columns = atlas.arrange(state, width);
    state.grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    state.panels.forEach((panel) => {
      panel.head.hidden = !panel.title;
      panel.frame.style.height = `${panel.height}px`;
      panel.frame.style.width = `${panel.width}px`;
      atlas.drawPanel(state, panel);
    });
  };

  /* Sizes and labels of all panels in so many pixels. Returns how many stand side by side. */
  atlas.arrange = (state, width) => {
    state.narrow = width < NARROW;
    const most = Math.max(...state.panels.map(({ column }) => column)) + 1;
    const small = state.panels.length > 4 && state.panels.every((panel) => panel.square || atlas.cellsOf(panel));
    const columns = Math.max(1, Math.min(most, Math.floor((width + GAP) / ((state.data.least ?? (small ? 150 : LEAST)) + GAP))));
    const each = (width - (columns - 1) * GAP) / columns;
    const across = state.panels.length === 1 && (state.panels[0].square || atlas.isCurve(state.panels[0])) ? Math.min(each, 420) : each;
    const lefts = state.panels.map((panel, index) => {
      const equal = { x: state.narrow ? "" : panel.x.name, y: state.narrow ? "" : panel.y.name };
      const beside = index % columns ? state.panels[index - 1] : null;
      panel.labels = state.data.least ? equal : { x: named(panel, "x", state.panels[index + columns]), y: named(panel, "y", beside) };
      return leftOf(panel, across);
    });
    state.panels.forEach((panel, index) => {
      const first = index - (index % columns);
      layOut(state, panel, across, Math.max(...lefts.slice(first, first + columns))); // Panels of a row are of one size.
    });
    return columns;
  };

  /* The name of an axis, unless the panel below or to the left, if any, has the same. */
  function named(panel, which, next) {
    return next && next[which].name === panel[which].name && next[which].scale === panel[which].scale ? "" : panel[which].name;
  }

  /* Room for the vertical axis, in pixels. */
  function leftOf(panel, width) {
    if (atlas.isCurve(panel)) return 0;
    const context = panel.canvas.getContext("2d");
    context.font = atlas.font(11);
    const provisional = Math.max(panel.shape * width, 160);
    const texts = atlas
      .scale(panel.y, panel.y.limits, [provisional, 0])
      .ticks(Math.max(provisional / 44, 2))
      .flatMap(([, text]) => text.split("\n"));
    return Math.min(Math.max(...texts.map((text) => context.measureText(text).width), 8) + 8 + (panel.labels.y ? 16 : 0), width * 0.4);
  }

  function layOut(state, panel, width, most) {
    const [curve, { labels }] = [atlas.isCurve(panel), panel];
    const left = curve ? 0 : most;
    const bottom = curve ? 0 : 20 + (labels.x ? 17 : 0);
    const box = { left, top: curve ? 0 : 7, width: width - left - (curve ? 0 : 9) };
    box.height = curve ? box.width : panel.square ? box.width * squareness(panel) : Math.max(panel.shape * box.width, state.narrow ? 190 : 120);
    Object.assign(panel, { box, width, height: box.top + box.height + bottom });
  }

  const squareness = (panel) => Math.min(Math.max(panel.shape, 0.2), 2);

  atlas.prepared = (canvas, panel) => {
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.round(panel.width * ratio), Math.round(panel.height * ratio)];
    [canvas.style.width, canvas.style.height] = [`${panel.width}px`, `${panel.height}px`];
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    return context;
  };

  /* Limits with room for names at the ends of lines, which take as many pixels on every screen. */
  function roomy(context, panel) {
    const names = panel.marks.filter(({ end }) => end);
    if (!names.length || panel.x.limits !== panel.whole.x) return panel.x.limits;
    context.font = atlas.font(11);
    const room = Math.max(...names.map(({ text }) => context.measureText(text).width)) + 8;
    const [first, last] = [panel.x.limits[0], Math.max(...names.map(({ at }) => at[0]))];
    return [first, first + ((last - first) * panel.box.width) / Math.max(panel.box.width - room, panel.box.width / 3)];
  }

  /* Names at the ends of lines, apart from one another and within the panel. */
  function spread(names, { box, y }) {
    names.forEach((name) => (name.down = y.to(name.at[1])));
    names.sort((one, other) => one.down - other.down);
    names.forEach((name, index) => index && (name.down = Math.max(name.down, names[index - 1].down + 12)));
    names.reduceRight((below, name) => (name.down = Math.min(name.down, below)) - 12, box.top + box.height - 6);
  }

  function viewOf(context, state, panel) {
    const [{ box }, scale] = [panel, panel.scale ?? state.data.scale];
    const x = atlas.scale(panel.x, roomy(context, panel), [box.left, box.left + box.width]);
    const y = atlas.scale(panel.y, panel.y.limits, [box.top + box.height, box.top]);
    const lighten = (share) => (state.theme.dark ? 0.16 + 0.84 * share : 0.94 * share); // The ends of the map would disappear in the page.
    return {
      x,
      y,
      box,
      theme: state.theme,
      map: scale && atlas.colormap(scale.stops),
      lighten,
      project: (mark, index) => atlas.projected(mark, index, box, state.turn),
    };
  }

  atlas.drawPanel = (state, panel) => {
    const context = atlas.prepared(panel.canvas, panel);
    atlas.paint(context, state, panel);
    if (atlas.isCurve(panel)) compass(context, panel);
    atlas.drawCursor(state, panel);
  };

  /* Draw a panel that has its size, from (0, 0). */
  atlas.paint = (context, state, panel) => {
    const view = (panel.view = viewOf(context, state, panel));
    spread(panel.marks.filter((mark) => mark.end && atlas.isOn(state, mark)), view);
    atlas.refine(state, panel);
    if (!atlas.isCurve(panel)) axes(context, panel, view);
    panel.marks
      .filter((mark) => atlas.isOn(state, mark))
      .forEach((mark) => {
        const dim = state.near !== null && mark.series !== state.near && mark.kind !== "cells" && mark.kind !== "rule";
        atlas.drawMark(context, mark, view, dim);
      });
    state.marked.forEach((position) => spot(context, panel, view, position));
    if (!state.narrow && state.data.series.length > 10) endLabels(context, state, panel, view);
  };

  /* What a label says of its axis: that its scale is logarithmic, and how many rows or columns stand for all. */
  function manner(panel, which) {
    const { scale } = panel[which];
    const logarithmic = scale === "linear" ? "" : scale === "log" ? ", log scale" : ", log scale above 1";
    const [cells, side] = [atlas.cellsOf(panel), which === "x" ? "columns" : "rows"];
    const count = cells?.of && cells[side] < cells.of[side] ? `, ${atlas.say(cells[side])} of ${atlas.say(cells.of[side])} drawn` : "";
    return `${logarithmic}${count}${count && cells.paired && which === "x" ? ", in pairs" : ""}`;
  }

  function axes(context, panel, view) {
    const { box, labels } = panel;
    const hasCells = Boolean(atlas.cellsOf(panel));
    context.font = atlas.font(11);
    context.fillStyle = view.theme.muted;
    context.strokeStyle = view.theme.grid;
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    view.y.ticks(Math.max(box.height / 44, 2)).forEach(([value, text]) => {
      const place = Math.round(view.y.to(value)) + 0.5;
      if (!hasCells) atlas.stroke(context, box.left, place, box.left + box.width, place);
      const lines = text.split("\n");
      lines.forEach((line, index) => context.fillText(line, box.left - 6, place + 12 * (index - (lines.length - 1) / 2), box.left - 6 - (labels.y ? 16 : 0)));
    });
    context.textAlign = "center";
    context.textBaseline = "top";
    view.x.ticks(Math.max(box.width / 62, 2)).forEach(([value, text]) => {
      const place = Math.round(view.x.to(value)) + 0.5;
      atlas.stroke(context, place, box.top + box.height, place, box.top + box.height + 4);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(place, half), panel.width - half), box.top + box.height + 6);
    });
    context.strokeStyle = view.theme.muted;
    atlas.stroke(context, box.left, box.top + box.height + 0.5, box.left + box.width, box.top + box.height + 0.5);
    if (labels.x) context.fillText(labels.x + manner(panel, "x"), box.left + box.width / 2, panel.height - 14, box.width + box.left);
    if (labels.y) {
      context.translate(2, box.top + box.height / 2);
      context.rotate(-Math.PI / 2);
      context.fillText(labels.y + manner(panel, "y"), 0, 0, box.height + 20);
      context.rotate(Math.PI / 2);
      context.translate(-2, -box.top - box.height / 2);
    }
  }

  atlas.stroke = (context, x1, y1, x2, y2) => {
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  };

  /* Names at the ends of the lines, moved apart where they would overlap. */
  function endLabels(context, state, panel, view) {
    const ends = panel.marks
      .filter(
        (mark) =>
          mark.kind === "line" && mark.series !== null && mark.width > 0 && atlas.isOn(state, mark) && mark.name === state.data.series[mark.series].name,
      )
      .map((mark) => ({ mark, index: lastShown(mark, panel) }))
      .filter(({ index }) => index >= 0)
      .map(({ mark, index }) => ({ mark, down: view.y.to(mark.ys[index]) - 8, across: Math.min(view.x.to(mark.xs[index]), panel.box.left + panel.box.width) }))
      .sort((one, other) => one.down - other.down);
    if (ends.length < 2 || ends.length > MOST_NAMED) return;
    context.font = atlas.font(10.5);
    context.textAlign = "right";
    context.textBaseline = "middle";
    let above = panel.box.top - 4;
    ends.forEach(({ mark, down, across }) => {
      above = Math.max(down, above + 12);
      atlas.words(
        context,
        mark.name,
        Math.max(across, panel.box.left + context.measureText(mark.name).width),
        Math.min(above, panel.box.top + panel.box.height - 4),
        view.theme[mark.colour] ?? mark.colour,
        view.theme.paper,
      );
    });
  }

  function lastShown(mark, panel) {
    const most = Math.max(...panel.x.limits);
    for (let index = mark.xs.length - 1; index >= 0; index--) if (mark.xs[index] <= most && !Number.isNaN(mark.ys[index])) return index;
    return -1;
  }

  /* Curves in three dimensions */
  atlas.projected = (mark, index, box, [turn, tilt]) => {
    mark.centred ??= centred(mark.places);
    const [first, second, third] = mark.centred[index];
    const [a, b] = [(turn * Math.PI) / 180, (tilt * Math.PI) / 180];
    const [across, depth] = [first * Math.cos(a) + third * Math.sin(a), third * Math.cos(a) - first * Math.sin(a)];
    const down = -second * Math.cos(b) + depth * Math.sin(b);
    return [box.left + box.width * (0.5 + 0.46 * across), box.top + box.height * (0.5 + 0.46 * down), second * Math.sin(b) + depth * Math.cos(b)];
  };

  /* Points around their middle, the farthest at distance 1. */
  function centred(places) {
    const every = Array.from(places[0], (_, index) => places.map((axis) => axis[index]));
    const placed = every.filter((point) => !point.some(Number.isNaN));
    const middle = [0, 1, 2].map((axis) => placed.reduce((sum, point) => sum + point[axis], 0) / placed.length);
    const moved = every.map((point) => point.map((value, axis) => value - middle[axis]));
    const size = Math.max(...moved.filter((point) => !point.some(Number.isNaN)).map((point) => Math.hypot(...point))) || 1;
    return moved.map((point) => point.map((value) => value / size));
  }

  function compass(context, panel) {
    context.font = atlas.font(11);
    context.fillStyle = panel.view.theme.muted;
    context.fillText("drag to turn", panel.box.left + 6, panel.height - 8);
  }

  /* A dot at a position of a curve; none beyond its last. */
  function spot(context, panel, view, position) {
    const mark = panel.marks.find(({ kind }) => kind === "curve");
    if (!mark || position > mark.order.reduce((most, at) => (at > most ? at : most), 0)) return;
    const [across, down] = view.project(mark, atlas.nearestIndex(mark.order, position));
    context.beginPath();
    context.arc(across, down, 5, 0, 2 * Math.PI);
    context.fillStyle = view.theme.warm;
    context.strokeStyle = view.theme.paper;
    context.lineWidth = 2;
    context.fill();
    context.stroke();
  }

  /* Mark positions on every curve. */
  atlas.markPositions = (state, positions) => {
    state.marked = positions;
    state.panels.filter((panel) => atlas.isCurve(panel) && panel.view).forEach((panel) => atlas.drawPanel(state, panel));
  };

  atlas.turned = (state, turn) => {
    state.turn = turn;
    state.panels.filter(atlas.isCurve).forEach((panel) => atlas.drawPanel(state, panel));
  };
})();
