/* Positions as curves in three dimensions, all turned together by mouse, finger or arrow keys. */
(function () {
  "use strict";
  const STEP = 5; // degrees
  const TURNS = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };
  const atlas = (window.atlas = window.atlas || {});

  /* Fill ``place`` with a curve for each of { title, curve }; ``turned`` hears of a new turn. Returns what draws all of it anew. */
  atlas.curves = (place, encodings, turned) => {
    if (encodings.every(({ curve }) => !curve)) {
      place.replaceChildren(atlas.element("p", "pac-missing", "No table among them, so no curve."));
      return () => {};
    }
    const made = encodings.map((encoding) => figure(encoding, turned));
    place.replaceChildren(...made.map((one) => one.figure));
    return (turn, at) => made.forEach(({ draw }) => draw(turn, at));
  };

  function figure({ title, curve }, turned) {
    const outer = atlas.element("figure", "pac-kernel");
    outer.append(atlas.element("figcaption", "", title));
    if (!curve) {
      outer.append(atlas.element("p", "pac-missing", "No table, so no curve."));
      return { figure: outer, draw: () => {} };
    }
    const canvas = atlas.element("canvas", "pac-curve");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", `Curve of the positions of ${title}. Arrow keys turn it.`);
    outer.append(canvas, legend(curve));
    let now = [0, 0];
    grasp(canvas, () => now, turned);
    const shape = centred(curve.points);
    return {
      figure: outer,
      draw: (turn, at) => {
        now = turn;
        canvas.dataset.turn = turn.join();
        draw(canvas, shape, turn, at.map((position) => nearest(position, curve)), (index) => row(index, curve));
      },
    };
  }

  /* The point nearest to a position; the last position has one of its own. None beyond it. */
  function nearest(position, { points, step, last }) {
    const final = points.length / 3 - 1;
    if (position > last) return final + 1;
    return position === last ? final : Math.min(Math.round(position / step), final);
  }

  /* Row of the grid that a point is in; all points of a sequence are in one. */
  function row(index, { points, step, last, columns }) {
    const position = index === points.length / 3 - 1 ? last : index * step;
    return columns ? Math.floor(position / columns) : 0;
  }

  function ordinal(place) {
    if (place === 2 || place === 3) return { 2: "second", 3: "third" }[place];
    const ending = { one: "st", two: "nd", few: "rd", other: "th" };
    return `${place}${ending[new Intl.PluralRules("en", { type: "ordinal" }).select(place)]}`;
  }

  function legend({ step, last }) {
    const line = atlas.element("div", "pac-scale");
    const bar = atlas.element("span", "pac-bar");
    bar.style.background = atlas.strip(atlas.sequential);
    line.append(atlas.element("span", "", "0"), bar, atlas.element("span", "", atlas.say(last)));
    line.append(atlas.element("span", "pac-unit", step > 1 ? `position, every ${ordinal(step)} and the last` : "position"));
    return line;
  }

  /* Points around their middle, the farthest at distance 1; an outlier's are NaN. */
  function centred(points) {
    const every = Array.from({ length: points.length / 3 }, (_, index) => [0, 1, 2].map((axis) => points[3 * index + axis]));
    const placed = every.filter(isPlaced);
    const middle = [0, 1, 2].map((axis) => placed.reduce((sum, point) => sum + point[axis], 0) / placed.length);
    const moved = every.map((point) => point.map((value, axis) => value - middle[axis]));
    const size = Math.max(...moved.filter(isPlaced).map((point) => Math.hypot(...point))) || 1;
    return moved.map((point) => point.map((value) => value / size));
  }

  function isPlaced(point) {
    return !point.some(Number.isNaN);
  }

  /* Across, down and towards the reader, for a turn about the upright axis and then a tilt. */
  function project([first, second, third], [turn, tilt]) {
    const [a, b] = [(turn * Math.PI) / 180, (tilt * Math.PI) / 180];
    const [across, depth] = [first * Math.cos(a) + third * Math.sin(a), third * Math.cos(a) - first * Math.sin(a)];
    return [across, -second * Math.cos(b) + depth * Math.sin(b), second * Math.sin(b) + depth * Math.cos(b)];
  }

  function draw(canvas, shape, turn, marked, rowOf) {
    const pixels = Math.round((canvas.clientWidth || 300) * (window.devicePixelRatio || 1));
    canvas.width = canvas.height = pixels;
    const context = canvas.getContext("2d");
    const place = (point) => project(point, turn).map((value, axis) => (axis < 2 ? pixels * (0.5 + 0.46 * value) : value));
    axes(context, place, pixels);
    const placed = shape.map(place);
    context.lineWidth = Math.max(1.5, pixels / 220);
    context.lineCap = "round";
    const segments = placed
      .slice(1)
      .map((end, index) => ({ start: placed[index], end, index }))
      .filter(({ start, end, index }) => isPlaced(start) && isPlaced(end) && rowOf(index) === rowOf(index + 1));
    segments.sort((one, other) => one.start[2] + one.end[2] - other.start[2] - other.end[2]); // Farthest first.
    segments.forEach(({ start, end, index }) => {
      context.strokeStyle = atlas.css(atlas.sequential, index / (placed.length - 1));
      context.beginPath();
      context.moveTo(start[0], start[1]);
      context.lineTo(end[0], end[1]);
      context.stroke();
    });
    marked.filter((index) => index < placed.length && isPlaced(placed[index])).forEach((index) => spot(context, placed[index], pixels));
  }

  function axes(context, place, pixels) {
    const style = getComputedStyle(document.body);
    context.strokeStyle = style.getPropertyValue("--pa-line");
    context.fillStyle = style.getPropertyValue("--pa-muted");
    context.font = `${Math.max(Math.round(pixels / 26), 11 * (window.devicePixelRatio || 1))}px sans-serif`;
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((end, axis) => {
      const [from, to] = [place(end.map((value) => -value)), place(end)];
      context.beginPath();
      context.moveTo(from[0], from[1]);
      context.lineTo(to[0], to[1]);
      context.stroke();
      context.fillText(String(axis + 1), to[0], to[1]);
    });
  }

  function spot(context, [across, down], pixels) {
    context.beginPath();
    context.arc(across, down, pixels / 70, 0, 2 * Math.PI);
    context.fillStyle = "#fff";
    context.strokeStyle = "#1c2230";
    context.fill();
    context.stroke();
  }

  function grasp(canvas, now, turned) {
    let last = null;
    canvas.addEventListener("pointerdown", (event) => {
      last = [event.clientX, event.clientY];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      turned(add(now(), [(event.clientX - last[0]) / 2, (event.clientY - last[1]) / 2]));
      last = [event.clientX, event.clientY];
    });
    ["pointerup", "pointercancel"].forEach((name) => canvas.addEventListener(name, () => (last = null)));
    canvas.addEventListener("keydown", (event) => {
      const step = TURNS[event.key];
      if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      turned(add(now(), step));
    });
  }

  function add([turn, tilt], [more, further]) {
    return [Math.round(turn + more) % 360, Math.max(-90, Math.min(90, Math.round(tilt + further)))];
  }
})();
