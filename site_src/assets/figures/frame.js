/* The frame of a figure: it comes alive when it comes into view; with what readers take from it. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const base = new URL("..", document.currentScript.src); // Of the site.
  const arrived = new Map();

  /* Called by each figure's script. */
  atlas.figure = (data) => arrived.set(document.currentScript.src, data);

  const load = (address) => atlas.fetched(address, arrived, address);
  atlas.loadFigure = (name) => load(new URL(`figures/${name}.js`, base).href);

  /* The script of a figure lies beside its picture. */
  const scriptOf = (figure) => figure.querySelector(".pa-scroll a").href.replace(/\.\w+$/, ".js");

  const narrow = matchMedia("(max-width: 45em)");
  const touched = new Promise((resolve) =>
    ["pointerdown", "pointermove", "keydown", "wheel", "scroll"].forEach((type) => addEventListener(type, resolve, { once: true, passive: true })),
  );

  /* Watch every figure below ``root`` that has data. On a phone, panels stand below one another, so the figure on the first screen waits until the
     reader does something: nothing moves before. */
  atlas.watch = (root = document) =>
    root.querySelectorAll("figure.pa-figure:has(.pa-scroll a)").forEach((figure) => {
      const waits = narrow.matches && figure.querySelector("img[fetchpriority]") && !figure.hasAttribute("data-pa-first");
      (waits ? touched : Promise.resolve()).then(() =>
        atlas.whenSeen(figure, () =>
          load(scriptOf(figure)).then(
            (data) => awake(figure, data),
            () => {}, // The picture stays.
          ),
        ),
      );
    });

  function awake(figure, data) {
    if (!data.panels?.length) return;
    const still = figure.querySelector(".pa-scroll");
    const place = atlas.element("div", "pa-live");
    still.before(place);
    figure.classList.add("pa-alive");
    const shown = figure.hasAttribute("data-pa-first") ? { ...data, panels: data.panels.slice(0, 1) } : data;
    const view = atlas.live(place, shown, { label: data.caption });
    if (figure.hasAttribute("data-pa-spins")) return spins(view);
    figure.querySelector("figcaption").append(atlas.tools(() => aboutOf(figure, shown, view)));
    figure.dispatchEvent(new Event("pa-awake"));
  }

  /* Turn curves as the reader scrolls, unless the reader asked for less motion. */
  function spins(view) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    addEventListener("scroll", () => view.turned([60 + window.scrollY / 4, 20]), { passive: true });
  }

  /* What the menu of a figure needs to know. */
  function aboutOf(figure, data, view) {
    const script = scriptOf(figure).slice(new URL("figures/", base).href.length).replace(/\.js$/, "");
    const page = figure.id ? `${location.href.replace(/#.*/, "")}#${figure.id}` : location.href;
    return { ...data, data, view, script, name: script.replaceAll("/", "-"), path: page.startsWith(base.href) ? page.slice(base.href.length) : data.page };
  }
  atlas.watch();
})();
