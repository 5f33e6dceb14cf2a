/* The cursor of a figure: the values under it, in all panels over the same axis. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const MOST_LISTED = 8; // Series in the list at the cursor; with more, the nearest alone.
  /* Cursor */
  atlas.drawCursor = (state, panel) => {
    const context = atlas.prepared(panel.over, panel);
    const at = panel.at;
    if (!at || !panel.view) return;
    const { box, view } = panel;
    context.strokeStyle = view.theme.warm;
    context.lineWidth = 1.2;
    if (atlas.cellsOf(panel)) {
      const [x, y] = [view.x.to(at.x), view.y.to(at.y)];
      [
        [2.4, view.theme.paper],
        [1.2, view.theme.ink],
      ].forEach(([width, colour]) => {
        context.lineWidth = width;
        context.strokeStyle = colour;
        atlas.stroke(context, box.left, y, box.left + box.width, y);
        atlas.stroke(context, x, box.top, x, box.top + box.height);
      });
      return;
    }
    if (at.x !== undefined && !atlas.isCurve(panel) && !atlas.pointsOf(panel))
      atlas.stroke(context, view.x.to(at.x), box.top, view.x.to(at.x), box.top + box.height);
    if (at.quiet) atlas.drawMark(context, { ...at.quiet, colour: "ink", width: 1.6, alpha: 1 }, view);
    (at.spots ?? []).forEach(({ x, y, colour }) => {
      context.beginPath();
      context.arc(x, y, 4, 0, 2 * Math.PI);
      context.fillStyle = view.theme[colour] ?? colour;
      context.strokeStyle = view.theme.paper;
      context.fill();
      context.stroke();
    });
  };

  atlas.nearestIndex = (values, wanted) => {
    let best = -1;
    for (let index = 0; index < values.length; index++) {
      if (!Number.isNaN(values[index]) && (best < 0 || Math.abs(values[index] - wanted) < Math.abs(values[best] - wanted))) best = index;
    }
    return best;
  };

  atlas.linesOf = (state, panel) => panel.marks.filter((mark) => mark.kind === "line" && !mark.aside && atlas.isOn(state, mark) && mark.xs.length > 1);

  /* Move the cursor of a panel to a place in its data, and that of all panels over the same axis. */
  atlas.moveTo = (state, panel, x, y) => {
    const cursor = { panel: state.panels.indexOf(panel), x, y };
    atlas.pointAtCursor(state, cursor);
    state.moved(cursor);
  };

  /* tip: whether values stand beside the cursor; aloud: whether they are said */
  atlas.pointAtCursor = (state, cursor, { tip: beside = true, aloud = true } = {}) => {
    if (!cursor) return atlas.clearCursor(state);
    const main = state.panels[cursor.panel];
    state.panels.forEach((panel) => {
      const same =
        panel === main ||
        (panel.x.name === main.x.name && Boolean(atlas.cellsOf(panel)) === Boolean(atlas.cellsOf(main)) && !atlas.isCurve(main) && !atlas.pointsOf(main));
      panel.at = same ? valueAt(state, panel, cursor, panel === main) : null;
      panel.value.textContent = panel.at?.text && atlas.cellsOf(panel) ? panel.at.text : "";
      if (same && !panel.at && atlas.cellsOf(panel)) panel.value.textContent = "none here";
      tip(state, panel, panel === main && beside ? panel.at : null);
      atlas.drawCursor(state, panel);
    });
    if (aloud) state.live.textContent = said(state, main);
  };

  /* The values at the cursor as a sentence; over cells, those of all panels that show the same place. */
  function said(state, main) {
    if (!main.at) return "";
    const linked = atlas.cellsOf(main) ? state.panels.filter((panel) => panel.value.textContent && panel.title) : [];
    const rows = linked.length > 1 ? linked.map((panel) => ({ name: panel.title, text: panel.value.textContent })) : (main.at.rows ?? []);
    return [main.at.title, ...rows.map(({ name, text }) => `${name ? `${name}: ` : ""}${text}`)].join("; ");
  }

  atlas.clearCursor = (state) => {
    state.panels.forEach((panel) => {
      panel.at = null;
      panel.value.textContent = "";
      panel.tip.hidden = true;
      atlas.drawCursor(state, panel);
    });
  };

  /* nearest: whether a place beyond the cells means the nearest of them */
  function valueAt(state, panel, { x, y }, nearest) {
    const cells = atlas.cellsOf(panel);
    if (cells) return nearest || isWithin(cells.extent, x, y) ? cellAt(panel, cells, x, y) : null;
    const points = panel.marks.find(({ kind }) => kind === "points" || kind === "curve");
    if (points) return pointAt(state, panel, points, x, y);
    return linesAt(state, panel, x, y);
  }

  function isWithin([left, right, bottom, top], x, y) {
    return (x - left) * (x - right) <= 0 && (y - top) * (y - bottom) <= 0;
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
    const [down, over] = cells.at
      ? [atlas.say(cells.at.rows[row]), atlas.say(cells.at.columns[column])]
      : [tickName(panel.y, row, span(row, top, bottom, cells.rows)), tickName(panel.x, column, span(column, left, right, cells.columns))];
    const title = `${panel.y.name || "row"} ${down}, ${panel.x.name || "column"} ${over}`;
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
    const places = Array.from(mark.order, (_, index) =>
      mark.kind === "curve" ? panel.view.project(mark, index) : [panel.view.x.to(mark.places[0][index]), panel.view.y.to(mark.places[1][index])],
    );
    const away = places.map(([across, down]) => Math.hypot(across - wanted[0], down - wanted[1]));
    const index = atlas.nearestIndex(away, 0);
    if (index < 0) return null;
    const values = mark.kind === "curve" ? [] : mark.places.map((axis, which) => ({ name: which ? panel.y.name : panel.x.name, text: atlas.say(axis[index]) }));
    const spot = { x: places[index][0], y: places[index][1], colour: mark.colour ?? "warm" };
    return { x: mark.places[0][index], y: mark.places[1][index], title: `position ${atlas.say(mark.order[index])}`, rows: values, spots: [spot], index };
  }

  function linesAt(state, panel, x, y) {
    const lines = atlas.linesOf(state, panel);
    if (!lines.length) return null;
    const found = lines.map((mark) => ({ mark, index: atlas.nearestIndex(mark.xs, x) })).filter(({ index }) => index >= 0);
    const best = found.reduce((one, other) => (Math.abs(other.mark.xs[other.index] - x) < Math.abs(one.mark.xs[one.index] - x) ? other : one));
    const at = best.mark.xs[best.index];
    const here = found
      .filter(({ mark, index }) => Math.abs(panel.view.x.to(mark.xs[index]) - panel.view.x.to(at)) < 3 && !Number.isNaN(mark.ys[index]))
      .map(({ mark, index }) => ({ mark, index, down: panel.view.y.to(mark.ys[index]) }));
    const wanted = y === undefined ? null : panel.view.y.to(y);
    const near = wanted === null ? here : [...here].sort((one, other) => Math.abs(one.down - wanted) - Math.abs(other.down - wanted));
    const listed = here.length <= MOST_LISTED ? here : near.slice(0, 1);
    const rows = [...listed]
      .sort((one, other) => one.down - other.down)
      .map(({ mark, index }) => ({ name: atlas.seriesOf(panel, mark), colour: mark.colour, text: atlas.say(mark.ys[index] - (mark.base ?? 0)) }));
    const spots = listed.map(({ mark, index, down }) => ({ x: panel.view.x.to(mark.xs[index]), y: down, colour: mark.colour }));
    const quiet = near[0]?.mark.quiet ? near[0].mark : null; // Comes forward while it is pointed at.
    return { x: at, y, title: `${panel.x.name || "at"} ${atlas.say(at)}`, rows, spots, quiet };
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
})();
