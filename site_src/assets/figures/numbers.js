/* Numbers and colours: packed arrays, numbers as text, colormaps. */
(function () {
  "use strict";
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const STEPS = 4094; // The level after the last stands for "not defined".
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const FLAT = 1e-9;
  const SHADES = 256;
  const colormaps = new Map();
  const atlas = (window.atlas = window.atlas || {});

  /* A new element with a class and a text. */
  atlas.element = (name, className = "", text = "") => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text) element.textContent = text;
    return element;
  };

  atlas.button = (text, act) => {
    const button = atlas.element("button", "", text);
    button.type = "button";
    button.addEventListener("click", act);
    return button;
  };

  /* The numbers of a packed array, NaN where not defined; each is within half a step of the truth. */
  atlas.numbers = ({ low, high, levels }) => {
    const values = new Float64Array(levels.length / 2);
    for (let index = 0; index < values.length; index++) {
      const level = 64 * ALPHABET.indexOf(levels[2 * index]) + ALPHABET.indexOf(levels[2 * index + 1]);
      const share = level / STEPS;
      values[index] = level > STEPS ? NaN : low * (1 - share) + high * share;
    }
    return values;
  };

  /* The step between two levels of a packed array, or of an array that is made of packed ones. */
  atlas.step = ({ low, high, step }) => step ?? (high - low) / STEPS;

  /* A list of numbers with gaps, or { first, step, count }, as an array with NaN. */
  atlas.places = (values) => {
    if (Array.isArray(values)) return Float64Array.from(values, (value) => value ?? NaN);
    return Float64Array.from({ length: values.count }, (_, index) => values.first + index * values.step);
  };

  /* A number with so many decimals, as text.py rounds it: halves away from zero, of the shortest decimal that means it. 12.5 is 13, 0.285 is 0.29. */
  atlas.rounded = (value, digits) => Math.sign(value) * shifted(Math.round(shifted(Math.abs(value), digits)), -digits);
  const shifted = (size, places) => {
    const [digits, power = 0] = String(size).split("e");
    return Number(`${digits}e${Number(power) + places}`);
  };
  const nearestTo = (size, digits) => atlas.rounded(size, digits - 1 - Number(size.toExponential().split("e")[1]));

  /* A number for readers: as exact as its step bears, or a measured one. */
  atlas.say = (value, step) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "not defined";
    const power = step > 0 ? Math.ceil(Math.log10(step)) : null;
    const fixed = power !== null && power <= 0 && power >= -7;
    if (!fixed) return atlas.measured(power === null ? value : Math.round(value / 10 ** power) * 10 ** power, "", 0);
    const text = atlas.rounded(value, -power).toFixed(-power);
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
  };

  /* A measured value as text.py writes it, without its unit: per cent whole, and with a decimal below ten; others to three significant digits and
     at most two decimals. flat: size up to which it is 0 */
  atlas.measured = (value, unit = "", flat = FLAT) => {
    const size = Math.abs(value);
    const whole = Math.round(value);
    if (size < 1e15 && Math.abs(value - whole) <= Math.max(flat, 1e-12 * size)) return minus(written(whole, 0));
    const nearest = nearestTo(size, 3);
    if (nearest < 1e-4 || nearest >= 1e9) {
      const [mantissa, exponent] = (Math.sign(value) * nearest).toExponential(2).split("e");
      return minus(`${Number(mantissa)} × 10${[...exponent].map((mark) => (mark === "-" ? "⁻" : (SUPERSCRIPTS[mark] ?? ""))).join("")}`);
    }
    const limits = unit === "%" ? [0, 100] : [0, 1, -1];
    let digits = unit === "%" ? Number(atlas.rounded(size, 1) < 10) : nearest < 0.1 ? decimals(size, 2) : Math.min(2, decimals(size, 3));
    while (digits < 9 && limits.some((limit) => atlas.rounded(value, digits) === limit && value !== limit)) digits++;
    return minus(written(value, digits).replace(/\.0+$/, ""));
  };

  const minus = (text) => text.replace("-", "−");
  const written = (value, digits) => (atlas.rounded(value, digits) + 0).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const decimals = (size, digits) => Math.max(0, digits - 1 - Number(nearestTo(size, digits).toExponential().split("e")[1]));

  /* Whether stops are of two hues that meet in a light colour. */
  atlas.isDiverging = (stops) => {
    const sums = parsed(stops).map((colour) => colour.reduce((sum, part) => sum + part, 0));
    return sums.length % 2 === 1 && sums[(sums.length - 1) / 2] > 1.5 * Math.max(sums[0], sums.at(-1));
  };

  const parsed = (stops) => stops.split(" ").map((stop) => [0, 2, 4].map((start) => parseInt(stop.slice(start, start + 2), 16)));

  /* A colour with light and dark exchanged and its hue as it is: what the filter of images does, invert(1) hue-rotate(180deg). */
  function turned(colour) {
    const inverted = colour.map((part) => 255 - part);
    const level = 0.426 * inverted[0] + 1.43 * inverted[1] + 0.144 * inverted[2];
    return inverted.map((part) => Math.min(Math.max(level - part, 0), 255));
  }

  /* 256 colours as [red, green, blue], interpolated between stops of the form "rrggbb rrggbb". isDark: whether two hues meet in a dark colour */
  atlas.colormap = (stops, isDark = false) => {
    const key = isDark && atlas.isDiverging(stops) ? `dark ${stops}` : stops;
    if (!colormaps.has(key)) {
      const colours = key === stops ? parsed(stops) : parsed(stops).map(turned);
      const shade = (_, index) => {
        const place = (index / (SHADES - 1)) * (colours.length - 1);
        const before = Math.min(Math.floor(place), colours.length - 2);
        return colours[before].map((part, channel) => Math.round(part + (place - before) * (colours[before + 1][channel] - part)));
      };
      colormaps.set(key, Array.from({ length: SHADES }, shade));
    }
    return colormaps.get(key);
  };

  /* The colour of a share from 0 to 1, as [red, green, blue]. */
  atlas.shade = (map, share) => map[Math.round((SHADES - 1) * Math.min(1, Math.max(0, share)))];

  /* The same, for a style. */
  atlas.css = (map, share) => `rgb(${atlas.shade(map, share).join()})`;

  /* A horizontal strip of the whole map, for a scale. */
  atlas.strip = (map) => `linear-gradient(to right, ${Array.from({ length: 11 }, (_, tenth) => atlas.css(map, tenth / 10)).join()})`;
})();
