/* A figure that answers: values under a cursor, series switched on and off, zoom, curves that turn; by mouse, finger and keys. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const NARROW = 480; // Pixels; below, one panel a row, and names at the lines.
  const LEAST = 250; // Width of a panel, in pixels.
  const GAP = 18;
  const STEP = 5; // Degrees of a turn.
  const MOST_LISTED = 8; // Series in the list at the cursor; with more, the nearest alone.
  const FIRST_TURN = [30, 20];
  let last = 0;

  /* Show the data of a figure in ``place``. Returns { show(cursor), canvas() }. moved: hears of a new cursor; label: the figure's name */
  atlas.live = (place, data, { label = "", moved = () => {} } = {}) => {
    const panels = data.panels.map((panel) => ({ ...panel, marks: panel.marks.map(atlas.unpacked), whole: { x: panel.x.limits, y: panel.y.limits } }));
    const state = { place, data, panels, label, moved, off: new Set(), near: null, turn: [...FIRST_TURN], id: ++last };
    build(state);
    new ResizeObserver(() => redraw(state)).observe(place);
    new MutationObserver(() => redraw(state)).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(state));
    redraw(state);
    return { show: (cursor) => point(state, cursor), canvas: () => composed(state), turned: (turn) => turned(state, turn), panels };
  };

  function build(state) {
    const grid = atlas.element("div", "pa-panels");
    state.panels.forEach((panel) => {
      panel.outer = atlas.element("div", "pa-panel");
      panel.head = atlas.element("p", "pa-panel-title");
      panel.head.append(atlas.element("span", "", panel.title));
      panel.value = atlas.element("output", "pa-panel-value");
      panel.head.append(panel.value);
      panel.frame = atlas.element("div", "pa-frame");
      [panel.canvas, panel.over] = [atlas.element("canvas"), atlas.element("canvas", "pa-over")];
      panel.tip = atlas.element("div", "pa-tip");
      panel.tip.hidden = true;
      panel.frame.append(panel.canvas, panel.over, panel.tip);
      panel.frame.tabIndex = 0;
      panel.frame.setAttribute("role", "application");
      const turns = isCurve(panel);
      panel.frame.setAttribute("aria-label", `${[state.label, panel.title].filter(Boolean).join(": ")}. ${turns ? "Arrow keys turn it." : "Arrow keys move the cursor, plus and minus zoom, Escape resets."}`);
      panel.outer.append(panel.head, panel.frame);
      grid.append(panel.outer);
      listen(state, panel);
    });
    state.live = atlas.element("p", "pa-said");
    state.live.setAttribute("aria-live", "polite");
    state.reset = button("Reset zoom", () => zoom(state, null));
    state.reset.hidden = true;
    state.foot = atlas.element("div", "pa-legend");
    legend(state);
    if (state.data.scale) state.foot.append(scaleOf(state.data.scale));
    state.foot.append(state.reset);
    state.grid = grid;
    state.place.replaceChildren(grid, state.foot, state.live);
  }

  function button(text, act) {
    const made = atlas.element("button", "", text);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  /* A button for each series, which switches it on and off. */
  function legend(state) {
    state.data.series.forEach((series, index) => {
      const entry = button("", () => {
        state.off.has(index) ? state.off.delete(index) : state.off.add(index);
        entry.setAttribute("aria-pressed", !state.off.has(index));
        redraw(state);
      });
      entry.className = "pa-series";
      entry.setAttribute("aria-pressed", "true");
      entry.append(sample(series), atlas.element("span", "", series.name));
      entry.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && highlight(state, index));
      entry.addEventListener("pointerleave", () => highlight(state, null));
      state.foot.append(entry);
    });
  }

  function sample({ colour, dash }) {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    line.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", "M0 5h24");
    path.style.stroke = colour.startsWith("#") ? colour : `var(--pa-${colour === "grid" ? "line" : colour})`;
    if (dash) path.style.strokeDasharray = dash.map((length) => 2 * length).join(" ");
    line.append(path);
    return line;
  }

  function scaleOf({ label, limits, stops }) {
    const scale = atlas.element("div", "pa-scale");
    const bar = atlas.element("span", "pa-bar");
    bar.style.background = atlas.strip(atlas.colormap(stops));
    scale.append(atlas.element("span", "", atlas.say(limits[0])), bar, atlas.element("span", "", atlas.say(limits[1])), atlas.element("span", "pa-unit", label));
    return scale;
  }

  function highlight(state, index) {
    if (state.near === index) return;
    state.near = index;
    redraw(state);
  }

  const isCurve = (panel) => panel.marks.some(({ kind }) => kind === "curve");
  const cellsOf = (panel) => panel.marks.find(({ kind }) => kind === "cells");
  const pointsOf = (panel) => panel.marks.find(({ kind }) => kind === "points");
  const isOn = (state, mark) => mark.series === null || mark.series === undefined || !state.off.has(mark.series);

  /* Layout and drawing */
  function redraw(state) {
    const width = state.place.clientWidth;
    if (!width) return;
    state.narrow = width < NARROW;
    state.theme = atlas.theme();
    const most = Math.max(...state.panels.map(({ column }) => column)) + 1;
    const small = state.panels.length > 4 && state.panels.every((panel) => panel.square || cellsOf(panel));
    const columns = Math.max(1, Math.min(most, Math.floor((width + GAP) / ((small ? 150 : LEAST) + GAP))));
    state.grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    const each = (width - (columns - 1) * GAP) / columns;
    const across = state.panels.length === 1 && (state.panels[0].square || isCurve(state.panels[0])) ? Math.min(each, 420) : each;
    const rows = Math.ceil(state.panels.length / columns);
    state.panels.forEach((panel, index) => {
      const names = { x: Math.floor(index / columns) === rows - 1 || index + columns >= state.panels.length, y: index % columns === 0 };
      layOut(state, panel, across, names);
      draw(state, panel);
    });
  }

  const named = (state, axis, which) => axis.label || (state.panels.find((panel) => panel[which].label) ?? { [which]: { label: "" } })[which].label;

  function layOut(state, panel, width, names) {
    panel.head.hidden = !panel.title;
    panel.head.style.color = panel.colour.startsWith("#") ? panel.colour : "";
    const context = panel.canvas.getContext("2d");
    context.font = atlas.font(11);
    const curve = isCurve(panel);
    const labels = { x: names.x ? named(state, panel.x, "x") : "", y: names.y ? named(state, panel.y, "y") : "" };
    const provisional = Math.max(panel.shape * width, 160);
    const texts = curve ? [] : atlas.scale(panel.y, panel.y.limits, [provisional, 0]).ticks(Math.max(provisional / 44, 2)).map(([, text]) => text);
    const left = curve ? 0 : Math.min(Math.max(...texts.map((text) => context.measureText(text).width), 8) + 8 + (labels.y ? 16 : 0), width * 0.4);
    const bottom = curve ? 0 : 20 + (labels.x ? 17 : 0);
    const box = { left, top: curve ? 0 : 7, width: width - left - (curve ? 0 : 9) };
    box.height = curve ? box.width : panel.square ? box.width * squareness(panel) : Math.max(panel.shape * box.width, state.narrow ? 190 : 120);
    Object.assign(panel, { box, labels, width, height: box.top + box.height + bottom });
    panel.frame.style.height = `${panel.height}px`;
    panel.frame.style.width = `${width}px`;
  }

  const squareness = (panel) => Math.min(Math.max(panel.shape, 0.2), 2);

  function prepared(canvas, panel) {
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.round(panel.width * ratio), Math.round(panel.height * ratio)];
    [canvas.style.width, canvas.style.height] = [`${panel.width}px`, `${panel.height}px`];
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    return context;
  }

  function viewOf(state, panel) {
    const { box } = panel;
    const x = atlas.scale(panel.x, panel.x.limits, [box.left, box.left + box.width]);
    const y = atlas.scale(panel.y, panel.y.limits, [box.top + box.height, box.top]);
    const dark = document.body.dataset.mdColorScheme === "slate";
    const lighten = (share) => (dark ? 0.16 + 0.84 * share : 0.94 * share); // The ends of the map would disappear in the page.
    return { x, y, box, theme: state.theme, map: state.data.scale && atlas.colormap(state.data.scale.stops), lighten, project: (mark, index) => projected(mark, index, box, state.turn) };
  }

  function draw(state, panel) {
    const context = prepared(panel.canvas, panel);
    const view = (panel.view = viewOf(state, panel));
    if (!isCurve(panel)) axes(context, panel, view);
    panel.marks.filter((mark) => isOn(state, mark)).forEach((mark) => {
      const dim = state.near !== null && mark.series !== state.near && mark.kind !== "cells" && mark.kind !== "rule";
      atlas.drawMark(context, mark, view, dim);
    });
    if (isCurve(panel)) compass(context, panel, view);
    if (state.narrow || state.data.series.length > 10) endLabels(context, state, panel, view);
    drawCursor(state, panel);
  }

  function axes(context, panel, view) {
    const { box, labels } = panel;
    const hasCells = Boolean(cellsOf(panel));
    context.font = atlas.font(11);
    context.fillStyle = view.theme.muted;
    context.strokeStyle = view.theme.grid;
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    view.y.ticks(Math.max(box.height / 44, 2)).forEach(([value, text]) => {
      const place = Math.round(view.y.to(value)) + 0.5;
      if (!hasCells) line(context, box.left, place, box.left + box.width, place);
      context.fillText(text, box.left - 6, place);
    });
    context.textAlign = "center";
    context.textBaseline = "top";
    view.x.ticks(Math.max(box.width / 62, 2)).forEach(([value, text]) => {
      const place = Math.round(view.x.to(value)) + 0.5;
      line(context, place, box.top + box.height, place, box.top + box.height + 4);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(place, half), panel.width - half), box.top + box.height + 6);
    });
    context.strokeStyle = view.theme.muted;
    line(context, box.left, box.top + box.height + 0.5, box.left + box.width, box.top + box.height + 0.5);
    if (labels.x) context.fillText(labels.x, box.left + box.width / 2, panel.height - 14, box.width + box.left);
    if (labels.y) {
      context.translate(2, box.top + box.height / 2);
      context.rotate(-Math.PI / 2);
      context.fillText(labels.y, 0, 0, box.height + 20);
      context.rotate(Math.PI / 2);
      context.translate(-2, -box.top - box.height / 2);
    }
  }

  function line(context, x1, y1, x2, y2) {
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  }

  /* Names at the ends of the lines, moved apart where they would overlap. */
  function endLabels(context, state, panel, view) {
    const ends = panel.marks
      .filter((mark) => mark.kind === "line" && mark.series !== null && mark.width > 0 && isOn(state, mark) && mark.name === state.data.series[mark.series].name)
      .map((mark) => ({ mark, index: lastShown(mark, panel) }))
      .filter(({ index }) => index >= 0)
      .map(({ mark, index }) => ({ mark, down: view.y.to(mark.ys[index]) - 8, across: Math.min(view.x.to(mark.xs[index]), panel.box.left + panel.box.width) }))
      .sort((one, other) => one.down - other.down);
    if (ends.length > 6) return;
    context.font = atlas.font(10.5);
    context.textAlign = "right";
    context.textBaseline = "middle";
    let above = panel.box.top - 4;
    ends.forEach(({ mark, down, across }) => {
      above = Math.max(down, above + 12);
      atlas.words(context, mark.name, Math.max(across, panel.box.left + context.measureText(mark.name).width), Math.min(above, panel.box.top + panel.box.height - 4), view.theme[mark.colour] ?? mark.colour, view.theme.paper);
    });
  }

  function lastShown(mark, panel) {
    const most = Math.max(...panel.x.limits);
    for (let index = mark.xs.length - 1; index >= 0; index--) if (mark.xs[index] <= most && !Number.isNaN(mark.ys[index])) return index;
    return -1;
  }

  /* Curves in three dimensions */
  function projected(mark, index, box, [turn, tilt]) {
    mark.centred ??= centred(mark.places);
    const [first, second, third] = mark.centred[index];
    const [a, b] = [(turn * Math.PI) / 180, (tilt * Math.PI) / 180];
    const [across, depth] = [first * Math.cos(a) + third * Math.sin(a), third * Math.cos(a) - first * Math.sin(a)];
    const down = -second * Math.cos(b) + depth * Math.sin(b);
    return [box.left + box.width * (0.5 + 0.46 * across), box.top + box.height * (0.5 + 0.46 * down), second * Math.sin(b) + depth * Math.cos(b)];
  }

  /* Points around their middle, the farthest at distance 1. */
  function centred(places) {
    const every = Array.from(places[0], (_, index) => places.map((axis) => axis[index]));
    const placed = every.filter((point) => !point.some(Number.isNaN));
    const middle = [0, 1, 2].map((axis) => placed.reduce((sum, point) => sum + point[axis], 0) / placed.length);
    const moved = every.map((point) => point.map((value, axis) => value - middle[axis]));
    const size = Math.max(...moved.filter((point) => !point.some(Number.isNaN)).map((point) => Math.hypot(...point))) || 1;
    return moved.map((point) => point.map((value) => value / size));
  }

  function compass(context, panel, view) {
    context.font = atlas.font(11);
    context.fillStyle = view.theme.muted;
    context.fillText("drag to turn", panel.box.left + 6, panel.height - 8);
  }

  function turned(state, turn) {
    state.turn = turn;
    state.panels.filter(isCurve).forEach((panel) => draw(state, panel));
  }

  /* Cursor */
  function drawCursor(state, panel) {
    const context = prepared(panel.over, panel);
    const at = panel.at;
    if (!at || !panel.view) return;
    const { box, view } = panel;
    context.strokeStyle = view.theme.warm;
    context.lineWidth = 1.2;
    if (cellsOf(panel)) {
      const [x, y] = [view.x.to(at.x), view.y.to(at.y)];
      [[2.4, view.theme.paper], [1.2, view.theme.ink]].forEach(([width, colour]) => {
        context.lineWidth = width;
        context.strokeStyle = colour;
        line(context, box.left, y, box.left + box.width, y);
        line(context, x, box.top, x, box.top + box.height);
      });
      return;
    }
    if (at.x !== undefined && !isCurve(panel) && !pointsOf(panel)) line(context, view.x.to(at.x), box.top, view.x.to(at.x), box.top + box.height);
    (at.spots ?? []).forEach(({ x, y, colour }) => {
      context.beginPath();
      context.arc(x, y, 4, 0, 2 * Math.PI);
      context.fillStyle = view.theme[colour] ?? colour;
      context.strokeStyle = view.theme.paper;
      context.fill();
      context.stroke();
    });
  }

  const nearestIndex = (values, wanted) => {
    let best = -1;
    for (let index = 0; index < values.length; index++) {
      if (!Number.isNaN(values[index]) && (best < 0 || Math.abs(values[index] - wanted) < Math.abs(values[best] - wanted))) best = index;
    }
    return best;
  };

  const linesOf = (state, panel) => panel.marks.filter((mark) => mark.kind === "line" && isOn(state, mark) && mark.xs.length > 1);

  /* Move the cursor of a panel to a place in its data, and that of all panels over the same axis. */
  function moveTo(state, panel, x, y) {
    const cursor = { panel: state.panels.indexOf(panel), x, y };
    point(state, cursor);
    state.moved(cursor);
  }

  function point(state, cursor) {
    if (!cursor) return clear(state);
    const main = state.panels[cursor.panel];
    state.panels.forEach((panel) => {
      const same = panel === main || (panel.x.label === main.x.label && Boolean(cellsOf(panel)) === Boolean(cellsOf(main)) && !isCurve(main) && !pointsOf(main));
      panel.at = same ? valueAt(state, panel, cursor) : null;
      panel.value.textContent = panel.at?.text && cellsOf(panel) ? panel.at.text : "";
      tip(state, panel, panel === main ? panel.at : null);
      drawCursor(state, panel);
    });
    state.live.textContent = main.at ? [main.at.title, ...(main.at.rows ?? []).map(({ name, text }) => `${name ? `${name}: ` : ""}${text}`)].join("; ") : "";
  }

  function clear(state) {
    state.panels.forEach((panel) => {
      panel.at = null;
      panel.value.textContent = "";
      panel.tip.hidden = true;
      drawCursor(state, panel);
    });
  }

  function valueAt(state, panel, { x, y }) {
    const cells = cellsOf(panel);
    if (cells) return cellAt(panel, cells, x, y);
    const points = panel.marks.find(({ kind }) => kind === "points" || kind === "curve");
    if (points) return pointAt(state, panel, points, x, y);
    return linesAt(state, panel, x, y);
  }

  function cellAt(panel, cells, x, y) {
    const [left, right, bottom, top] = cells.extent;
    const column = Math.min(Math.max(Math.floor(((x - left) / (right - left)) * cells.columns), 0), cells.columns - 1);
    const row = Math.min(Math.max(Math.floor(((y - top) / (bottom - top)) * cells.rows), 0), cells.rows - 1);
    const value = cells.values[row * cells.columns + column];
    const text = atlas.say(value, atlas.step(cells));
    const span = (index, from, to, count) => {
      const step = (to - from) / count;
      const [low, high] = [from + index * step, from + (index + 1) * step].sort((one, other) => one - other);
      const [first, final] = [Math.round(low + 0.5), Math.round(high - 0.5)];
      return first >= final ? atlas.say(Math.round((low + high) / 2)) : `${atlas.say(first)}–${atlas.say(final)}`;
    };
    const title = `${panel.y.label || "row"} ${tickName(panel.y, row, span(row, top, bottom, cells.rows))}, ${panel.x.label || "column"} ${tickName(panel.x, column, span(column, left, right, cells.columns))}`;
    const middle = (index, from, to, count) => from + ((index + 0.5) / count) * (to - from);
    return { x: middle(column, left, right, cells.columns), y: middle(row, top, bottom, cells.rows), title, text, rows: [{ name: "", text }], row, column };
  }

  /* The name of a tick at this place, where the axis has names that are not numbers. */
  function tickName(axis, place, otherwise) {
    const tick = (axis.ticks ?? []).find(([at, name]) => at === place && name !== null && Number.isNaN(Number(name.replace("−", "-"))));
    return tick ? `${otherwise} (${tick[1]})` : otherwise;
  }

  function pointAt(state, panel, mark, x, y) {
    const wanted = [panel.view.x.to(x), panel.view.y.to(y)];
    const places = Array.from(mark.order, (_, index) => (mark.kind === "curve" ? panel.view.project(mark, index) : [panel.view.x.to(mark.places[0][index]), panel.view.y.to(mark.places[1][index])]));
    const away = places.map(([across, down]) => Math.hypot(across - wanted[0], down - wanted[1]));
    const index = nearestIndex(away, 0);
    if (index < 0) return null;
    const values = mark.kind === "curve" ? [] : mark.places.map((axis, which) => ({ name: which ? panel.y.label : panel.x.label, text: atlas.say(axis[index]) }));
    const spot = { x: places[index][0], y: places[index][1], colour: mark.colour ?? "warm" };
    return { x: mark.places[0][index], y: mark.places[1][index], title: `position ${atlas.say(mark.order[index])}`, rows: values, spots: [spot], index };
  }

  function linesAt(state, panel, x, y) {
    const lines = linesOf(state, panel);
    if (!lines.length) return null;
    const found = lines.map((mark) => ({ mark, index: nearestIndex(mark.xs, x) })).filter(({ index }) => index >= 0);
    const best = found.reduce((one, other) => (Math.abs(other.mark.xs[other.index] - x) < Math.abs(one.mark.xs[one.index] - x) ? other : one));
    const at = best.mark.xs[best.index];
    const here = found
      .filter(({ mark, index }) => Math.abs(panel.view.x.to(mark.xs[index]) - panel.view.x.to(at)) < 3 && !Number.isNaN(mark.ys[index]))
      .map(({ mark, index }) => ({ mark, index, down: panel.view.y.to(mark.ys[index]) }));
    const wanted = y === undefined ? null : panel.view.y.to(y);
    const near = wanted === null ? here : [...here].sort((one, other) => Math.abs(one.down - wanted) - Math.abs(other.down - wanted));
    const listed = here.length <= MOST_LISTED ? here : near.slice(0, 1);
    const nameOf = ({ name, series }) => name ?? (series !== null && series !== undefined ? state.data.series[series].name : "");
    const rows = [...listed].sort((one, other) => one.down - other.down).map(({ mark, index }) => ({ name: nameOf(mark), colour: mark.colour, text: ridge(panel, mark.ys[index]) }));
    const spots = listed.map(({ mark, index, down }) => ({ x: panel.view.x.to(mark.xs[index]), y: down, colour: mark.colour }));
    return { x: at, y, title: `${panel.x.label || "at"} ${atlas.say(at)}`, rows, spots };
  }

  /* The value of a line; of one among many above one another, the name of its tick. */
  function ridge(panel, value) {
    if (!panel.y.ticks || panel.y.ticks.length < 2 || panel.y.ticks.some(([, name]) => name === null)) return atlas.say(value);
    const [place, name] = panel.y.ticks.reduce((one, other) => (Math.abs(other[0] - value) < Math.abs(one[0] - value) ? other : one));
    return `${panel.y.label} ${name}: ${atlas.say(value - place)}`;
  }

  function tip(state, panel, at) {
    panel.tip.hidden = !at;
    if (!at) return;
    const rows = (at.rows ?? []).map(({ name, text, colour }) => {
      const row = atlas.element("span", "pa-tip-row");
      const key = atlas.element("i");
      if (colour) key.style.background = state.theme[colour] ?? colour;
      row.append(...(colour ? [key] : []), atlas.element("span", "", name), atlas.element("b", "", text));
      return row;
    });
    panel.tip.replaceChildren(atlas.element("span", "pa-tip-title", at.title), ...rows);
    const spot = at.spots?.[0] ?? { x: panel.view.x.to(at.x), y: panel.view.y.to(at.y ?? 0) };
    const right = spot.x > panel.box.left + panel.box.width / 2;
    panel.tip.style.left = right ? "" : `${spot.x + 12}px`;
    panel.tip.style.right = right ? `${panel.width - spot.x + 12}px` : "";
    panel.tip.style.top = `${Math.min(Math.max(spot.y - 20, 0), Math.max(panel.box.height - panel.tip.offsetHeight, 0))}px`;
  }

  /* Zoom: of all panels over the same axis. box: { x, y } limits, either of them undefined; null for the whole */
  function zoom(state, panel, box) {
    const alike = panel ? state.panels.filter((other) => other.x.label === panel.x.label && !isCurve(other)) : state.panels;
    alike.forEach((other) => {
      other.x = { ...other.x, limits: box?.x ?? (box ? other.x.limits : other.whole.x) };
      other.y = { ...other.y, limits: box?.y ?? (box ? other.y.limits : other.whole.y) };
    });
    state.reset.hidden = state.panels.every(({ x, y, whole }) => x.limits === whole.x && y.limits === whole.y);
    redraw(state);
  }

  function nearer(state, panel, factor) {
    const about = { x: panel.at?.x ?? panel.view.x.from(panel.box.left + panel.box.width / 2), y: panel.at?.y ?? panel.view.y.from(panel.box.top + panel.box.height / 2) };
    const whole = { x: { ...panel.x, limits: panel.whole.x }, y: { ...panel.y, limits: panel.whole.y } };
    const box = { x: atlas.zoomed(whole.x, panel.x.limits, about.x, factor) };
    if (cellsOf(panel)) box.y = atlas.zoomed(whole.y, panel.y.limits, about.y, factor);
    const isWhole = ["x", "y"].every((which) => !box[which] || box[which].every((limit, index) => Math.abs(limit - panel.whole[which][index]) < 1e-9));
    zoom(state, isWhole ? null : panel, isWhole ? undefined : box);
  }

  /* Hands and keys */
  function listen(state, panel) {
    let grip = null;
    const placeOf = (event) => {
      const box = panel.frame.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const inside = ([across, down]) => {
      const { box } = panel;
      return [Math.min(Math.max(across, box.left), box.left + box.width), Math.min(Math.max(down, box.top), box.top + box.height)];
    };
    const follow = (event) => {
      const [across, down] = inside(placeOf(event));
      moveTo(state, panel, panel.view.x.from(across), panel.view.y.from(down));
    };
    panel.frame.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      grip = { start: placeOf(event), last: [event.clientX, event.clientY], touch: event.pointerType !== "mouse" };
      if (!grip.touch || isCurve(panel)) panel.frame.setPointerCapture(event.pointerId);
      if (grip.touch && !isCurve(panel)) follow(event);
    });
    panel.frame.addEventListener("pointermove", (event) => {
      if (isCurve(panel) && grip) {
        const [turn, tilt] = state.turn;
        turned(state, clamped(turn + (event.clientX - grip.last[0]) / 2, tilt + (event.clientY - grip.last[1]) / 2));
        grip.last = [event.clientX, event.clientY];
        return;
      }
      follow(event);
      if (grip && !grip.touch) selection(panel, grip.start, inside(placeOf(event)));
    });
    panel.frame.addEventListener("pointerup", (event) => {
      const [start, end] = [grip?.start, inside(placeOf(event))];
      if (grip && !grip.touch && !isCurve(panel) && Math.abs(end[0] - start[0]) > 8) select(state, panel, inside(start), end);
      grip = null;
    });
    panel.frame.addEventListener("pointercancel", () => (grip = null));
    panel.frame.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && !grip && leave(state));
    panel.frame.addEventListener("dblclick", () => zoom(state, null));
    panel.frame.addEventListener("blur", () => leave(state));
    panel.frame.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (key(state, panel, event)) event.preventDefault();
    });
  }

  function leave(state) {
    clear(state);
    state.moved(null);
  }

  const clamped = (turn, tilt) => [Math.round(turn) % 360, Math.max(-90, Math.min(90, Math.round(tilt)))];

  function selection(panel, [x1, y1], [x2, y2]) {
    const context = panel.over.getContext("2d");
    context.fillStyle = "rgba(128, 140, 160, 0.25)";
    const cells = Boolean(cellsOf(panel));
    context.fillRect(x1, cells ? y1 : panel.box.top, x2 - x1, cells ? y2 - y1 : panel.box.height);
  }

  function select(state, panel, [x1, y1], [x2, y2]) {
    const ordered = (one, other, limits) => (limits[0] < limits[1] === one < other ? [one, other] : [other, one]);
    const box = { x: ordered(panel.view.x.from(x1), panel.view.x.from(x2), panel.x.limits) };
    if (cellsOf(panel) && Math.abs(y2 - y1) > 8) box.y = ordered(panel.view.y.from(y1), panel.view.y.from(y2), panel.y.limits);
    zoom(state, panel, box);
  }

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  /* Whether a key was meant for the figure. */
  function key(state, panel, event) {
    if (event.key === "Escape") {
      if (state.reset.hidden && !panel.at) return false;
      zoom(state, null);
      clear(state);
      return true;
    }
    if (isCurve(panel)) {
      const arrow = ARROWS[event.key];
      if (arrow) turned(state, clamped(state.turn[0] + STEP * arrow[0], state.turn[1] + STEP * arrow[1]));
      return Boolean(arrow);
    }
    if (event.key === "+" || event.key === "=") return nearer(state, panel, 0.5), true;
    if (event.key === "-") return nearer(state, panel, 2), true;
    const arrow = ARROWS[event.key];
    if (!arrow) return false;
    step(state, panel, arrow.map((part) => part * (event.shiftKey ? 10 : 1)));
    return true;
  }

  /* Move the cursor from value to value; upright over lines not at all, over cells from row to row. */
  function step(state, panel, [across, down]) {
    const cells = cellsOf(panel);
    if (cells) {
      const [left, right, bottom, top] = cells.extent;
      const now = panel.at ?? { x: left, y: top };
      return moveTo(state, panel, now.x + (across * (right - left)) / cells.columns, now.y + (down * (bottom - top)) / cells.rows);
    }
    const points = pointsOf(panel);
    if (points) {
      const index = Math.min(Math.max((panel.at?.index ?? -1) + across - down, 0), points.order.length - 1);
      return moveTo(state, panel, points.places[0][index], points.places[1][index]);
    }
    const lines = linesOf(state, panel);
    if (!lines.length) return undefined;
    const xs = lines.reduce((one, other) => (other.xs.length > one.xs.length ? other : one)).xs;
    const start = panel.at ? nearestIndex(xs, panel.at.x) : -1;
    const index = Math.min(Math.max(start + across, 0), xs.length - 1);
    return moveTo(state, panel, xs[index], panel.at?.y);
  }

  /* The whole figure as one canvas, for a picture to take away. */
  function composed(state) {
    const ratio = window.devicePixelRatio || 1;
    const [outer, canvas] = [state.grid.getBoundingClientRect(), document.createElement("canvas")];
    const names = state.data.series.filter((_, index) => !state.off.has(index));
    const room = 26 + 18 * names.length + (state.data.scale ? 26 : 0);
    [canvas.width, canvas.height] = [outer.width * ratio, (outer.height + room) * ratio];
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.fillStyle = state.theme.paper;
    context.fillRect(0, 0, outer.width, outer.height + room);
    context.textBaseline = "top";
    state.panels.forEach((panel) => {
      const box = panel.outer.getBoundingClientRect();
      const [left, top] = [box.left - outer.left, box.top - outer.top];
      context.font = `bold ${atlas.font(12)}`;
      context.fillStyle = panel.colour.startsWith("#") ? panel.colour : state.theme.ink;
      context.fillText(panel.title, left, top + 2);
      const frame = panel.frame.getBoundingClientRect();
      context.drawImage(panel.canvas, left, frame.top - outer.top, panel.width, panel.height);
    });
    context.font = atlas.font(11);
    names.forEach((series, index) => {
      context.fillStyle = state.theme[series.colour] ?? series.colour;
      context.fillRect(4, outer.height + 12 + 18 * index, 22, 2.5);
      context.fillStyle = state.theme.ink;
      context.fillText(series.name, 32, outer.height + 6 + 18 * index);
    });
    if (state.data.scale) {
      const { label, limits, stops } = state.data.scale;
      const [top, map] = [outer.height + 10 + 18 * names.length, atlas.colormap(stops)];
      for (let pixel = 0; pixel < 120; pixel++) {
        context.fillStyle = atlas.css(map, pixel / 119);
        context.fillRect(60 + pixel, top, 1.5, 8);
      }
      context.fillStyle = state.theme.ink;
      context.fillText(atlas.say(limits[0]), 4, top - 2);
      context.fillText(`${atlas.say(limits[1])}   ${label}`, 188, top - 2);
    }
    return canvas;
  }
})();
