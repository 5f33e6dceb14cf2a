/* Profiles laid over each other: the mean of each kernel at every offset. */
(function () {
  "use strict";
  const HEIGHT = 260, LEFT = 58, RIGHT = 12, TOP = 12, BOTTOM = 42;
  const SPACE = "http://www.w3.org/2000/svg";
  const atlas = (window.atlas = window.atlas || {});
  atlas.dashes = ["none", "7 4", "2 3", "9 3 2 3"];

  /* Fill ``place`` with the lines { title, colour, dash, n, profile, step }; returns what draws the cursor at an offset. */
  atlas.profiles = (place, lines, unit) => {
    const reach = Math.max(...lines.map(({ n }) => n)) - 1;
    const [low, high] = range(lines);
    const width = Math.max(300, place.clientWidth);
    const x = (offset) => LEFT + ((offset + reach) / (2 * reach || 1)) * (width - LEFT - RIGHT);
    const y = (value) => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM);
    const svg = part("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `Profiles of ${lines.map(({ title }) => title).join(", ")}` });
    ticks(low, high, 5).forEach((tick) => {
      svg.append(part("line", { x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick), class: "pac-grid" }));
      svg.append(text(plain(tick), { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }));
    });
    ticks(-reach, reach, width < 500 ? 5 : 9).forEach((tick) => svg.append(text(plain(tick), { x: x(tick), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" })));
    svg.append(text("offset: key minus query (positions)", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }));
    lines.forEach((line) => svg.append(part("path", { d: path(line, x, y), stroke: line.colour, "stroke-dasharray": line.dash, class: "pac-line" })));
    const cursor = part("line", { y1: TOP, y2: HEIGHT - BOTTOM, class: "pac-cursor" });
    svg.append(cursor);
    const [legend, values] = legendOf(lines);
    place.replaceChildren(atlas.element("p", "pac-unit", unit), svg, legend);
    return ([query, key]) => {
      const offset = key - query;
      cursor.setAttribute("x1", x(offset));
      cursor.setAttribute("x2", x(offset));
      lines.forEach((line, index) => {
        const value = Math.abs(offset) < line.n ? line.profile[offset + line.n - 1] : NaN;
        values[index].textContent = `${atlas.say(value)} at offset ${atlas.say(offset)}`;
      });
    };
  };

  function range(lines) {
    const values = lines.flatMap(({ profile }) => profile).filter((value) => !Number.isNaN(value));
    const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
    const margin = high > low ? 0.04 * (high - low) : 0.5;
    return [low - margin, high + margin];
  }

  function plain(number) {
    return number.toLocaleString("en", { maximumSignificantDigits: 6 }).replace("-", "−");
  }

  /* Round numbers between two, about ``count`` of them. */
  function ticks(low, high, count) {
    const rough = (high - low) / count || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough);
    const found = [];
    for (let index = Math.ceil(low / step); index * step <= high; index++) found.push(Number((index * step).toPrecision(12)));
    return found;
  }

  function path({ profile, n }, x, y) {
    let pen = "M";
    const steps = profile.map((value, index) => {
      if (Number.isNaN(value)) return (pen = "M"), "";
      const step = `${pen}${x(index - n + 1).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = "L";
      return step;
    });
    return steps.join("");
  }

  function legendOf(lines) {
    const list = atlas.element("ul", "pac-legend");
    const values = lines.map((line) => {
      const item = atlas.element("li", "");
      const sample = part("svg", { viewBox: "0 0 30 8", width: 30, height: 8, "aria-hidden": "true" });
      sample.append(part("path", { d: "M0 4L30 4", stroke: line.colour, "stroke-dasharray": line.dash, class: "pac-line" }));
      const value = atlas.element("span", "pac-value");
      item.append(sample, atlas.element("span", "", line.title), value);
      list.append(item);
      return value;
    });
    return [list, values];
  }

  function part(name, attributes) {
    const made = document.createElementNS(SPACE, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  }

  function text(words, attributes) {
    const made = part("text", attributes);
    made.textContent = words;
    return made;
  }
})();
