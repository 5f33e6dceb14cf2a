/* Two colour maps that the colour-blind can read, as lists of stops: viridis for values, blue to red for differences. */
(function () {
  "use strict";
  const VIRIDIS = "440154 481a6c 472f7d 414487 39568c 31688e 2a788e 23888e 1f988b 22a884 35b779 54c568 7ad151 a5db36 d2e21b fde725";
  const DIVERGING = "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f";
  const atlas = (window.atlas = window.atlas || {});

  atlas.viridis = table(VIRIDIS);
  atlas.diverging = table(DIVERGING);

  /* 256 colours as [red, green, blue], straight lines between the stops. */
  function table(stops) {
    const colours = stops.split(" ").map((stop) => [0, 2, 4].map((start) => parseInt(stop.slice(start, start + 2), 16)));
    return Array.from({ length: 256 }, (_, index) => {
      const place = (index / 255) * (colours.length - 1);
      const before = Math.min(Math.floor(place), colours.length - 2);
      return colours[before].map((part, channel) => Math.round(part + (place - before) * (colours[before + 1][channel] - part)));
    });
  }

  /* The colour of a share from 0 to 1, for a style. */
  atlas.css = (map, share) => `rgb(${map[Math.round(255 * Math.min(1, Math.max(0, share)))].join()})`;

  /* A horizontal strip of the whole map, for a scale. */
  atlas.strip = (map) => `linear-gradient(to right, ${[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1].map((share) => atlas.css(map, share)).join()})`;
})();
