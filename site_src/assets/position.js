// The panel of what a rotary model has at one position: a slider on a logarithmic scale, and a number that stays in the address; where the page has several models, so does the one that is chosen.
(() => {
  "use strict";
  const place = document.querySelector(".pa-position");
  if (!place) return;
  const [field, slider] = ["position", "place"].map((name) => place.querySelector(`[name=${name}]`));
  const said = place.querySelector(".pa-position-said");
  const table = place.querySelector("table");
  const models = window.atlasPositions;
  const form = document.getElementById("pa-position-model");
  const choice = models && form?.elements.model; // Without the file of the others there is the first alone.
  let data, rotations;
  const TURN = 2 * Math.PI;
  const made = (name, text, attributes = {}) => Object.assign(document.createElement(name), { textContent: text, ...attributes });
  const whole = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 0 });
  const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

  // Four significant digits, or all before the decimal point; powers of ten below 0.0001.
  const number = (value) => {
    const nearest = Number(value.toLocaleString("en-US", { maximumSignificantDigits: 4, useGrouping: false }));
    if (nearest >= 1e9 || nearest < 1e-4) {
      const [digits, exponent] = nearest.toExponential(3).split("e");
      return `${digits} × 10${[...String(Number(exponent))].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"["0123456789".indexOf(sign)] ?? "⁻").join("")}`;
    }
    if (Math.abs(value - Math.round(value)) <= 1e-12 * value) return whole(value);
    const digits = Math.max(0, 3 - Number(nearest.toExponential(3).split("e")[1]));
    return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  };
  const angle = (turns) => (turns < 1 ? `${turns ? number(360 * turns) : 0}°` : turns === 1 ? "1 turn" : `${number(turns)} turns`);

  // What a model has at any position: a figure and two rows of the table for each rotation. Its numbers are frequencies
  // without scaling, from the base, and with it: radians per position.
  const lay = (model) => {
    data = model;
    const several = data.rotations.length > 1;
    const isScaled = data.rotations.some(({ slower }) => slower.some((ratio) => ratio !== 1));
    for (const figure of place.querySelectorAll(".pa-turning")) figure.remove();
    rotations = data.rotations.map(({ label, step, base, components, pairs, slower, slower_beyond: beyond = [] }) => {
      const plain = Array.from({ length: pairs }, (_, pair) => step * base ** ((-2 * pair) / components));
      const [frequencies, longer] = [slower, beyond.length ? beyond : slower].map((ratios) =>
        plain.map((frequency, pair) => frequency / (ratios[pair] ?? ratios[0])));
      const figure = place.querySelector("template").content.firstElementChild.cloneNode(true);
      figure.querySelector("figcaption").textContent = `Share of its first turn that each rotation pair has completed${several ? `: ${label}` : ""}`;
      figure.querySelector("svg").setAttribute("viewBox", `0 0 ${pairs} 1`);
      figure.querySelector(".pa-ends").lastElementChild.textContent = `pair ${pairs - 1}`;
      table.before(figure);
      const rows = [["fastest", Math.max], ["slowest", Math.min]].map(([name, end]) => {
        const row = document.createElement("tr");
        row.append(made("th", `${name}${several ? `, ${label}` : ""}`, { scope: "row" }));
        row.append(...Array.from({ length: isScaled ? 3 : 2 }, () => made("td", "")));
        return [frequencies.indexOf(end(...frequencies)), row];
      });
      return { label, plain, frequencies, longer, path: figure.querySelector("path"), rows };
    });
    const head = table.tHead.rows[0];
    head.cells[3]?.remove();
    if (isScaled) head.append(made("th", "Without scaling", { scope: "col" }));
    table.tBodies[0].replaceChildren(...rotations.flatMap(({ rows }) => rows.map(([, row]) => row)));
    said.style.setProperty("--n", rotations.length);
    const longer = place.querySelector(".pa-longer");
    longer.hidden = !data.longer;
    const isShown = data.last >= (data.longer ?? 0);
    longer.textContent = `Texts of more than ${whole(data.longer ?? 0)} positions use other frequencies${isShown
      ? " at all positions, which are shown from that position on" : ", which are not shown here"}.`;
    field.max = data.last;
  };

  // Those at the last position of a text.
  const turning = ({ frequencies, longer }, position) => (data.longer && position >= data.longer ? longer : frequencies);
  const beyond = (position) => {
    if (position <= data.last) return "";
    const grows = data.grows ? "; its scaling changes all angles with the length of longer texts, which is not shown" : "";
    return `Position ${whole(position)} is beyond the ${data.longer > data.last ? "texts that use these frequencies" : `context of ${whole(data.last + 1)} positions`}${grows}. `;
  };
  const counted = (rotation, position) => {
    const { plain } = rotation;
    const frequencies = turning(rotation, position);
    const turned = (list) => list.filter((frequency) => (position * frequency) / TURN >= 1).length;
    const [now, before] = [turned(frequencies), turned(plain)];
    const without = now === before ? "" : ` (${before} without scaling)`;
    return `${now} of ${plain.length} rotation pairs ${now === 1 ? "has" : "have"} completed a turn${without}`;
  };
  const sentence = (position) => {
    const several = rotations.length > 1;
    const turned = rotations.map((rotation) => (several ? `${capital(rotation.label)}: ` : "") + counted(rotation, position));
    const { count, which } = data.seeing.findLast(({ limit }) => limit === null || position <= limit) ?? { count: 0 };
    const named = which ? `: ${which}` : "";
    const all = count === 1 ? "the only layer still sees" : `all ${count} layers still see`;
    const some = count ? `${count} of ${data.layers} layers still ${count === 1 ? "sees" : "see"}` : "no layer still sees";
    const seen = `${count && count === data.layers ? all : some} position 0${named}${data.beside}`;
    const first = [...(several ? [] : turned), ...(data.layers ? [seen] : [])];
    const opening = first.length ? [`At position ${whole(position)}, ${first.join(", and ")}.`] : [];
    return beyond(position) + [...opening, ...(several ? turned.map((text) => `${text}.`) : [])].join(" ");
  };
  const draw = (position) => {
    const text = sentence(position);
    if (said.textContent !== text) said.textContent = text;
    for (const rotation of rotations) {
      const { plain, path, rows } = rotation;
      const frequencies = turning(rotation, position);
      const steps = frequencies.map((frequency) => `V${Math.max(1 - (position * frequency) / TURN, 0)}h1`);
      path.setAttribute("d", `M0 1${steps.join("")}V1z`);
      for (const [pair, row] of rows) {
        row.cells[1].textContent = angle(frequencies[pair] / TURN);
        row.cells[2].textContent = angle((position * frequencies[pair]) / TURN);
        if (row.cells[3]) row.cells[3].textContent = angle((position * plain[pair]) / TURN);
      }
    }
    slider.setAttribute("aria-valuetext", whole(position));
  };

  const MOST = 2 ** 31 - 1;
  const limited = (position) => Math.min(Math.max(Math.round(position), 0), MOST);
  const most = Number(slider.max);
  const show = (position) => {
    draw(position);
    history.replaceState(null, "", `#${choice ? `model=${encodeURIComponent(choice.value)}&` : ""}position=${position}`);
  };
  const slide = (position) => (slider.value = Math.round((most * Math.log(Math.max(position, 1))) / Math.log(data.last)));
  slider.addEventListener("input", () => {
    const position = limited(data.last ** (slider.value / most));
    field.value = position;
    show(position);
  });
  field.addEventListener("input", () => {
    if (!field.value || !Number.isFinite(field.valueAsNumber)) return;
    const position = limited(field.valueAsNumber);
    slide(position);
    show(position);
  });
  field.addEventListener("change", () => (field.value = limited(field.valueAsNumber || (field.value ? 0 : data.last))));

  const go = (position) => {
    field.value = position;
    slide(position);
    draw(position);
  };
  const take = (name) => {
    choice.value = name;
    document.getElementById("at-position").firstChild.textContent = name;
    const [id] = name.split(", to "); // A length follows the id of a model with other settings.
    document.querySelector(".pa-model-page").href = `${id.replace("/", "--")}.html`;
    lay(models[name]);
  };
  const follow = () => {
    const [name, position] = ["model", "position"].map((key) => new URLSearchParams(location.hash.slice(1)).get(key));
    if (choice && Object.hasOwn(models, name) && name !== choice.value) {
      take(name);
      go(data.last);
    }
    if (!/^\d{1,15}$/.test(position)) return;
    go(limited(Number(position)));
    place.scrollIntoView();
  };
  window.addEventListener("hashchange", follow);
  if (choice) {
    form.addEventListener("submit", (event) => event.preventDefault());
    choice.addEventListener("input", () => {
      const position = field.valueAsNumber;
      take(choice.value);
      go(Math.min(position >= 0 ? limited(position) : data.last, data.last));
      show(field.valueAsNumber);
    });
    choice.value = document.getElementById("at-position").firstChild.textContent; // A browser may have restored another choice.
    form.hidden = false;
  }
  lay(JSON.parse(place.querySelector("script").textContent));
  place.hidden = false;
  go(data.last);
  follow();
})();
