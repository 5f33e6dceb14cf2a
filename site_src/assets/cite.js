/* Citations of numbers and figures: what they are of, with revision and digest, as a sentence and as BibTeX, in a dialog to copy from.
   The sources of all encodings are a script of their own, loaded when somebody cites. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const base = new URL("..", document.currentScript.src); // Of the site.
  const TEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
  let asked;

  /* Called by data/sources.js. */
  atlas.sources = (known) => (atlas.known = known);

  /* A promise of { version, date, release, address, repository, encodings: { name: { title, id, copy_of, revision, licence, sha256 or numbers, arrays, table } } }. */
  const known = () =>
    (asked ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL("data/sources.js", base).href;
      script.onload = () => resolve(atlas.known);
      script.onerror = () => [(asked = null), reject(new Error("The file with the sources could not be loaded."))];
      document.head.append(script);
    }));

  /* The address of a path below the site: where it is published, if that is known; of a page from a disk else its path alone. */
  const addressOf = (path, { address }) => (address ? new URL(path, address).href : base.protocol === "file:" ? path : new URL(path, base).href);

  /* Whether others reach the site where it is read. */
  const isPublic = base.protocol.startsWith("http") && !/^(localhost|127\.|\[::1\])/.test(base.hostname);

  /* The same as others reach it: without an address of the site, its path beside the repository, if that is known. */
  const placeOf = (path, all) => (all.address || isPublic ? addressOf(path, all) : [all.repository, path].filter(Boolean).join(", "));

  /* The path of an address below the site. */
  const pathOf = (address) => address.replace(base.href, "");

  const tex = (text) => text.replace(/[\\{}$&#%_~^]/g, (mark) => TEX[mark] ?? `\\${mark}`);

  const versionOf = ({ version, date, release }) =>
    `version ${version}${date ? `, data as of ${date}` : ""}${release ? `, release ${release} (data/releases/${release}/)` : ""}`;

  function originOf({ id, copy_of: original, revision, sha256, numbers }) {
    const digest = sha256 ? `SHA-256 of the tensor ${sha256}` : numbers;
    const named = id || (original && `a copy of ${original}`);
    const from = named && `${named}${revision ? ` at revision ${revision}` : ", revision not known"}`;
    return [from, digest].filter(Boolean).join(", ");
  }

  /* [title, text] of a sentence and of BibTeX. what: of a figure its caption, of a number measure, value and unit; of: names of encodings; path: below the site */
  function texts({ what, of, path, key }, all) {
    const encodings = of.map((name) => all.encodings[name]).filter(Boolean);
    const named = encodings.length && encodings.length <= 3 ? encodings.map(({ title }) => title).join(", ") : "";
    const title = ["Position Atlas", named, what.replace(/\.$/, "")].filter(Boolean).join(": ");
    const origins = encodings.length <= 3 ? encodings.map(originOf) : [];
    const hasAddress = Boolean(all.address || isPublic);
    const address = hasAddress ? addressOf(path, all) : all.repository;
    const fields = {
      title: `{${tex(title)}}`,
      author: "{The Position Atlas developers}",
      ...(all.date ? { year: all.date.slice(0, 4) } : {}),
      ...(address ? { url: address } : {}),
      note: tex([`V${versionOf(all).slice(1)}`, ...origins, ...(hasAddress ? [] : [path])].join("; ")),
    };
    const lines = Object.entries(fields).map(([name, value]) => `  ${name} = {${value}}`);
    return [
      ["As a sentence", `${title}. ${[versionOf(all), ...origins].join("; ").replace(/^v/, "V")}. ${placeOf(path, all)}`],
      ["BibTeX", `@misc{position-atlas-${key.replace(/[^\w.-]+/g, "-")},\n${lines.join(",\n")}\n}`],
    ];
  }

  const element = (name, className, text = "") => Object.assign(document.createElement(name), { className, textContent: text });

  /* A dialog with texts to copy: [[label, text], …]. */
  function offer(title, given) {
    const dialog = element("dialog", "pa-offer");
    const head = element("h2", "", title);
    const close = element("button", "pa-close", "Close");
    close.type = "button";
    close.addEventListener("click", () => dialog.close());
    dialog.append(head, ...given.map(([label, text]) => copied(label, text)), close);
    dialog.setAttribute("aria-label", title);
    dialog.addEventListener("close", () => dialog.remove());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // Beside it.
    document.body.append(dialog);
    dialog.showModal();
  }

  function copied(label, text) {
    const [outer, name, field, copy, done] = ["div", "span", "textarea", "button", "span"].map((kind) => document.createElement(kind));
    outer.className = "pa-copy";
    name.textContent = label;
    copy.textContent = "Copy";
    field.readOnly = true;
    field.rows = Math.min(text.split("\n").length + 1, 9);
    field.value = text;
    field.setAttribute("aria-label", label);
    copy.type = "button";
    copy.setAttribute("aria-label", `Copy: ${label}`);
    done.setAttribute("role", "status");
    copy.addEventListener("click", () => {
      field.select();
      (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error())).then(
        () => (done.textContent = "Copied."),
        () => (done.textContent = document.execCommand("copy") ? "Copied." : "Press Ctrl+C."),
      );
    });
    field.setSelectionRange(0, 0);
    outer.append(name, field, copy, done);
    return outer;
  }

  /* The encoding that a value with this id is of: on its own pages the id begins with its key, elsewhere with its whole name. */
  function nameOf(id, { encodings }) {
    const names = Object.keys(encodings);
    const longest = (fitting) => fitting.sort((one, other) => other.length - one.length)[0];
    const page = pathOf(location.href.replace(/[?#].*/, ""));
    const own = names.filter((name) => page === `checkpoints/${name.split("/")[0]}.html` || page.startsWith(`checkpoints/${name.split("/")[0]}/`));
    const use = /^checkpoints\/([^/]+\/use)\.html$/.exec(page);
    if (use) return use[1];
    const begins = (name, part) => id === part || id.startsWith(`${part}-`) || id.startsWith(`${part}.`);
    return longest(own.filter((name) => begins(name, name.split("/")[1]))) ?? own[0] ?? longest(names.filter((name) => begins(name, name.replace("/", "-"))));
  }

  /* A key of BibTeX from the names of an encoding and of its value. */
  function keyOf(name = "", id = "") {
    const whole = name.replace("/", "-");
    return !whole || id.startsWith(whole) ? id : `${name.split("/")[0]}-${id}`;
  }

  /* Offer the citation of a number. id: of its cell or row; what: its measure and value */
  function number(id, what) {
    return known().then((all) => {
      const name = nameOf(id, all);
      const path = `${pathOf(location.href.replace(/[?#].*/, ""))}#${id}`;
      offer("Cite this number", texts({ what, of: name ? [name] : [], path, key: keyOf(name, id) }, all));
    });
  }

  atlas.cite = { known, offer, number, texts, addressOf, placeOf, pathOf, originOf, versionOf };
})();
