/* Axes: from values to pixels and back, and their ticks. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const straight = (value) => value;
  const SCALES = {
    linear: [straight, straight],
    log: [(value) => Math.log10(value), (value) => 10 ** value],
    symlog: [(value) => Math.sign(value) * Math.log10(1 + Math.abs(value)), (value) => Math.sign(value) * (10 ** Math.abs(value) - 1)],
  };

  /* { to: pixel of a value, from: value of a pixel, ticks } of an axis whose limits lie at two pixels. */
  atlas.scale = (axis, limits, [start, end]) => {
    const upright = start > end; // Names at an upright axis need less room than those along a level one.
    const [bend, straighten] = SCALES[axis.scale] ?? SCALES.linear;
    const [low, high] = limits.map(bend);
    const span = high - low || 1;
    return {
      limits,
      to: (value) => start + ((bend(value) - low) / span) * (end - start),
      from: (pixel) => straighten(low + ((pixel - start) / (end - start)) * span),
      ticks: (room) =>
        axis.ticks ? fixed(axis.ticks, limits, upright ? 2.6 * room : room) : axis.scale === "linear" ? even(limits, room) : powers(axis, limits, room),
    };
  };

  /* Limits about a value, narrower by a factor, within the whole axis. */
  atlas.zoomed = (axis, limits, about, factor) => {
    const [bend, straighten] = SCALES[axis.scale] ?? SCALES.linear;
    const whole = axis.limits.map(bend);
    const middle = bend(about);
    const inside = (value) => Math.min(Math.max(value, Math.min(...whole)), Math.max(...whole));
    return limits.map((limit) => straighten(inside(middle + (bend(limit) - middle) * factor)));
  };

  function within(value, [one, other]) {
    const slack = Math.abs(other - one) * 1e-9;
    return value >= Math.min(one, other) - slack && value <= Math.max(one, other) + slack;
  }

  /* Of ticks with names of their own, as many as there is room for. */
  function fixed(ticks, limits, room) {
    const shown = ticks.filter(([value]) => within(value, limits));
    const every = Math.ceil(shown.length / Math.max(room, 1));
    return shown.filter((_, index) => index % every === 0).map(([value, name]) => [value, name ?? atlas.tick(value, 1)]);
  }

  function even(limits, room) {
    const [low, high] = [Math.min(...limits), Math.max(...limits)];
    const rough = (high - low) / Math.max(room, 1) || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) ?? 10);
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => [(first + index) * step, atlas.tick((first + index) * step, step)]);
  }

  /* Powers of ten, and where these are few, twice and five times as much; on a symmetric axis also zero and negative ones. */
  function powers({ scale }, limits, room) {
    const [low, high] = [Math.min(...limits), Math.max(...limits)];
    const largest = Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high), 1e-12)));
    const smallest = scale === "log" ? Math.floor(Math.log10(low)) : 0;
    const decades = Array.from({ length: largest - smallest + 1 }, (_, index) => 10 ** (smallest + index));
    const many = (factors) => decades.flatMap((decade) => factors.map((factor) => factor * decade));
    const signed = (values) => (scale === "log" ? values : [...values.map((value) => -value).reverse(), 0, ...values]);
    const shown = (values) => signed(values).filter((value) => within(value, limits));
    const coarse = shown(decades);
    const values = coarse.length < 3 ? shown(many([1, 2, 5])) : coarse;
    if (values.length < 2) return even(limits, room);
    const every = Math.ceil(values.length / Math.max(room, 2));
    return values.filter((_, index) => index % every === 0).map((value) => [value, atlas.tick(value, Math.min(Math.abs(value) || 1, 1))]);
  }

  /* A number at a tick, with the digits that its step needs. */
  atlas.tick = (value, step) => {
    const digits = Math.min(Math.max(-Math.floor(Math.log10(step) + 1e-9), 0), 8);
    const large = Math.abs(value) >= 1e6;
    const text = large
      ? value.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 })
      : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
  };
})();
