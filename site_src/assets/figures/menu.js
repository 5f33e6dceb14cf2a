/* What readers take from a figure: its table, and a menu with pictures, numbers, lines of Python, a citation, its address. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const base = new URL("..", document.currentScript.src); // Of the site.
  const MOST_NAMED = 3; // Encodings whose sources stand in a picture.
  let menus = 0;

  /* A promise of what cites. */
  const citing = async () => {
    if (!atlas.cite) await atlas.script(new URL("assets/cite.js", base).href).catch(() => Promise.reject(new Error("The script for this action could not be loaded.")));
    return atlas.cite;
  };

  /* A bar with the table and the menu of a figure. about(): { data, view, name, caption, finding, of, python, file, path, script } as it is now */
  atlas.tools = (about) => {
    const [bar, below, said] = [atlas.element("div", "pa-tools"), atlas.element("div", "pa-below"), atlas.element("span", "pa-done")];
    said.setAttribute("role", "status");
    const table = atlas.button("Table", () => {
      const opens = table.getAttribute("aria-expanded") !== "true";
      table.setAttribute("aria-expanded", opens);
      below.replaceChildren(...(opens ? [atlas.tableOf(about().data)] : []));
    });
    table.setAttribute("aria-expanded", "false");
    const made = atlas.element("div");
    bar.append(table, menu(about, said), said);
    made.append(bar, below);
    return made;
  };

  /* A button that opens a list of actions, and closes it with Escape, a choice, or when the focus leaves. */
  function menu(about, said) {
    const [outer, list] = [atlas.element("div", "pa-take"), atlas.element("div", "pa-menu")];
    const open = (opens) => {
      list.hidden = !opens;
      opener.setAttribute("aria-expanded", opens);
    };
    const opener = atlas.button("Download / cite", () => open(list.hidden));
    list.id = `pa-menu-${++menus}`;
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", "Download or cite this figure");
    opener.setAttribute("aria-controls", list.id);
    open(false);
    const actions = Object.entries(ACTIONS).map(([title, act]) =>
      atlas.button(title, () => {
        open(false);
        opener.focus();
        said.textContent = "";
        citing()
          .then((cite) => act(about(), cite))
          .then((done) => (said.textContent = done ?? ""))
          .catch((error) => (said.textContent = `${title}: ${error.message}`));
      }),
    );
    list.append(...actions);
    outer.append(opener, list);
    outer.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || list.hidden) return;
      event.stopPropagation();
      open(false);
      opener.focus();
    });
    outer.addEventListener("focusout", ({ relatedTarget }) => relatedTarget && !outer.contains(relatedTarget) && open(false));
    document.addEventListener("pointerdown", ({ target }) => !outer.contains(target) && open(false));
    return outer;
  }

  const ACTIONS = {
    "PNG picture": (about, cite) => png(about, cite, atlas.pictured, ""),
    "PNG slide, 16:9": (about, cite) => png(about, cite, atlas.slide, "-slide"),
    SVG: (about, cite) =>
      words(about, cite).then((text) => save(new Blob([atlas.pictured(about.view.state, text).svg], { type: "image/svg+xml" }), `${about.name}.svg`)),
    CSV: (about) => save(new Blob([atlas.csv(about.data)], { type: "text/csv" }), `${about.name}.csv`),
    "Copy Python": (about, cite) => cite.known().then((all) => copyPython(about, cite, all)),
    Cite: (about, cite) =>
      cite
        .known()
        .then((all) => cite.offer("Cite this figure", cite.texts({ what: about.caption, of: about.of ?? [], path: about.path, key: about.name }, all))),
    Link: (about, cite) => cite.known().then((all) => cite.offer("Link", [["Address of this figure", all.address ? cite.addressOf(about.path, all) : new URL(about.path, base).href]])),
    Embed: (about, cite) => {
      if (!about.script) return "Only figures of a page of their own can be embedded.";
      return cite.offer("Embed", [["HTML frame for another page", frame(about)]]);
    },
  };

  function png(about, cite, draw, suffix) {
    return words(about, cite)
      .then((text) => atlas.raster(draw(about.view.state, text)))
      .then(
        (blob) => save(blob, `${about.name}${suffix}.png`),
        () => "This browser could not draw the picture. The SVG has the same content.",
      );
  }

  /* { title, source } of a picture: what it shows, and lines on where that is from. */
  function words(about, cite) {
    return cite.known().then((all) => {
      const encodings = (about.of ?? []).map((name) => all.encodings[name]).filter(Boolean);
      const one = ({ title, id, revision, licence }) =>
        [[title, id].filter(Boolean).join(": "), revision && `revision ${revision}`, licence && `licence ${licence}`].filter(Boolean).join(", ");
      const rest = encodings.length - MOST_NAMED;
      const title = about.finding ?? about.caption;
      return {
        title,
        source: [
          ...(title.startsWith(about.caption.replace(/\.$/, "")) ? [] : [about.caption]),
          ...encodings.slice(0, rest > 1 ? MOST_NAMED : undefined).map(one),
          ...(rest > 1 ? [`and ${rest} more: ${encodings.slice(MOST_NAMED).map(({ title: name }) => name).join("; ")}`] : []),
          `Position Atlas, ${cite.versionOf(all)}, ${cite.placeOf(about.path, all)}`,
        ],
      };
    });
  }

  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    return `Saved as ${name}.`;
  }

  /* A line that reads a file of the site. */
  const reading = (address) =>
    address.endsWith(".json")
      ? `data = json.load(urllib.request.urlopen("${address}"))`
      : `arrays = np.load(io.BytesIO(urllib.request.urlopen("${address}").read()))`;
  /* Rows of a table that no tensor stores, by array of the file. */
  const WAVES = [
    'angles = arrays["whole_table.places"] @ arrays["whole_table.frequencies"]',
    'vectors = arrays["whole_table.scale"] * np.where(arrays["whole_table.is_cosine"], np.cos(angles), np.sin(angles))',
  ];

  /* Lines that plot what a figure shows, from its file or for each of its encodings. */
  function copyPython({ python, caption, file, of = [] }, cite, all) {
    const files = file ? [{ arrays: file, title: caption }] : of.map((name) => all.encodings[name]).filter((encoding) => encoding?.arrays);
    if (!python || !files.length) return "No file of arrays has the data of this figure, but the CSV has its numbers.";
    const of1 = ({ arrays, table, title }) => [
      reading(all.address ? cite.addressOf(arrays, all) : new URL(arrays, base).href),
      ...(/\bvectors\b/.test(python) ? (table === "waves" ? WAVES : ['vectors = arrays["whole_table.vectors"].astype(float)']) : []),
      python,
      `plt.suptitle(${JSON.stringify(title)})`,
      "plt.show()",
    ];
    const lines = ["import io, json, urllib.request, numpy as np, matplotlib.pyplot as plt", ...files.flatMap(of1)];
    cite.offer("Python", [["Python that loads and plots the numbers", `${lines.join("\n")}\n`]]);
    return undefined;
  }

  function frame({ caption, script }) {
    const source = new URL("assets/embed.html", base);
    source.hash = script;
    const title = caption.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    return `<iframe src="${source.href}" title="${title}" width="100%" height="480" loading="lazy"></iframe>`;
  }
})();
