/* Colormaps, from the stops that data/compare/index.js lists: one for values, one for differences. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});

  /* 256 colours as [red, green, blue], interpolated between stops of the form "rrggbb rrggbb". */
  atlas.colormap = (stops) => {
    const colours = stops.split(" ").map((stop) => [0, 2, 4].map((start) => parseInt(stop.slice(start, start + 2), 16)));
    return Array.from({ length: 256 }, (_, index) => {
      const place = (index / 255) * (colours.length - 1);
      const before = Math.min(Math.floor(place), colours.length - 2);
      return colours[before].map((part, channel) => Math.round(part + (place - before) * (colours[before + 1][channel] - part)));
    });
  };

  /* The colour of a share from 0 to 1, for a style. */
  atlas.css = (map, share) => `rgb(${map[Math.round(255 * Math.min(1, Math.max(0, share)))].join()})`;

  /* A horizontal strip of the whole map, for a scale. */
  atlas.strip = (map) => `linear-gradient(to right, ${[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1].map((share) => atlas.css(map, share)).join()})`;
})();
