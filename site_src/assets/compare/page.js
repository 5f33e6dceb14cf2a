/* The compare page: what is chosen, drawn and written into the address. */
(function () {
  "use strict";
  const QUIET = 250; // milliseconds without a movement before the address says it
  const NAMES = "ABCDEF";
  const LETTER = 8.5; // Pixels of a letter of a name, and of the arrow beside it; what does not fit stands below.
  const ARROW = 40;
  const atlas = (window.atlas = window.atlas || {});
  const by = (id) => document.getElementById(id);
  const silent = { tip: false, aloud: false };
  const drawn = new Map(); // live figures by the element that holds them
  let view; // what the address says
  let longest = 0; // index of the picture with the most positions
  let round = 0;
  let held = false; // whether a finger or a button is down
  let timer;

  function start() {
    if (!atlas.catalogue || atlas.catalogue.encodings.length < 2) return;
    by("pac-static").remove();
    by("pac").hidden = false;
    folds().forEach((fold) => (fold.open = isWide));
    windows();
    by("pac-scale").addEventListener("change", (event) => change({ scale: event.target.value }));
    by("pac-window").addEventListener("change", (event) => change({ window: Number(event.target.value) }));
    by("pac-more").addEventListener("click", () => change({ chosen: [...view.chosen, another()] }));
    by("pac-swap").addEventListener("click", () => change({ chosen: [view.chosen[1], view.chosen[0], ...view.chosen.slice(2)] }));
    ["pac-query", "pac-key"].forEach((id) => by(id).addEventListener("change", () => typed([number("pac-query"), number("pac-key")])));
    addEventListener("pointerdown", () => (held = true), true);
    ["pointerup", "pointercancel"].forEach((name) => addEventListener(name, () => (held = false), true));
    addEventListener("hashchange", open);
    // A pair of the map below.
    document.addEventListener("click", ({ target }) => {
      if (target.closest('a[href*="compare.html#a="]') && !by("pac").contains(target)) by("pac").scrollIntoView();
    });
    open();
  }

  function windows() {
    by("pac-window").append(
      ...atlas.catalogue.windows.map((count) => {
        const label = atlas.element("label");
        const choice = atlas.element("input");
        [choice.type, choice.name, choice.value] = ["radio", "window", count];
        label.append(choice, ` ${count.toLocaleString("en")}`);
        return label;
      }),
    );
  }

  /* Show what the address says, unless it names a mere place on this page. */
  function open() {
    const isPlace = location.hash && !location.hash.includes("=");
    if (view && isPlace) return;
    view = atlas.read(location.hash, atlas.byName, atlas.catalogue.windows);
    while (view.chosen.length < 2) view.chosen.push(another());
    if (!isPlace && !view.unknown.length) history.replaceState(null, "", written());
    by("pac-unknown").textContent = view.unknown.length ? `This site compares no encoding called ${view.unknown.join(" or ")}.` : "";
    load();
  }

  const isWide = matchMedia("(min-width: 45em)").matches; // Else sections below the profiles are folded.
  const folds = () => [...by("pac").querySelectorAll("details.pac-row")];
  const written = () => atlas.write(view, atlas.catalogue.windows);

  /* A step that Back undoes. */
  function change(part) {
    view = { ...view, ...part };
    if (written() === location.hash) load();
    else location.hash = written();
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
    by("pac-window").querySelector(`[value="${view.window}"]`).checked = true;
    const mine = ++round;
    Promise.all(view.chosen.map((name) => atlas.load(name, view.window))).then(
      (encodings) => {
        if (mine !== round) return; // Something else was chosen meanwhile.
        by("pac-failed").textContent = "";
        draw(encodings);
      },
      (error) => (by("pac-failed").textContent = `The data of ${error.message} could not be loaded.`),
    );
  }

  function choosers() {
    const groups = grouped(atlas.catalogue.encodings);
    const focused = document.activeElement;
    const within = by("pac-choosers").contains(focused) || focused === by("pac-more");
    by("pac-choosers").replaceChildren(...view.chosen.map((name, index) => chooser(name, index, groups)));
    by("pac-choosers").querySelectorAll(".pa-kind").forEach((name) => {
      name.hidden = name.textContent.length * LETTER + ARROW < name.parentElement.clientWidth;
    });
    by("pac-more").hidden = view.chosen.length >= Math.min(atlas.slots.length, atlas.catalogue.encodings.length);
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
    item.style.borderColor = atlas.styleOf(index).colour;
    const label = atlas.element("label", "", NAMES[index]);
    const select = atlas.element("select");
    label.htmlFor = select.id = `pac-${atlas.slots[index]}`;
    groups.forEach((encodings, group) => {
      const options = document.createElement("optgroup");
      options.label = group;
      options.append(...encodings.map(({ name: value, title }) => new Option(title, value, value === name, value === name)));
      select.append(options);
    });
    select.addEventListener("change", () => change({ chosen: view.chosen.map((other, slot) => (slot === index ? select.value : other)) }));
    const link = atlas.element("a", "", "Open page");
    link.href = atlas.addressOf(atlas.byName.get(name).page);
    link.setAttribute("aria-label", `Open page: ${atlas.byName.get(name).title}`);
    item.append(label, select, link);
    item.append(atlas.element("span", "pa-kind", atlas.byName.get(name).title));
    if (view.chosen.length > 2) item.append(remover(name, index));
    return item;
  }

  function remover(name, index) {
    const button = atlas.button("Remove", () => change({ chosen: view.chosen.filter((_, slot) => slot !== index) }));
    button.setAttribute("aria-label", `Remove ${atlas.byName.get(name).title}`);
    return button;
  }

  /* Draw all sections, each when it comes into view. */
  function draw(encodings) {
    by("pac-summary").replaceChildren(...atlas.summary(encodings).map((piece) => (piece.strong ? atlas.element("b", "", piece.strong) : piece)));
    drawKernels(encodings, view.scale === "stored");
    drawProfiles(encodings, view.scale === "stored");
    drawOverlays(encodings);
    drawCurves(encodings);
    sections();
    atlas.whenSeen(by("pac-metrics"), () => atlas.metrics(by("pac-metrics"), encodings), true);
  }

  /* Buttons that lead to the sections: links would take the view out of the address. */
  function sections() {
    const shown = [...by("pac").querySelectorAll("h2")].slice(1).filter((heading) => !heading.closest("[hidden]"));
    by("pac-sections").replaceChildren(
      ...shown.map((heading) =>
        atlas.button(heading.firstChild.textContent, () => {
          const fold = heading.closest("details");
          if (fold) fold.open = true;
          heading.tabIndex = -1;
          heading.focus({ preventScroll: true });
          heading.scrollIntoView();
        }),
      ),
      ...(folds().every(({ open }) => open) ? [] : [atlas.button("Open all", () => folds().forEach((fold) => (fold.open = true)))]),
    );
  }

  function drawKernels(encodings, asStored) {
    const { data, longest: index, most, missing } = atlas.kernelData(encodings, asStored);
    longest = index;
    ["pac-query", "pac-key"].forEach((id) => (by(id).max = most - 1));
    view.at = view.at.map((position) => Math.min(position, most - 1));
    [by("pac-query").value, by("pac-key").value] = view.at;
    const shorter = encodings.filter(({ shown }) => shown.positions < view.window).map(({ title, shown }) => `${title} (${shown.positions})`);
    const blocks = [...new Set(encodings.map(({ shown }) => shown.block))].filter((block) => block > 1);
    const notes = [
      ...missing,
      ...(shorter.length ? [`Shown with fewer positions: ${shorter.join(", ")}.`] : []),
      ...(blocks.length ? [`Each cell is the mean of ${blocks.map((block) => `${block} × ${block}`).join(" or ")} pairs.`] : []),
    ];
    show(by("pac-kernels"), data, notes, {
      label: "Kernel",
      python: atlas.catalogue.python["decay_with_distance-matrices"],
      moved: (cursor) => (cursor ? moved(cursor, most) : figure("pac-kernels")?.show(cursorOf(view.at), silent)),
      ready: (live) => live.show(cursorOf(view.at), silent),
    });
  }

  function drawProfiles(encodings, asStored) {
    const { data, count, missing } = atlas.profileData(encodings, asStored);
    const back = (live) => live?.show(offsetOf(view.at), silent);
    show(by("pac-profiles"), count ? data : null, missing, {
      label: "Profiles",
      python: atlas.catalogue.python["decay_with_distance-profiles"],
      moved: (cursor) => cursor ?? back(figure("pac-profiles")),
      ready: back,
    });
  }

  /* A section for each analysis whose line at least two encodings have. */
  function drawOverlays(encodings) {
    const focused = document.activeElement;
    by("pac-overlays").querySelectorAll("[id]").forEach(forget);
    const shared = atlas.catalogue.overlays.map((overlay) => ({ overlay, ...atlas.overlayData(overlay, encodings) })).filter(({ count }) => count > 1);
    by("pac-overlays").replaceChildren(...shared.map(({ overlay }) => section(overlay, encodings)));
    shared.forEach(({ overlay, data, lacking }) => {
      show(by(`pac-${overlay.key}`), data, lacking.length ? [`Not applicable to ${listed(lacking)}.`] : [], { label: overlay.title, python: overlay.python });
    });
    if (focused.id && focused !== document.activeElement) by(focused.id)?.focus();
  }

  function section({ key, title, question, how, page }, encodings) {
    const made = atlas.element("details", "pa-row pac-row");
    const [summary, heading] = [atlas.element("summary"), atlas.element("h2", "", title)];
    heading.id = `line-${key}`;
    summary.append(heading, atlas.element("span", "pa-row-says", atlas.finding(key, encodings) || question));
    made.open = by(heading.id)?.closest("details").open ?? isWide;
    const link = atlas.element("a", "", "Method");
    link.href = atlas.addressOf(page);
    link.setAttribute("aria-label", `Method: ${title}`);
    const asked = atlas.element("p", "", `${question} `);
    asked.append(link);
    const place = atlas.element("div", "pac-place");
    place.id = `pac-${key}`;
    const details = atlas.element("details", "pac-how");
    details.append(atlas.element("summary", "", "How to read this"), atlas.element("p", "", how));
    made.append(summary, asked, place, details);
    return made;
  }

  function drawCurves(encodings) {
    const { data, count, lacking } = atlas.curveData(encodings);
    by("pac-curves-section").hidden = !count;
    if (!count) return forget(by("pac-curves"));
    show(by("pac-curves"), data, lacking.length ? [`There is no table of vectors for ${listed(lacking)}.`] : [], {
      label: "Curve of the positions",
      python: atlas.catalogue.python["principal_components-curve"],
      turned: (turn) => {
        view.turn = turn;
        remember();
      },
      ready: (live) => [live.turned(view.turn), live.marked(view.at)],
    });
  }

  /* Draw a figure in a place with notes below, once it comes into view. */
  function show(place, data, notes, { ready = () => {}, python, ...options }) {
    forget(place);
    const names = [...view.chosen];
    if (!data?.panels.length) return place.replaceChildren(atlas.element("p", "pac-note", notes.join(" ")));
    atlas.whenSeen(place, () => {
      const inner = atlas.element("div", "pa-live");
      const tools = atlas.tools(() => about(data, drawn.get(place), options.label, names, python));
      place.style.minHeight = 0; // The room that was reserved is filled.
      place.replaceChildren(inner, ...(notes.length ? [atlas.element("p", "pac-note", notes.join(" "))] : []), tools);
      drawn.set(place, atlas.live(inner, data, options));
      ready(drawn.get(place));
    }, true);
  }

  /* What the menu of a figure needs to know. */
  function about(data, live, label, names, python) {
    const titles = names.map((name) => atlas.byName.get(name).title);
    const name = ["compare", ...names, label.toLowerCase()].join("-").replace(/[^\w.-]+/g, "-");
    const path = `compare.html${written()}`;
    return { data, view: live, name, caption: `${label}.`, finding: `${label}: ${titles.join(" and ")}`, of: names, python, path };
  }

  function forget(place) {
    atlas.unwatch(place);
    drawn.get(place)?.stop();
    drawn.delete(place);
  }

  const figure = (id) => drawn.get(by(id));
  const cursorOf = ([query, key]) => ({ panel: longest, x: key, y: query });
  const offsetOf = ([query, key]) => ({ panel: 0, x: key - query });
  const listed = (names) => names.join("; "); // Names may have commas.

  /* The cross was moved in a picture. */
  function moved({ x, y }, most) {
    follow([y, x].map((place) => Math.min(Math.max(Math.round(place), 0), most - 1)));
  }

  function typed(at) {
    follow(at);
    figure("pac-kernels")?.show(cursorOf(at), { tip: false });
  }

  function follow(at) {
    if (at.join() === view.at.join()) return;
    view.at = at;
    [by("pac-query").value, by("pac-key").value] = at;
    figure("pac-profiles")?.show(offsetOf(at), silent);
    figure("pac-curves")?.marked(at);
    remember();
  }

  /* Write the view into the address, when nothing has moved for a while and nothing is held. */
  function remember() {
    clearTimeout(timer);
    timer = setTimeout(() => (held ? remember() : history.replaceState(null, "", written())), QUIET);
  }

  function number(id) {
    return Math.max(0, Math.min(Number(by(id).max), Math.round(Number(by(id).value)) || 0));
  }

  start();
})();
