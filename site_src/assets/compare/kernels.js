/* Kernels as pictures with one cursor over all of them. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const KEYS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  /* Fill ``place`` with a picture of each kernel; ``moved`` hears of a new cursor [query, key]. Returns what draws the cursor. */
  atlas.kernels = (place, kernels, moved) => {
    const pictures = kernels.map((kernel) => picture(kernel, moved));
    place.replaceChildren(...pictures.map(({ figure }) => figure));
    return (at) => pictures.forEach(({ show }) => show(at));
  };

  /* kernel: { title, n, values, low, high, step, map, unit, missing } */
  function picture(kernel, moved) {
    const figure = atlas.element("figure", "pac-kernel");
    const caption = atlas.element("figcaption", "", kernel.title);
    if (kernel.missing) {
      figure.append(caption, atlas.element("p", "pac-missing", kernel.missing));
      return { figure, show: () => {} };
    }
    const frame = atlas.element("div", "pac-frame");
    const [row, column] = [atlas.element("span", "pac-row"), atlas.element("span", "pac-column")];
    const value = atlas.element("p", "pac-value");
    frame.append(canvas(kernel), row, column);
    frame.tabIndex = 0;
    frame.setAttribute("role", "application");
    frame.setAttribute("aria-label", `Kernel: ${kernel.title}. Arrow keys move the cursor, with Shift by ten.`);
    figure.append(caption, frame, scale(kernel), value);
    follow(frame, kernel.n, moved);
    const show = ([query, key]) => {
      const inside = query < kernel.n && key < kernel.n;
      row.hidden = column.hidden = !inside;
      row.style.cssText = `top:${(100 * query) / kernel.n}%;height:${100 / kernel.n}%`;
      column.style.cssText = `left:${(100 * key) / kernel.n}%;width:${100 / kernel.n}%`;
      value.textContent = inside ? atlas.say(kernel.values[query * kernel.n + key], kernel.step) : `only ${kernel.n} positions`;
      frame.dataset.at = `${query},${key}`;
    };
    return { figure, show };
  }

  function canvas({ n, values, low, high, map }) {
    const drawn = document.createElement("canvas");
    drawn.width = drawn.height = n;
    const context = drawn.getContext("2d");
    const pixels = context.createImageData(n, n);
    values.forEach((value, index) => {
      if (Number.isNaN(value)) return; // Stays transparent.
      const share = high > low ? (value - low) / (high - low) : 0.5;
      pixels.data.set([...map[Math.round(255 * Math.min(1, Math.max(0, share)))], 255], 4 * index);
    });
    context.putImageData(pixels, 0, 0);
    return drawn;
  }

  function scale({ low, high, step, map, unit }) {
    const line = atlas.element("div", "pac-scale");
    const bar = atlas.element("span", "pac-bar");
    bar.style.background = atlas.strip(map);
    line.append(atlas.element("span", "", atlas.say(low, step)), bar, atlas.element("span", "", atlas.say(high, step)));
    line.append(atlas.element("span", "pac-unit", unit));
    return line;
  }

  function follow(frame, n, moved) {
    const within = (number) => Math.min(n - 1, Math.max(0, Math.floor(number)));
    const point = (event) => {
      const box = frame.getBoundingClientRect();
      moved([within(((event.clientY - box.top) / box.height) * n), within(((event.clientX - box.left) / box.width) * n)], false);
    };
    frame.addEventListener("pointermove", point);
    frame.addEventListener("pointerdown", point);
    frame.addEventListener("keydown", (event) => {
      const step = KEYS[event.key];
      if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const [query, key] = frame.dataset.at.split(",").map(Number);
      const size = event.shiftKey ? 10 : 1;
      moved([within(query + size * step[0]), within(key + size * step[1])], true);
    });
  }
})();
