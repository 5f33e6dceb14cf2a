/* The compare page: what is chosen, drawn and written into the address. */
(function () {
  "use strict";
  const MOST = 4;
  const QUIET = 250; // milliseconds without a movement before it is written or said
  const atlas = (window.atlas = window.atlas || {});
  const by = (id) => document.getElementById(id);
  let view; // what the address says
  let shown = []; // the encodings that are drawn
  let drawCursor = () => {};
  let drawCurves = () => {};
  let round = 0;
  let width; // for which the profiles are drawn

  atlas.element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  function start() {
    if (!atlas.catalogue || atlas.catalogue.encodings.length < 2) return;
    by("pac-static").hidden = true;
    by("pac").hidden = false;
    by("pac-scale").addEventListener("change", (event) => change({ scale: event.target.value }));
    by("pac-more").addEventListener("click", () => change({ chosen: [...view.chosen, another()] }));
    by("pac-swap").addEventListener("click", () => change({ chosen: [view.chosen[1], view.chosen[0], ...view.chosen.slice(2)] }));
    ["pac-query", "pac-key"].forEach((id) => by(id).addEventListener("change", () => move([number("pac-query"), number("pac-key")], true)));
    window.addEventListener("hashchange", open);
    window.addEventListener("resize", later(() => width !== by("pac-profiles").clientWidth && draw()));
    new MutationObserver(() => drawCurves(view.turn, view.at)).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
    open();
  }

  /* Show what the address says, unless it names a mere place on this page. */
  function open() {
    const isPlace = location.hash && !location.hash.includes("=");
    if (view && isPlace) return;
    view = atlas.read(location.hash, atlas.byName);
    while (view.chosen.length < 2) view.chosen.push(another());
    if (!isPlace && !view.unknown.length) history.replaceState(null, "", atlas.write(view));
    by("pac-unknown").textContent = view.unknown.length ? `This atlas has no encoding called ${view.unknown.join(", ")}.` : "";
    load();
  }

  /* A step that Back undoes. */
  function change(part) {
    view = { ...view, ...part };
    if (atlas.write(view) === location.hash) load();
    else location.hash = atlas.write(view);
  }

  /* The first encoding not chosen yet, of another scheme and of the first one's form if there is one, so that all of both can be compared. */
  function another() {
    const chosen = view.chosen.map((name) => atlas.byName.get(name));
    const free = atlas.catalogue.encodings.filter((encoding) => !chosen.includes(encoding));
    const differing = free.filter(({ kind }) => !chosen.some((other) => other.kind === kind));
    return (differing.find(({ form }) => form === chosen[0]?.form) ?? differing[0] ?? free[0] ?? atlas.catalogue.encodings[0]).name;
  }

  function load() {
    choosers();
    by("pac-scale").querySelector(`[value=${view.scale}]`).checked = true;
    const mine = ++round;
    Promise.all(view.chosen.map(atlas.load)).then(
      (encodings) => {
        if (mine !== round) return; // Something else was chosen meanwhile.
        shown = encodings;
        by("pac-failed").textContent = "";
        draw();
      },
      (error) => (by("pac-failed").textContent = `The data of ${error.message} could not be loaded.`),
    );
  }

  function choosers() {
    const groups = grouped(atlas.catalogue.encodings);
    const focused = document.activeElement;
    const within = by("pac-choosers").contains(focused) || focused === by("pac-more");
    by("pac-choosers").replaceChildren(...view.chosen.map((name, index) => chooser(name, index, groups)));
    by("pac-more").hidden = view.chosen.length >= Math.min(MOST, atlas.catalogue.encodings.length);
    if (within && focused !== document.activeElement) (by(focused.id) ?? by("pac-a")).focus(); // Whoever goes by keyboard stays there.
    if (within && by("pac-more").hidden && focused === by("pac-more")) by(`pac-${atlas.slots[view.chosen.length - 1]}`).focus();
  }

  function grouped(encodings) {
    const groups = new Map();
    encodings.forEach((encoding) => groups.set(encoding.group, [...(groups.get(encoding.group) ?? []), encoding]));
    return groups;
  }

  function chooser(name, index, groups) {
    const item = atlas.element("div", "pac-chooser");
    const label = atlas.element("label", "", "ABCD"[index]);
    const select = atlas.element("select", "");
    label.htmlFor = select.id = `pac-${atlas.slots[index]}`;
    groups.forEach((encodings, group) => {
      const options = document.createElement("optgroup");
      options.label = group;
      options.append(...encodings.map(({ name: value, title }) => new Option(title, value, value === name, value === name)));
      select.append(options);
    });
    select.addEventListener("change", () => change({ chosen: view.chosen.map((other, slot) => (slot === index ? select.value : other)) }));
    const link = atlas.element("a", "", "open page");
    link.href = atlas.byName.get(name).page;
    link.setAttribute("aria-label", `open page: ${atlas.byName.get(name).title}`);
    item.append(label, select, link);
    if (view.chosen.length > 2) item.append(remover(index));
    return item;
  }

  function remover(index) {
    const button = atlas.element("button", "", "remove");
    button.type = "button";
    button.addEventListener("click", () => change({ chosen: view.chosen.filter((_, slot) => slot !== index) }));
    return button;
  }

  function draw() {
    if (!shown.length) return;
    width = by("pac-profiles").clientWidth;
    const stored = view.scale === "stored";
    const kernels = shown.map((encoding) => kernelOf(encoding, stored));
    const drawKernels = atlas.kernels(by("pac-kernels"), [...kernels, ...(shown.length === 2 ? [difference(kernels, stored)] : [])], move);
    const lines = kernels
      .map((kernel, index) => ({ ...kernel, colour: shown[index].colour, dash: atlas.dashes[index] }))
      .filter(({ missing }) => !missing);
    const said = [...new Set(lines.map(({ unit }) => unit))];
    const warning = new Set(lines.map(({ quantity }) => quantity)).size > 1 ? "Different quantities, whose heights cannot be compared: " : "";
    const units = stored ? warning + said.join("; ") : "mean of each kernel's shape";
    const drawProfiles = lines.length ? atlas.profiles(by("pac-profiles"), lines, units) : by("pac-profiles").replaceChildren();
    drawCursor = (at) => [drawKernels, drawProfiles].forEach((cursor) => cursor?.(at));
    drawCurves = atlas.curves(by("pac-curves"), shown, turn);
    atlas.metrics(by("pac-metrics"), shown);
    const most = Math.max(...shown.map(({ n }) => n)) - 1;
    ["pac-query", "pac-key"].forEach((id) => (by(id).max = most));
    place(view.at.map((position) => Math.min(position, most)));
  }

  function kernelOf({ title, n, quantity, heads, stored, shape }, asStored) {
    const kernel = asStored ? stored : shape;
    if (!kernel || kernel.low === null) return { title, missing: asStored ? "It has values that are not numbers." : "All pairs are alike, so it has no shape." };
    const unit = asStored ? quantity + (heads > 1 ? `, mean of ${heads} heads` : "") : "from the lowest to the highest mean of any offset";
    return { title, n, map: atlas.sequential, unit, quantity, ...kernel };
  }

  /* The kernel of B less that of A, over the positions that both have. */
  function difference([first, second], asStored) {
    const title = "Difference (B − A)";
    if (first.missing || second.missing) return { title, missing: "One of the two has no kernel." };
    if (asStored && first.quantity !== second.quantity) {
      return { title, missing: `One holds a ${first.quantity}, the other a ${second.quantity}: only their shapes can be compared.` };
    }
    const n = Math.min(first.n, second.n);
    const values = Float64Array.from({ length: n * n }, (_, index) => {
      const [query, key] = [Math.floor(index / n), index % n];
      return second.values[query * second.n + key] - first.values[query * first.n + key];
    });
    const most = values.reduce((largest, value) => Math.max(largest, Math.abs(value) || 0), 0);
    return { title, n, values, low: -most, high: most, step: first.step + second.step || 1e-3, map: atlas.diverging, unit: "difference" };
  }

  function place(at) {
    view.at = at;
    [by("pac-query").value, by("pac-key").value] = at;
    drawCursor(at);
    drawCurves(view.turn, at);
  }

  function move(at, aloud) {
    place(at);
    remember();
    if (aloud) speak();
  }

  function turn(angles) {
    view.turn = angles;
    drawCurves(angles, view.at);
    remember();
  }

  const remember = later(() => history.replaceState(null, "", atlas.write(view)));
  const speak = later(() => {
    const [query, key] = view.at;
    const values = [...by("pac-kernels").children].map((figure) => {
      return `${figure.querySelector("figcaption").textContent}: ${figure.querySelector(".pac-value, .pac-missing").textContent}`;
    });
    by("pac-live").textContent = `Query ${query}, key ${key}, offset ${key - query}. ${values.join("; ")}.`;
  });

  function later(action) {
    let waiting;
    return () => {
      clearTimeout(waiting);
      waiting = setTimeout(action, QUIET);
    };
  }

  function number(id) {
    return Math.max(0, Math.min(Number(by(id).max), Math.round(Number(by(id).value)) || 0));
  }

  start();
})();
