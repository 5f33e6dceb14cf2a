/* A figure that answers: values under a cursor, series switched on and off, zoom, curves that turn; by mouse, finger and keys. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const FIRST_TURN = [60, 20];
  let last = 0;

  /* Show the data of a figure in ``place``. label: the figure's name; moved: hears of a new cursor; turned: hears of a turn that is over.
     Returns { show(cursor, { tip, aloud }), turned(turn), marked(positions), stop(), panels, state }. */
  atlas.live = (place, data, { label = "", moved = () => {}, turned = () => {} } = {}) => {
    const nameOf = (panel, which) => panel[which].label || (data.panels.find((other) => other[which].label)?.[which].label ?? ""); // Inner panels leave it out.
    const axis = (panel, which) => ({ ...panel[which], name: nameOf(panel, which) });
    const panels = data.panels.map((panel) => ({
      ...panel,
      x: axis(panel, "x"),
      y: axis(panel, "y"),
      marks: panel.marks.map(atlas.unpacked),
      whole: { x: panel.x.limits, y: panel.y.limits },
    }));
    const state = { place, data, panels, label, moved, ended: turned, marked: [], off: new Set(), near: null, turn: [...FIRST_TURN], id: ++last };
    build(state);
    const [size, scheme, gone] = [new ResizeObserver(() => atlas.redraw(state)), new MutationObserver(() => atlas.redraw(state)), new AbortController()];
    size.observe(place);
    scheme.observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => atlas.redraw(state), { signal: gone.signal });
    atlas.redraw(state);
    return {
      show: (cursor, how) => atlas.pointAtCursor(state, cursor, how),
      turned: (turn) => atlas.turned(state, turn),
      marked: (positions) => atlas.markPositions(state, positions),
      stop: () => [size.disconnect(), scheme.disconnect(), gone.abort()],
      panels,
      state,
    };
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
      const turns = atlas.isCurve(panel);
      if (turns) panel.frame.style.touchAction = "none"; // A finger turns the curve and does not scroll the page.
      panel.frame.setAttribute(
        "aria-label",
        `${[state.label, panel.title].filter(Boolean).join(": ")}. ${turns ? "Arrow keys turn it." : "Arrow keys move the cursor, plus and minus zoom, Escape resets."}`,
      );
      panel.outer.append(panel.head, panel.frame);
      if (panel.scale) panel.outer.append(scaleOf(panel.scale));
      grid.append(panel.outer);
      atlas.listen(state, panel);
    });
    state.live = atlas.element("p", "pa-said");
    state.live.setAttribute("aria-live", "polite");
    state.reset = atlas.button("Reset zoom", () => atlas.zoom(state, null));
    state.reset.hidden = true;
    state.foot = atlas.element("div", "pa-foot");
    if (state.data.series.length) state.foot.append(legend(state));
    if (state.data.scale) state.foot.append(scaleOf(state.data.scale));
    state.foot.append(state.reset);
    state.grid = grid;
    state.place.replaceChildren(grid, state.foot, state.live);
  }

  /* A button for each series, which switches it on and off. */
  function legend(state) {
    const outer = atlas.element("div", "pa-legend");
    outer.setAttribute("role", "group");
    outer.setAttribute("aria-label", "Series");
    state.data.series.forEach((series, index) => {
      const entry = atlas.button("", () => {
        state.off.has(index) ? state.off.delete(index) : state.off.add(index);
        entry.setAttribute("aria-pressed", !state.off.has(index));
        atlas.redraw(state);
      });
      entry.className = "pa-series";
      entry.setAttribute("aria-pressed", "true");
      entry.append(sample(series), atlas.element("span", "", series.name));
      entry.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && highlight(state, index));
      entry.addEventListener("pointerleave", () => highlight(state, null));
      outer.append(entry);
    });
    return outer;
  }

  function sample({ colour, dash, area }) {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    line.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", area ? "M0 0h24v10H0z" : "M0 5h24");
    path.style[area ? "fill" : "stroke"] = colour.startsWith("#") ? colour : `var(--pa-${colour === "grid" ? "line" : colour})`;
    if (area) path.style.opacity = area;
    if (dash) path.style.strokeDasharray = dash.map((length) => 2 * length).join(" ");
    line.append(path);
    return line;
  }

  function scaleOf({ label, limits, stops }) {
    const scale = atlas.element("div", "pa-scale");
    const bar = atlas.element("span", "pa-bar");
    bar.style.background = atlas.strip(atlas.colormap(stops));
    bar.classList.toggle("pa-two-hues", atlas.isDiverging(stops));
    scale.append(
      atlas.element("span", "", atlas.say(limits[0])),
      bar,
      atlas.element("span", "", atlas.say(limits[1])),
      atlas.element("span", "pa-unit", label),
    );
    return scale;
  }

  function highlight(state, index) {
    if (state.near === index) return;
    state.near = index;
    atlas.redraw(state);
  }
})();
