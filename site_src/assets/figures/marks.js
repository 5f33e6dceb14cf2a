/* The marks of a panel on a canvas: lines, bands, cells, points, curves and words. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
  const BESIDE = 9; // Pixels to the right of a panel that words may take.
  const FAINT = 0.12; // Opacity of what is switched off for a moment by pointing at another line.

  atlas.font = (size) => `${size}px ${FONT}`;

  /* Colours of the page that names of colours in the data stand for. */
  atlas.theme = () => {
    const style = getComputedStyle(document.body);
    const of = (name) => style.getPropertyValue(name).trim();
    const dark = document.body.dataset.mdColorScheme === "slate";
    return { dark, ink: of("--pa-ink"), muted: of("--pa-muted"), grid: of("--pa-line"), paper: of("--md-default-bg-color"), warm: of("--pa-warm") };
  };

  const coloured = (colour, theme) => theme[colour] ?? colour;

  /* Draw one mark. view: { x, y, box, theme, turn }; dim: whether another series is pointed at */
  atlas.drawMark = (context, mark, view, dim) => {
    context.save();
    if (mark.kind !== "text") {
      context.beginPath();
      context.rect(view.box.left - 1, view.box.top - 1, view.box.width + 2, view.box.height + 2);
      context.clip();
    }
    context.globalAlpha = (mark.alpha ?? 1) * (dim ? FAINT : 1);
    DRAW[mark.kind](context, mark, view);
    context.restore();
  };

  const DRAW = {
    line(context, mark, view) {
      const [x, y] = [mark.xs, mark.ys];
      context.strokeStyle = context.fillStyle = coloured(mark.colour, view.theme);
      if (mark.width > 0) {
        context.lineWidth = Math.max(mark.width * 1.2, 0.8);
        context.lineJoin = "round";
        context.setLineDash((mark.dash ?? []).map((length) => length * context.lineWidth));
        context.beginPath();
        trace(context, x, y, view, mark.steps);
        context.stroke();
        context.setLineDash([]);
      }
      if (mark.marker) markers(context, mark, x, y, view);
    },
    rule(context, mark, view) {
      const { box } = view;
      context.strokeStyle = coloured(mark.colour, view.theme);
      context.lineWidth = mark.width;
      context.setLineDash((mark.dash ?? []).map((length) => length * Math.max(mark.width, 1)));
      context.beginPath();
      if (mark.along === "x") {
        const place = view.y.to(mark.at);
        context.moveTo(box.left, place);
        context.lineTo(box.left + box.width, place);
      } else {
        const place = view.x.to(mark.at);
        context.moveTo(place, box.top);
        context.lineTo(place, box.top + box.height);
      }
      context.stroke();
    },
    band(context, mark, view) {
      context.fillStyle = coloured(mark.colour, view.theme);
      context.beginPath();
      runs(mark).forEach(([from, to]) => {
        const [x, low, high] = [mark.xs, mark.lows, mark.highs].map((values) => values.slice(from, to));
        const back = (values) => Float64Array.from(values).reverse();
        trace(context, x, high, view, mark.steps);
        trace(context, back(x), back(low), view, mark.steps, true);
        context.closePath();
      });
      context.fill();
    },
    cells(context, mark, view) {
      const [left, right, bottom, top] = mark.extent;
      const [x, y] = [view.x.to(left), view.y.to(top)];
      context.imageSmoothingEnabled = false;
      context.drawImage(picture(mark, view.theme.dark), x, y, view.x.to(right) - x, view.y.to(bottom) - y);
    },
    points(context, mark, view) {
      const [x, y] = mark.places;
      strokes(context, mark, view, (index) => [view.x.to(x[index]), view.y.to(y[index])]);
    },
    curve(context, mark, view) {
      strokes(context, mark, view, (index) => view.project(mark, index), true);
    },
    text(context, mark, view) {
      const { box } = view;
      const across = mark.within[0] === "panel" ? box.left + mark.at[0] * box.width : view.x.to(mark.at[0]);
      const down = mark.end ? mark.down : mark.within[1] === "panel" ? box.top + (1 - mark.at[1]) * box.height : view.y.to(mark.at[1]);
      if (across < box.left - 1 || across > box.left + box.width + 1 || down < box.top - 20 || down > box.top + box.height + 1) return;
      context.font = atlas.font(mark.size < 8 ? 10 : 11);
      context.textAlign = mark.justify;
      context.textBaseline = { top: "top", bottom: "bottom", center: "middle", center_baseline: "middle" }[mark.baseline] ?? "alphabetic";
      const place = [across + mark.shift[0], down - mark.shift[1]];
      if (mark.justify === "left" && place[0] + context.measureText(mark.text).width > box.left + box.width + BESIDE) {
        context.textAlign = "right"; // On the other side, where there is room.
        place[0] = across - mark.shift[0];
      }
      if (mark.ringed) ring(context, ...place, view.theme);
      words(context, mark.text, ...place, coloured(mark.colour, view.theme), mark.on ?? view.theme.paper);
    },
  };

  /* Where a band is without a gap: first index, and that after the last, of each part. */
  function runs(mark) {
    const parts = [];
    mark.xs.forEach((x, index) => {
      if ([x, mark.lows[index], mark.highs[index]].some(Number.isNaN)) return;
      parts.at(-1)?.[1] === index ? parts.at(-1)[1]++ : parts.push([index, index + 1]);
    });
    return parts;
  }

  function ring(context, x, y, theme) {
    context.beginPath();
    context.arc(x, y, 8, 0, 2 * Math.PI);
    context.fillStyle = theme.paper;
    context.fill();
    context.strokeStyle = theme.ink;
    context.lineWidth = 1.1;
    context.stroke();
  }

  /* Words with a border in the colour of the paper, so that lines do not cross them; without in cells and on dots. */
  function words(context, text, x, y, colour, paper) {
    const inside = ["#000000", "#ffffff", paper].includes(colour);
    if (!inside) {
      context.lineWidth = 3;
      context.lineJoin = "round";
      context.strokeStyle = paper;
      context.strokeText(text, x, y);
    }
    context.fillStyle = colour;
    context.fillText(text, x, y);
  }
  atlas.words = words;

  /* Add a path through all defined points, in steps about them where these are bins. */
  function trace(context, x, y, view, steps, goesOn = false) {
    let pen = goesOn;
    for (let index = 0; index < x.length; index++) {
      if (Number.isNaN(y[index]) || Number.isNaN(x[index])) {
        pen = false;
        continue;
      }
      const [across, down] = [view.x.to(x[index]), view.y.to(y[index])];
      if (!Number.isFinite(across) || !Number.isFinite(down)) continue;
      if (!steps) {
        pen ? context.lineTo(across, down) : context.moveTo(across, down);
      } else {
        const half = (other) => (view.x.to(x[other]) + across) / 2;
        const alone = (goesOn ? [0.5, -0.5] : [-0.5, 0.5]).map((side) => view.x.to(x[index] + side)); // A bin alone is one wide.
        const before = index ? half(index - 1) : 2 * across - half(index + 1);
        const after = index + 1 < x.length ? half(index + 1) : 2 * across - half(index - 1);
        const [from, to] = x.length > 1 ? [before, after] : alone;
        pen ? context.lineTo(from, down) : context.moveTo(from, down);
        context.lineTo(to, down);
      }
      pen = true;
    }
  }

  function markers(context, mark, x, y, view) {
    const size = Math.max(mark.size, 2.4) * 0.62;
    context.lineWidth = 1.3;
    for (let index = 0; index < x.length; index++) {
      if (Number.isNaN(y[index])) continue;
      const [across, down] = [view.x.to(x[index]), view.y.to(y[index])];
      context.beginPath();
      if (mark.marker === "x") {
        [
          [-1, -1, 1, 1],
          [-1, 1, 1, -1],
        ].forEach(([a, b, c, d]) => {
          context.moveTo(across + a * size, down + b * size);
          context.lineTo(across + c * size, down + d * size);
        });
        context.stroke();
        continue;
      }
      if (mark.marker === "^" || mark.marker === "v") {
        const turn = mark.marker === "^" ? -1 : 1;
        context.moveTo(across, down + turn * size);
        context.lineTo(across - size, down - turn * size);
        context.lineTo(across + size, down - turn * size);
        context.closePath();
      } else if (mark.marker === "|") {
        context.rect(across - 0.6, down - 1.5 * size, 1.2, 3 * size);
      } else {
        context.arc(across, down, mark.marker === "." ? size / 1.6 : size, 0, 2 * Math.PI);
      }
      if (mark.hollow) {
        context.fillStyle = view.theme.paper;
        context.fill();
        context.fillStyle = context.strokeStyle;
        context.stroke();
      } else context.fill();
    }
  }

  /* Points in the colours of their order, joined or as dots; the farthest first where they have a depth. */
  function strokes(context, mark, view, place, deep = false) {
    const count = mark.places[0].length;
    const map = mark.colour ? null : view.map;
    const placed = Array.from({ length: count }, (_, index) => place(index));
    const visible = (index) => placed[index].every((value) => !Number.isNaN(value));
    const order = placed.map((_, index) => index).filter(visible);
    if (deep) order.sort((one, other) => placed[one][2] - placed[other][2]);
    context.lineCap = "round";
    context.lineWidth = mark.joined ? 1.8 : 2.6;
    order.forEach((index) => {
      const [from, to] = [placed[index], mark.joined ? placed[index + 1] : placed[index]];
      if (!to || to.some(Number.isNaN)) return;
      context.strokeStyle = map ? atlas.css(map, view.lighten(index / (count - 1 || 1))) : coloured(mark.colour, view.theme);
      context.beginPath();
      context.moveTo(from[0], from[1]);
      context.lineTo(to[0] + (mark.joined ? 0 : 0.01), to[1]);
      context.stroke();
    });
  }

  /* The cells of a matrix as a small picture, made once for light and for dark pages. */
  function picture(mark, isDark) {
    if (!mark.picture || mark.picture.isDark !== isDark) {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [mark.columns, mark.rows];
      const context = canvas.getContext("2d");
      const image = context.createImageData(mark.columns, mark.rows);
      const map = atlas.colormap(mark.stops, isDark);
      const [low, high] = mark.limits;
      mark.values.forEach((value, index) => {
        if (Number.isNaN(value)) return;
        image.data.set([...atlas.shade(map, (value - low) / (high - low || 1)), 255], 4 * index);
      });
      context.putImageData(image, 0, 0);
      mark.picture = Object.assign(canvas, { isDark });
    }
    return mark.picture;
  }

  atlas.isCurve = (panel) => panel.marks.some(({ kind }) => kind === "curve");
  atlas.cellsOf = (panel) => panel.marks.find(({ kind }) => kind === "cells");
  atlas.pointsOf = (panel) => panel.marks.find(({ kind }) => kind === "points");
  atlas.isOn = (state, mark) => mark.series === null || mark.series === undefined || !state.off.has(mark.series);

  /* What a mark of a panel is called; lines above one another are called as their ticks. */
  atlas.seriesOf = (panel, mark) => (mark.base === undefined ? mark.name : `${panel.y.name ?? panel.y.label} ${mark.name}`.trim());

  /* Numbers of a mark, unpacked once. */
  atlas.unpacked = (mark) => {
    if (mark.kind === "line") return { ...mark, xs: atlas.places(mark.x), ys: atlas.places(mark.y).map((value) => value + (mark.base ?? 0)) };
    if (mark.kind === "band") return { ...mark, xs: atlas.places(mark.x), lows: atlas.places(mark.low), highs: atlas.places(mark.high) };
    if (mark.kind === "cells") return { ...mark, values: mark.values ?? atlas.numbers(mark) };
    if (mark.kind === "points" || mark.kind === "curve") return { ...mark, order: atlas.places(mark.at), places: mark.columns.map(atlas.places) };
    return mark;
  };
})();
