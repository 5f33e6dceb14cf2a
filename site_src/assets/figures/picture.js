/* Pictures to take along: a figure drawn as SVG, always in light colours, with what it shows and where it is from; as PNG the same at 2×. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const LIGHT = { ink: "#1c2230", muted: "#566072", grid: "#dde2ea", paper: "#ffffff", warm: "#b35a12", dark: false };
  const PLAIN = { width: 800, margin: 24, title: 17, small: 11 };
  const SLIDE = { width: 1280, height: 720, margin: 48, title: 30, small: 13 };
  const WIDTHS = [460, 560, 680, 820, 980, 1184]; // Of a figure on a slide, and how much flatter its panels may be: taken is what fills it best.
  const FLATTER = [1, 0.8, 0.62, 0.48];
  const [LEGIBLE, LARGEST] = [1.3, 1.9]; // How many times as large as on the page letters should be on a slide.
  const LEADING = 1.35; // Height of a line of text, as a multiple of its size.
  const RATIO = 2;

  const escaped = (text) => String(text).replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt()};`);
  const short = (value) => String(Math.round(value * 100) / 100);

  /* What drawing on a canvas uses of its context, written as SVG. */
  class Written {
    constructor(measured) {
      Object.assign(this, { measured, parts: [], stack: [], clips: 0, path: "", dash: [], matrix: new DOMMatrix(), clipped: "" });
      Object.assign(this, { globalAlpha: 1, strokeStyle: "#000", fillStyle: "#000", lineWidth: 1, lineJoin: "miter", lineCap: "butt" });
      Object.assign(this, { font: "10px sans-serif", textAlign: "left", textBaseline: "alphabetic" });
    }
    save() {
      const { globalAlpha, strokeStyle, fillStyle, lineWidth, lineJoin, lineCap, font, textAlign, textBaseline, dash, matrix, clipped } = this;
      this.stack.push({ globalAlpha, strokeStyle, fillStyle, lineWidth, lineJoin, lineCap, font, textAlign, textBaseline, dash, matrix, clipped });
    }
    restore() {
      Object.assign(this, this.stack.pop());
    }
    translate(x, y) {
      this.matrix = this.matrix.translate(x, y);
    }
    rotate(angle) {
      this.matrix = this.matrix.rotate((angle * 180) / Math.PI);
    }
    scale(factor) {
      this.matrix = this.matrix.scale(factor);
    }
    setLineDash(dash) {
      this.dash = dash;
    }
    beginPath() {
      this.path = "";
    }
    moveTo(x, y) {
      this.path += `M${short(x)} ${short(y)}`;
    }
    lineTo(x, y) {
      this.path += `L${short(x)} ${short(y)}`;
    }
    closePath() {
      this.path += "Z";
    }
    rect(x, y, width, height) {
      this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
    }
    arc(x, y, radius) {
      const [r, diameter] = [short(radius), short(2 * radius)];
      this.path += `M${short(x - radius)} ${short(y)}a${r} ${r} 0 1 0 ${diameter} 0a${r} ${r} 0 1 0 -${diameter} 0Z`; // Only whole circles are drawn.
    }
    clip() {
      const id = `clip${++this.clips}`;
      this.parts.push(`<clipPath id="${id}"><path d="${this.path}"${this.place()}/></clipPath>`);
      this.clipped = id;
    }
    /* The transform of what is drawn. */
    place() {
      const { a, b, c, d, e, f } = this.matrix;
      return this.matrix.isIdentity ? "" : ` transform="matrix(${[a, b, c, d, e, f].map((value) => Number(value.toFixed(4))).join(" ")})"`;
    }
    add(element) {
      const seen = this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "";
      this.parts.push(this.clipped ? `<g clip-path="url(#${this.clipped})"${seen}>${element}</g>` : seen ? `<g${seen}>${element}</g>` : element);
    }
    outline() {
      const dashes = this.dash.length ? ` stroke-dasharray="${this.dash.map(short).join(" ")}"` : "";
      return `stroke="${escaped(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}" stroke-linejoin="${this.lineJoin}" stroke-linecap="${this.lineCap}"${dashes}`;
    }
    stroke() {
      this.add(`<path d="${this.path}" fill="none" ${this.outline()}${this.place()}/>`);
    }
    fill() {
      this.add(`<path d="${this.path}" fill="${escaped(this.fillStyle)}"${this.place()}/>`);
    }
    fillRect(x, y, width, height) {
      this.add(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${escaped(this.fillStyle)}"${this.place()}/>`);
    }
    measureText(text) {
      this.measured.font = this.font;
      return this.measured.measureText(text);
    }
    text(text, x, y, paint, most) {
      const { width, fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = this.measureText(text);
      const down = { top: above, middle: (above - below) / 2, bottom: -below }[this.textBaseline] ?? 0;
      const anchor = { center: "middle", right: "end" }[this.textAlign] ?? "start";
      const [, bold, size, family] = /^(bold )?([\d.]+)px (.*)$/.exec(this.font);
      const fitted = most < width ? ` textLength="${short(most)}" lengthAdjust="spacingAndGlyphs"` : "";
      const font = `font-family="${escaped(family)}" font-size="${size}"${bold ? ' font-weight="bold"' : ""}`;
      this.add(
        `<text x="${short(x)}" y="${short(y + down)}" text-anchor="${anchor}" ${font} ${paint}${fitted}${this.place()} xml:space="preserve">${escaped(text)}</text>`,
      );
    }
    fillText(text, x, y, most = Infinity) {
      this.text(text, x, y, `fill="${escaped(this.fillStyle)}"`, most);
    }
    strokeText(text, x, y) {
      this.text(text, x, y, `fill="none" ${this.outline()}`, Infinity);
    }
    drawImage(canvas, x, y, width, height) {
      const box = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
      this.add(`<image ${box} href="${canvas.toDataURL()}" preserveAspectRatio="none" style="image-rendering:pixelated"${this.place()}/>`);
    }
  }

  const bold = (size) => `bold ${atlas.font(size)}`;

  /* Words in as many lines as they need; a word that is longer than a line is cut. */
  function lines(context, text, font, width) {
    context.font = font;
    const fits = (line) => context.measureText(line).width <= width;
    const made = [""];
    for (const word of text.split(/\s+/).filter(Boolean)) {
      const longer = made.at(-1) ? `${made.at(-1)} ${word}` : word;
      if (fits(longer)) {
        made[made.length - 1] = longer;
        continue;
      }
      if (made.at(-1)) made.push("");
      for (const letter of word) {
        if (made.at(-1) && !fits(made.at(-1) + letter)) made.push("");
        made[made.length - 1] += letter;
      }
    }
    return made.filter(Boolean);
  }

  /* Write a text from (x, y) downwards. Returns where it ends. */
  function write(context, text, font, colour, x, y, width) {
    const size = Number(/([\d.]+)px/.exec(font)[1]);
    const made = lines(context, text, font, width);
    Object.assign(context, { font, fillStyle: colour, textAlign: "left", textBaseline: "top" });
    made.forEach((line, index) => context.fillText(line, x, y + index * size * LEADING));
    return y + made.length * size * LEADING;
  }

  /* Panels, legend and scale of a figure as it is now, from (0, 0) down. flat: height of panels, which need not be square, as a share. Returns the height. */
  function figure(context, shown, width, flat = 1) {
    const state = { ...shown, theme: LIGHT, near: null, panels: shown.panels.map((panel) => ({ ...panel, at: null, shape: panel.shape * (panel.square ? 1 : flat) })) };
    const columns = atlas.arrange(state, width);
    let top = 0;
    for (let first = 0; first < state.panels.length; first += columns) {
      const row = state.panels.slice(first, first + columns);
      const across = (width + atlas.GAP) / columns;
      const heads = row.map(({ title }, index) => (title ? write(context, title, bold(12), LIGHT.ink, index * across, top, across - atlas.GAP) : top));
      const start = Math.max(...heads) + 2;
      row.forEach((panel, index) => placed(context, index * across, start, () => atlas.paint(context, state, panel)));
      const scales = row.map((panel, index) => (panel.scale ? scale(context, panel.scale, index * across, start + panel.height + 4, across - atlas.GAP) : 0));
      top = Math.max(...row.map(({ height }) => start + height), ...scales) + 10;
    }
    top = legend(context, state, top, width);
    return state.data.scale ? scale(context, state.data.scale, 0, top, width) : top;
  }

  function placed(context, x, y, draw) {
    context.save();
    context.translate(x, y);
    draw();
    context.restore();
  }

  function legend(context, state, top, width) {
    let [x, y, any] = [0, top, false];
    state.data.series.forEach((series, index) => {
      if (state.off.has(index)) return;
      Object.assign(context, { font: atlas.font(11), textAlign: "left", textBaseline: "middle" });
      const needed = 32 + context.measureText(series.name).width + 16;
      if (x && x + needed > width) [x, y] = [0, y + 18];
      sample(context, series, x, y + 8);
      context.fillStyle = LIGHT.ink;
      context.fillText(series.name, x + 30, y + 8, width - 30);
      [x, any] = [x + needed, true];
    });
    return any ? y + 24 : top;
  }

  function sample(context, { colour, dash, area }, x, y) {
    context.save();
    context.strokeStyle = context.fillStyle = LIGHT[colour] ?? colour;
    context.globalAlpha = area || 1;
    context.lineWidth = 2.4;
    context.setLineDash((dash ?? []).map((length) => 2 * length));
    if (area) context.fillRect(x, y - 5, 24, 10);
    else atlas.stroke(context, x, y, x + 24, y);
    context.restore();
  }

  function scale(context, { label, limits, stops }, x, y, width) {
    Object.assign(context, { font: atlas.font(11), fillStyle: LIGHT.muted, textAlign: "left", textBaseline: "middle" });
    const [low, high] = limits.map((limit) => atlas.say(limit));
    const from = x + context.measureText(low).width + 6;
    const [map, text] = [atlas.colormap(stops), label ? `${high}   ${label}` : high];
    const each = Math.min(2, Math.max(x + width - from - context.measureText(text).width - 6, 30) / 60); // Of 60 steps.
    context.fillText(low, x, y + 8);
    for (let step = 0; step < 60; step++) {
      context.fillStyle = atlas.css(map, step / 59);
      context.fillRect(from + each * step, y + 4, 1.1 * each, 8);
    }
    context.fillStyle = LIGHT.muted;
    context.fillText(text, from + 60 * each + 6, y + 8, Math.max(x + width - from - 60 * each - 6, 20));
    return y + 20;
  }

  const wrapped = ({ parts }, width, height) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}">` +
    `<rect width="100%" height="100%" fill="${LIGHT.paper}"/>${parts.join("")}</svg>\n`;

  const fresh = () => new Written(document.createElement("canvas").getContext("2d"));

  /* SVG of a figure. state: of the live figure; title: a sentence; source: lines below. Returns { svg, width, height } */
  atlas.pictured = (state, { title, source }) => {
    const { width, margin, title: size, small } = PLAIN;
    const [context, inner] = [fresh(), width - 2 * margin];
    let y = write(context, title, bold(size), LIGHT.ink, margin, margin, inner) + 10;
    placed(context, margin, y, () => (y += figure(context, state, inner)));
    y = footer(context, source, small, margin, y + 8, inner) + margin - 8;
    return { svg: wrapped(context, width, y), width, height: y };
  };

  /* The same as a slide, 16:9. */
  atlas.slide = (state, { title, source }) => {
    const { width, height, margin, title: size, small } = SLIDE;
    const [context, inner] = [fresh(), width - 2 * margin];
    const begin = write(context, title, bold(size), LIGHT.ink, margin, margin - 8, inner) + 12;
    const end = height - margin / 2 - footer(fresh(), source, small, 0, 0, inner);
    const room = end - 10 - begin;
    const tried = FLATTER.flatMap((flat) =>
      WIDTHS.map((across) => {
        const down = figure(fresh(), state, across, flat);
        const factor = Math.min(inner / across, room / down);
        return { across, flat, factor, worth: across * down * factor ** 2 * Math.min(factor / LEGIBLE, 1, LARGEST / factor) };
      }),
    );
    const { across, flat, factor } = tried.reduce((best, one) => (one.worth > best.worth * 1.02 ? one : best));
    placed(context, margin + (inner - across * factor) / 2, begin, () => {
      context.scale(factor);
      figure(context, state, across, flat);
    });
    footer(context, source, small, margin, end, inner);
    return { svg: wrapped(context, width, height), width, height };
  };

  function footer(context, source, size, x, y, width) {
    return source.reduce((top, line) => write(context, line, atlas.font(size), LIGHT.muted, x, top, width), y);
  }

  /* A promise of the PNG of an SVG, at twice its size. */
  atlas.raster = ({ svg, width, height }) => {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    return image.decode().then(() => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [Math.round(width * RATIO), Math.round(height * RATIO)];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
    });
  };
})();
