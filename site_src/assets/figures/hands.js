/* Hands and keys over a figure: they move its cursor, zoom it, and turn its curves. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const STEP = 5; // Degrees of a turn.
  const SHORTEST = 24; // Pixels of a drag that zooms; hands move a little as they press.
  /* Zoom: of all panels over the same axis. box: { x, y } limits, either of them undefined; null for the whole */
  atlas.zoom = (state, panel, box) => {
    const alike = panel ? state.panels.filter((other) => other.x.name === panel.x.name && !atlas.isCurve(other)) : state.panels;
    alike.forEach((other) => {
      other.x = { ...other.x, limits: box?.x ?? (box ? other.x.limits : other.whole.x) };
      other.y = { ...other.y, limits: box?.y ?? (box ? other.y.limits : other.whole.y) };
    });
    state.reset.hidden = state.panels.every(({ x, y, whole }) => x.limits === whole.x && y.limits === whole.y);
    atlas.redraw(state);
  };

  function nearer(state, panel, factor) {
    const about = {
      x: panel.at?.x ?? panel.view.x.from(panel.box.left + panel.box.width / 2),
      y: panel.at?.y ?? panel.view.y.from(panel.box.top + panel.box.height / 2),
    };
    const whole = { x: { ...panel.x, limits: panel.whole.x }, y: { ...panel.y, limits: panel.whole.y } };
    const box = { x: atlas.zoomed(whole.x, panel.x.limits, about.x, factor) };
    if (atlas.cellsOf(panel)) box.y = atlas.zoomed(whole.y, panel.y.limits, about.y, factor);
    const isWhole = ["x", "y"].every((which) => !box[which] || box[which].every((limit, index) => Math.abs(limit - panel.whole[which][index]) < 1e-9));
    atlas.zoom(state, isWhole ? null : panel, isWhole ? undefined : box);
  }

  /* Hands and keys */
  atlas.listen = (state, panel) => {
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
      atlas.moveTo(state, panel, panel.view.x.from(across), panel.view.y.from(down));
    };
    const release = () => {
      if (grip?.turned) state.ended(state.turn);
      grip = null;
    };
    panel.frame.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      grip = { start: placeOf(event), last: [event.clientX, event.clientY], touch: event.pointerType !== "mouse" };
      if (!grip.touch || atlas.isCurve(panel)) panel.frame.setPointerCapture(event.pointerId);
      if (grip.touch && !atlas.isCurve(panel)) follow(event);
    });
    panel.frame.addEventListener("pointermove", (event) => {
      if (atlas.isCurve(panel) && grip) {
        const [turn, tilt] = state.turn;
        atlas.turned(state, clamped(turn + (event.clientX - grip.last[0]) / 2, tilt + (event.clientY - grip.last[1]) / 2));
        [grip.last, grip.turned] = [[event.clientX, event.clientY], true];
        return;
      }
      follow(event);
      if (grip && !grip.touch) selection(panel, grip.start, inside(placeOf(event)));
    });
    panel.frame.addEventListener("pointerup", (event) => {
      const [start, end] = [grip?.start, inside(placeOf(event))];
      if (grip && !grip.touch && !atlas.isCurve(panel) && Math.abs(end[0] - start[0]) >= SHORTEST) select(state, panel, inside(start), end);
      release();
    });
    panel.frame.addEventListener("pointercancel", release);
    panel.frame.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && !grip && leave(state));
    panel.frame.addEventListener("dblclick", () => atlas.zoom(state, null));
    panel.frame.addEventListener("blur", () => leave(state));
    panel.frame.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (key(state, panel, event)) event.preventDefault();
    });
  };

  function leave(state) {
    atlas.clearCursor(state);
    state.moved(null);
  }

  const clamped = (turn, tilt) => [Math.round(turn) % 360, Math.max(-90, Math.min(90, Math.round(tilt)))];

  function selection(panel, [x1, y1], [x2, y2]) {
    if (Math.abs(x2 - x1) < SHORTEST) return;
    const context = panel.over.getContext("2d");
    context.fillStyle = "rgba(128, 140, 160, 0.25)";
    const cells = Boolean(atlas.cellsOf(panel));
    context.fillRect(x1, cells ? y1 : panel.box.top, x2 - x1, cells ? y2 - y1 : panel.box.height);
  }

  function select(state, panel, [x1, y1], [x2, y2]) {
    const ordered = (one, other, limits) => (limits[0] < limits[1] === one < other ? [one, other] : [other, one]);
    const box = { x: ordered(panel.view.x.from(x1), panel.view.x.from(x2), panel.x.limits) };
    if (atlas.cellsOf(panel) && Math.abs(y2 - y1) >= SHORTEST) box.y = ordered(panel.view.y.from(y1), panel.view.y.from(y2), panel.y.limits);
    atlas.zoom(state, panel, box);
  }

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  /* Whether a key was meant for the figure. */
  function key(state, panel, event) {
    if (event.key === "Escape") {
      if (state.reset.hidden && !panel.at) return false;
      atlas.zoom(state, null);
      leave(state);
      return true;
    }
    const turns = atlas.isCurve(panel);
    if (!turns && (event.key === "+" || event.key === "=")) return (nearer(state, panel, 0.5), true);
    if (!turns && event.key === "-") return (nearer(state, panel, 2), true);
    if (!(event.key in ARROWS)) return false;
    const [across, down] = ARROWS[event.key];
    const many = event.shiftKey ? 10 : 1;
    if (!turns) return (step(state, panel, [many * across, many * down]), true);
    atlas.turned(state, clamped(state.turn[0] + STEP * across, state.turn[1] + STEP * down));
    state.ended(state.turn);
    return true;
  }

  /* Move the cursor from value to value; upright over lines not at all, over cells from row to row. */
  function step(state, panel, [across, down]) {
    const cells = atlas.cellsOf(panel);
    if (cells) {
      const [left, right, bottom, top] = cells.extent;
      const now = panel.at ?? { x: left, y: top };
      return atlas.moveTo(state, panel, now.x + (across * (right - left)) / cells.columns, now.y + (down * (bottom - top)) / cells.rows);
    }
    const points = atlas.pointsOf(panel);
    if (points) {
      const index = Math.min(Math.max((panel.at?.index ?? -1) + across - down, 0), points.order.length - 1);
      return atlas.moveTo(state, panel, points.places[0][index], points.places[1][index]);
    }
    const lines = atlas.linesOf(state, panel);
    if (!lines.length) return undefined;
    const xs = lines.reduce((one, other) => (other.xs.length > one.xs.length ? other : one)).xs;
    const start = panel.at ? atlas.nearestIndex(xs, panel.at.x) : -1;
    const index = Math.min(Math.max(start + across, 0), xs.length - 1);
    return atlas.moveTo(state, panel, xs[index], panel.at?.y);
  }
})();
