/* Keys reach what scrolls sideways: it takes the focus, with a name, as long as it does not fit. */
(function () {
  "use strict";
  const sizes = new ResizeObserver((areas) => areas.forEach(({ target }) => name(target)));

  function name(area) {
    const caption = area.querySelector("caption")?.firstChild.textContent.trim();
    const names = { tabindex: 0, role: "group", "aria-label": caption || (area.matches(".pa-formula") ? "Formula" : "Table") };
    const fits = area.scrollWidth <= area.clientWidth;
    Object.entries(names).forEach(([key, value]) => (fits ? area.removeAttribute(key) : area.setAttribute(key, value)));
  }

  document.querySelectorAll(".pa-wide:not([tabindex]), .pa-formula, .pa-lesson-figure").forEach((area) => sizes.observe(area));
})();
