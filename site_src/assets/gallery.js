// Filters the gallery by name, scheme and family. Without this script the whole gallery is shown.
(() => {
  const form = document.querySelector(".pa-filter");
  if (!form) return;
  const groups = [...document.querySelectorAll(".pa-group")];

  const apply = () => {
    const [name, scheme, family] = ["name", "scheme", "family"].map((key) => form.elements[key].value.trim());
    let shown = 0;
    for (const group of groups) {
      const cards = [...group.querySelectorAll(".pa-card")];
      for (const card of cards) {
        card.hidden =
          (scheme && group.dataset.paScheme !== scheme) ||
          (family && card.dataset.paFamily !== family) ||
          !card.textContent.toLowerCase().includes(name.toLowerCase());
      }
      const left = cards.filter((card) => !card.hidden).length;
      group.hidden = left === 0;
      shown += left;
    }
    form.querySelector("output").textContent = name || scheme || family ? `${shown} shown` : "";
  };

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
})();
