// What the KV cache of a model takes at any number of positions, beyond its context too.
(() => {
  "use strict";
  const place = document.querySelector("[data-pa-cache]");
  if (!place) return;
  const groups = JSON.parse(place.dataset.paCache);
  const types = JSON.parse(place.dataset.paTypes);
  const context = Number(place.dataset.paContext) || 8192;
  const MOST = 2 ** 24;
  const made = (name, attributes, ...inner) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...inner);
    return element;
  };
  const whole = (value) => value.toLocaleString("en-US");
  const size = (bytes) => {
    const [unit, name] = bytes >= 1e9 ? [1e9, "GB"] : bytes >= 1e6 ? [1e6, "MB"] : bytes >= 1e3 ? [1e3, "kB"] : [1, bytes === 1 ? "byte" : "bytes"];
    const four = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
    return `${four(bytes / unit)} ${name}${bytes >= 1e9 ? ` (${four(bytes / 2 ** 30)} GiB)` : ""}`; // As in text.py.
  };
  const field = made("input", { type: "number", min: 1, max: MOST, value: context, inputMode: "numeric" });
  const slider = made("input", { type: "range", min: 0, max: Math.log2(MOST), step: 0.25, value: Math.log2(context) });
  slider.setAttribute("aria-label", "Positions, on a logarithmic scale");
  const said = made("p", {});
  said.setAttribute("aria-live", "polite");
  const show = () => {
    const length = Math.min(Math.max(Math.round(Number(field.value)) || 1, 1), MOST);
    const values = groups.reduce((sum, one) => sum + one.layers * one.values * Math.min(length, one.positions ?? length), 0);
    const beyond = length > context && place.dataset.paContext ? `, beyond the context of ${whole(context)}` : "";
    const sizes = types.map(([name, bytes, own]) => `${size(bytes * values)} in ${name}${own ? " (as configured)" : ""}`);
    said.textContent = `${whole(length)} positions${beyond}${place.dataset.paOf}: ${sizes.join(", ")}.`;
  };
  field.addEventListener("input", () => {
    slider.value = Math.log2(Math.max(Number(field.value), 1));
    show();
  });
  slider.addEventListener("input", () => {
    field.value = Math.round(2 ** Number(slider.value));
    show();
  });
  place.append(made("div", { className: "pa-controls" }, made("label", {}, "Positions ", field), slider), said);
  show();
})();
