/* Paper shows every figure: what is folded opens, and pictures that wait for the reader to scroll come. */
(function () {
  "use strict";
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")].filter((details) => details.matches(".pa-row, :has(figure)"));
    folded.forEach((details) => (details.open = true));
    document.querySelectorAll("img[loading=lazy]").forEach((image) => (image.loading = "eager"));
  });
  addEventListener("afterprint", () => {
    folded.forEach((details) => (details.open = false));
    folded = [];
  });
})();
