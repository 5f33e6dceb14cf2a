// The panel of position.js for any model of data/positions.js: its parts are laid out anew for the one that is chosen, which stays in the address.
(() => {
  "use strict";
  const form = document.getElementById("pa-position-model");
  const place = document.querySelector(".pa-position");
  const models = window.atlasPositions;
  if (!form || !models) return;
  const choice = form.elements.model;
  const title = document.getElementById("at-position");
  const made = (name, text, attributes = {}) => Object.assign(document.createElement(name), { textContent: text, ...attributes });

  const layFigures = (rotations, several) => {
    const [first, ...others] = place.querySelectorAll(".pa-turning");
    for (const figure of others) figure.remove();
    const figures = rotations.map((_, index) => (index ? first.cloneNode(true) : first));
    first.after(...figures.slice(1));
    figures.forEach((figure, index) => {
      const { label, pairs } = rotations[index];
      figure.querySelector("figcaption").textContent = `Share of the first turn of each pair${several ? `: ${label}` : ""}`;
      figure.querySelector("svg").setAttribute("viewBox", `0 0 ${pairs} 1`);
      figure.querySelector(".pa-ends").lastElementChild.textContent = `pair ${pairs - 1}`;
    });
  };
  const layTable = (rotations, several) => {
    const isScaled = rotations.some(({ slower }) => slower.some((ratio) => ratio !== 1));
    const table = place.querySelector("table");
    const head = table.tHead.rows[0];
    head.cells[3]?.remove();
    if (isScaled) head.append(made("th", "Without scaling", { scope: "col" }));
    const rows = rotations.flatMap(({ label }) => ["fastest", "slowest"].map((name) => {
      const row = document.createElement("tr");
      row.append(made("th", `${name}${several ? `, ${label}` : ""}`, { scope: "row" }));
      row.append(...Array.from({ length: isScaled ? 3 : 2 }, () => made("td", "")));
      return row;
    }));
    table.tBodies[0].replaceChildren(...rows);
  };
  const lay = ({ rotations, longer }) => {
    const several = rotations.length > 1;
    layFigures(rotations, several);
    layTable(rotations, several);
    place.querySelector(".pa-position-said").style.setProperty("--n", rotations.length);
    place.querySelector(".pa-longer")?.remove();
    if (!longer) return;
    const text = `Texts of more than ${longer.toLocaleString("en-US")} positions have other frequencies, which are not shown here.`;
    place.append(made("p", text, { className: "pa-hint pa-longer" }));
  };

  const give = (name) => {
    choice.value = name;
    title.firstChild.textContent = name;
    place.dataset.model = encodeURIComponent(name);
    lay(models[name]);
    place.dispatchEvent(new CustomEvent("pa-given", { detail: models[name] }));
  };
  const named = () => new URLSearchParams(location.hash.slice(1)).get("model");
  const follow = () => {
    if (Object.hasOwn(models, named()) && named() !== choice.value) give(named());
  };
  place.dataset.model = encodeURIComponent(choice.value);
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  choice.addEventListener("input", () => {
    const position = Math.min(place.querySelector("[name=position]").value, models[choice.value].last);
    history.replaceState(null, "", `#model=${encodeURIComponent(choice.value)}&position=${position}`);
    give(choice.value);
  });
  addEventListener("hashchange", follow);
  choice.value = title.firstChild.textContent; // A browser may have restored another choice.
  follow();
})();
