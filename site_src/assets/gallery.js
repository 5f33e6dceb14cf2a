// Filters the gallery by name, scheme and family. Without this script the whole gallery is shown.
(() => {
  const form = document.querySelector(".pa-filter");
  if (!form) return;
  const cards = [...document.querySelectorAll(".pa-card")];

  const apply = () => {
    const [name, scheme, family] = ["name", "scheme", "family"].map((key) => form.elements[key].value.trim());
    for (const card of cards) {
      card.hidden =
        (scheme && !card.dataset.paSchemes.split(" ").includes(scheme)) ||
        (family && card.dataset.paFamily !== family) ||
        !card.textContent.toLowerCase().includes(name.toLowerCase());
    }
    const shown = cards.filter((card) => !card.hidden).length;
    form.querySelector("output").textContent = name || scheme || family ? `${shown} shown` : "";
  };

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
})();
