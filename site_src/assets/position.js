// The panel of what a rotary model has at one position: a slider on a logarithmic scale, and a number that stays in the address.
(() => {
  "use strict";
  const place = document.querySelector(".pa-position");
  if (!place) return;
  const [field, slider] = ["position", "place"].map((name) => place.querySelector(`[name=${name}]`));
  const said = place.querySelector(".pa-position-said");
  let data, rotations, figures, rows;
  const TURN = 2 * Math.PI;
  const IN_ADDRESS = /^#(?:model=[^&]*&)?position=(\d{1,15})$/;
  const whole = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 0 });

  const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

  // Frequencies without scaling, from the base, and with it: radians per position.
  const turning = ({ label, step, base, components, pairs, slower }) => {
    const plain = Array.from({ length: pairs }, (_, pair) => step * base ** ((-2 * pair) / components));
    return { label, plain, frequencies: plain.map((frequency, pair) => frequency / (slower[pair] ?? slower[0])) };
  };
  const take = (given) => {
    data = given;
    rotations = data.rotations.map(turning);
    figures = [...place.querySelectorAll(".pa-turning")];
    rows = place.querySelector("tbody").rows;
    field.max = data.last;
  };

  // Four significant digits, or all before the decimal point; powers of ten below 0.0001.
  const number = (value) => {
    if (value >= 1e9 || value < 1e-4) {
      const [digits, exponent] = value.toExponential(3).split("e");
      return `${digits} × 10${[...String(Number(exponent))].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"["0123456789".indexOf(sign)] ?? "⁻").join("")}`;
    }
    if (Math.abs(value - Math.round(value)) <= 1e-12 * value) return whole(value);
    const digits = Math.max(0, 3 - Number(value.toExponential(3).split("e")[1]));
    return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  };
  const angle = (turns) => (turns < 1 ? `${number(360 * turns)}°` : turns === 1 ? "1 turn" : `${number(turns)} turns`);

  const counted = ({ plain, frequencies }, position) => {
    const turned = (list) => list.filter((frequency) => (position * frequency) / TURN >= 1).length;
    const [now, before] = [turned(frequencies), turned(plain)];
    const without = now === before ? "" : ` (${before} without scaling)`;
    return `${now} of ${plain.length} pairs ${now === 1 ? "has" : "have"} turned at least once${without}`;
  };
  const sentence = (position) => {
    const several = rotations.length > 1;
    const turned = rotations.map((rotation) => (several ? `${capital(rotation.label)}: ` : "") + counted(rotation, position));
    const { count, which } = data.seeing.findLast(({ limit }) => limit === null || position <= limit) ?? { count: 0 };
    const named = which ? `: ${which}` : "";
    const seen = `${count} of ${data.layers} layers still ${count === 1 ? "sees" : "see"} position 0${named}${data.beside}`;
    const first = [...(several ? [] : turned), ...(data.layers ? [seen] : [])];
    const opening = first.length ? [`At position ${whole(position)}: ${first.join("; ")}.`] : [];
    return [...opening, ...(several ? turned.map((text) => `${text}.`) : [])].join(" ");
  };

  const draw = (position) => {
    const text = sentence(position);
    if (said.textContent !== text) said.textContent = text;
    rotations.forEach(({ plain, frequencies }, index) => {
      const steps = frequencies.map((frequency) => `V${Math.max(1 - (position * frequency) / TURN, 0)}h1`);
      figures[index].querySelector("path").setAttribute("d", `M0 1${steps.join("")}V1z`);
      [Math.max, Math.min].forEach((end, second) => {
        const [pair, row] = [frequencies.indexOf(end(...frequencies)), rows[2 * index + second]];
        row.cells[1].textContent = angle(frequencies[pair] / TURN);
        row.cells[2].textContent = angle((position * frequencies[pair]) / TURN);
        if (row.cells[3]) row.cells[3].textContent = angle((position * plain[pair]) / TURN);
      });
    });
    slider.setAttribute("aria-valuetext", whole(position));
  };

  const limited = (position) => Math.min(Math.max(Math.round(position), 1), data.last);
  const most = Number(slider.max);
  const show = (position) => {
    draw(position);
    history.replaceState(null, "", `#${place.dataset.model ? `model=${place.dataset.model}&` : ""}position=${position}`);
  };
  const slide = (position) => (slider.value = Math.round((most * Math.log(position)) / Math.log(data.last)));
  slider.addEventListener("input", () => {
    const position = limited(data.last ** (slider.value / most));
    field.value = position;
    show(position);
  });
  const typed = () => {
    if (!field.value || !Number.isFinite(field.valueAsNumber)) return;
    const position = limited(field.valueAsNumber);
    slide(position);
    show(position);
  };
  field.addEventListener("input", typed);
  field.addEventListener("change", () => (field.value = limited(field.valueAsNumber || data.last)));

  const go = (position) => {
    field.value = position;
    slide(position);
    draw(position);
  };
  const follow = () => {
    const found = IN_ADDRESS.exec(location.hash);
    if (!found) return;
    go(limited(Number(found[1])));
    place.scrollIntoView();
  };
  window.addEventListener("hashchange", follow);
  // Where a page has several models, it lays out the panel of another one before.
  place.addEventListener("pa-given", ({ detail }) => {
    take(detail);
    go(limited(Number(IN_ADDRESS.exec(location.hash)?.[1] ?? data.last)));
  });
  take(JSON.parse(place.querySelector("script").textContent));
  place.classList.add("pa-alive-position");
  // Whoever typed before this script had come is answered now.
  if (field.value !== field.defaultValue) typed();
  follow();
})();
