// Finds a model by its name, its id or its family while one types, also with a letter wrong: in the box of the front page, and first
// among what the search of the site finds.
(() => {
  "use strict";
  const MOST = 8;
  const NEAREST = 3;
  const SIZE = /:(\d+(?:\.\d+)?[bm])$/i;
  const base = JSON.parse(document.getElementById("__config").textContent).base.replace(/\/?$/, "/");
  const plain = (text) => text.toLowerCase().replaceAll("+", "plus").replace(/[^a-z0-9]/g, "");
  let models;
  const known = new Set(); // All words of names, ids and families.
  // The edits that make `words` the beginning of `name`, up to two.
  const edits = (words, name) => {
    let row = Array.from({ length: words.length + 1 }, (_, index) => index);
    let least = row[words.length];
    for (const letter of name) {
      const next = [row[0] + 1];
      for (let index = 1; index <= words.length; index += 1) {
        next[index] = Math.min(row[index] + 1, next[index - 1] + 1, row[index - 1] + (words[index - 1] === letter ? 0 : 1));
      }
      row = next;
      least = Math.min(least, row[words.length]);
    }
    return least;
  };
  // Numbers with a point, which some names write with an underscore: 3.8 is neither 38 nor 3 and 8.
  const decimals = (text) => (text.match(/\d+[._]\d+/g) ?? []).map((number) => number.replace("_", "."));
  // A number with the single letter before or after it: 3n and e4b are neither 3 nor 4b.
  const lettered = (text) => text.toLowerCase().match(/(?<![a-z])[a-z]\d+|\d+[a-z](?![a-z])/g) ?? [];
  // A number that is not a part of one with a point: 3.1 is not 3, but 4.0 is 4.
  const wholes = (text) => (text.match(/\d+\.\d+|\d+/g) ?? []).map((number) => number.replace(/\.0$/, "")).filter((number) => !number.includes("."));
  // Whether a word of a name begins so, or has it in it where it has a digit: uncased is not cased.
  const begins = (part, text, tokens) => (/\d/.test(part) ? text.includes(part) : tokens.some((token) => token.startsWith(part)));
  // What names a copy in another format, who made the copy, and at the end a tuned one: sought without, where nothing is found with them.
  const formats =
    /[-_ .:]+(gguf|ggml|exl[23]|fp8|nvfp4|mxfp[48]|awq|gptq|mlx|bnb|dwq|onnx|unsloth|ud|int[48]|[2-8]-?bits?|bf16|fp?16|f32|dynamic|quantized|w\d+a\d+|i?q\d\w*|latest|\d+-of-\d+)(?![a-z0-9])/gi;
  const owner = /^[^/\s]+\/([a-z-]+_)?/i; // Some write the model's own before its name.
  const tuned = /[-_ ]+(instruct|chat|it)$/i;
  // What is pasted: an address on the Hub, of a model's page or of a file of it, and a name with a tag, as ollama has them.
  const address = /(?:huggingface\.co|hf\.co)\/(?:api\/)?(?:models\/)?([\w.-]+)(?:\/([\w.-]+))?/i;
  const behind = /^(?:tree|blob|raw|resolve|commits?|discussions)$/i;
  const pasted = (typed) => {
    const [, owner, name] = address.exec(typed) ?? [];
    if (owner) return name && !behind.test(name) ? `${owner}/${name.replace(/\.git$/, "")}` : owner;
    return typed.trim().replace(/^([\w.-]+\/[\w.-]+)(?:\/.*|:[\w.-]*)$/, "$1").replace(/\/+$/, "");
  };
  const isName = (typed) => /^[\w.-]+\/[\w.-]+$/.test(pasted(typed));
  const isSize = (word) => /^[v\d][\d.]*[a-z]?$/i.test(word);
  // How far a model is from what was typed: the smaller, the nearer; none where it does not fit.
  // A number has to be right in what else may be wrong or in another order, and so has a letter at it and a word of one or two letters.
  const distance = ({ name, id, heads, family, text, tokens, numbers, points }, words, parts, typedNumbers, typedPoints, typedLetters) => {
    if (!typedPoints.every((number) => points.includes(number))) return null;
    if (name === words || id === words) return 0;
    if (name.startsWith(words)) return 1;
    if (id.startsWith(words) || family === words) return 2;
    if (heads.some((head) => head.startsWith(words))) return 3;
    if (!typedNumbers.every((number) => numbers.includes(number))) return null;
    if (parts.every((part) => (part.length > 2 ? begins(part, text, tokens) : tokens.includes(part) || numbers.includes(part)))) return 4;
    if (!typedLetters.every((part) => id.includes(part))) return null;
    // What is a word of some name is spelt right: cased is not uncased with letters missing.
    if (!parts.every((part) => part.length < 3 || !known.has(part) || begins(part, text, tokens))) return null;
    const wrong = words.length > 5 ? Math.min(edits(words, name), edits(words, id)) : 9;
    return wrong <= (words.length > 7 ? 2 : 1) ? 4 + wrong : null;
  };
  const found = (given) => {
    const typed = pasted(given);
    const without = typed.replace(formats, "");
    const named = without.replace(owner, "");
    for (const way of new Set([typed, without, without.replace(tuned, ""), named, named.replace(tuned, "")])) {
      const isCopy = named !== without && named.startsWith(way); // A copy has the very name of its model.
      const models = near(way).filter(({ far }) => far < 5 || !isCopy);
      if (models.length) return models;
    }
    return ofTag(without) ?? [];
  };
  // A name with a tag, as ollama has them: its words in another order (granite4:small-h), and a size that the name of the model lacks.
  const ofTag = (typed) => {
    if (!typed.includes(":")) return null;
    const size = SIZE.exec(typed);
    const others = size && near(typed.slice(0, size.index)).filter((model) => model.far < 3 && model.size === size[1].toLowerCase());
    const models = others?.length ? others : near(pieces(typed).join(" ")).filter(({ far }) => far < 5);
    return models.length ? models : null;
  };
  // The words and numbers of a name, apart: granite, 4.0.
  const pieces = (text) => text.toLowerCase().match(/[a-z]+|\d+(?:\.\d+)*[bm]?(?![a-z\d])|\d+(?:\.\d+)*/g) ?? [];
  // Where a name is none here: the models whose names have most of its beginning, those first that have more of its other words.
  const nearest = (given) => {
    const named = pasted(given).replace(formats, "").replace(owner, "");
    const words = pieces(named);
    for (let count = words.length; count > 0 && words[0].length > 2; count -= 1) {
      const models = near(words.slice(0, count).join(" "), Infinity).filter(({ far }) => far < 3);
      const shared = ({ name }) => [...name].findIndex((letter, at) => letter !== plain(named)[at]) >>> 0;
      const more = ({ text, size }) => words.slice(count).filter((word) => pieces(`${text} ${size}`).includes(word)).length;
      models.sort((one, other) => more(other) - more(one) || shared(other) - shared(one) || one.name.length - other.name.length);
      if (models.length) return models.slice(0, NEAREST);
    }
    return [];
  };
  const near = (typed, most = MOST) => {
    const words = plain(typed);
    const parts = typed.toLowerCase().split(/[^a-z0-9.]+/).filter(Boolean);
    const [typedNumbers, typedPoints, typedLetters] = [wholes(typed), decimals(typed), lettered(typed)];
    if (!words || !models) return [];
    return models
      .map((model) => ({ ...model, far: distance(model, words, parts, typedNumbers, typedPoints, typedLetters) }))
      .filter((model) => model.far !== null)
      .sort((one, other) => one.far - other.far || other.isMeasured - one.isMeasured || one.title.localeCompare(other.title, "en", { numeric: true }))
      .slice(0, most);
  };

  // Load the names, once.
  const load = (then) => {
    if (models || document.getElementById("pa-names")) return;
    const script = Object.assign(document.createElement("script"), { id: "pa-names", src: `${base}data/find.js` });
    script.addEventListener("load", () => {
      const named = (folder) => new Set(window.atlasModelNames.filter(([, , path]) => path.startsWith(folder)).map(([id]) => id));
      const [published, measured] = [named("models/"), named("checkpoints/")];
      // One row for a model: its page has its settings, and leads to its measures.
      const rows = window.atlasModelNames.filter(([id, , path]) => path.startsWith("models/") || !published.has(id));
      models = rows.map(([id, family, path, size]) => {
        // A title of a measured checkpoint may have a slash too.
        const [, owner, title] = /^([\w.-]+)\/([\w.-]+)$/.exec(id) ?? [null, "", id];
        const about = [owner, family, owner && measured.has(id) && "in numbers"].filter(Boolean).join(" · ");
        const text = `${id} ${family}`.toLowerCase();
        const tokens = `${text} ${id.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase()}`.split(/[^a-z0-9.]+/);
        const [numbers, points] = [wholes(text), decimals(text)];
        // The id from each of its words on: bert is not a part of distilbert.
        const heads = [...id.matchAll(/(?<![a-zA-Z\d])[a-zA-Z\d]|(?<=[a-z])[A-Z]|(?<=[a-zA-Z])\d/g)].map(({ index }) => plain(id.slice(index)));
        const [isOfModel, isMeasured] = [published.has(id), measured.has(id)];
        return { title, about, path, isOfModel, isMeasured, name: plain(title), id: plain(id), heads, family: plain(family), text, tokens, numbers, points, size: size.toLowerCase() };
      });
      for (const word of models.flatMap(({ tokens }) => tokens)) known.add(word);
      then();
    });
    document.head.append(script);
  };
  const made = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const linked = ({ title, about, path }, properties) =>
    made("a", { href: base + path, ...properties }, title, made("small", { textContent: ` ${about}` }));

  const linkTo = (path, text) => made("a", { href: base + path }, text);
  // That there is no such model, which are nearest, and how one gets its page. more: what comes between
  const absent = (...more) => {
    const none = made(
      "p",
      { className: "pa-hint pa-no-model", hidden: true },
      "No such model here. ",
      made("span", { className: "pa-nearest" }),
      ...more,
      " This is how you get its page: name it in ",
      linkTo("guide/quick-start.html#add-your-own-row", "a list of your own"),
      ", or print the same of its files with ",
      made("code", {}, "position-atlas inspect"),
      "; ",
      made("code", {}, "position-atlas models refresh"),
      " updates the configs of the table of all models.",
    );
    none.setAttribute("role", "status");
    return none;
  };
  const nameNearest = (none, typed) => {
    const links = none.hidden ? [] : nearest(typed).flatMap(({ title, path }) => [", ", linkTo(path, title)]).slice(1);
    none.querySelector(".pa-nearest").replaceChildren(...(links.length ? ["Nearest by name, but other models: ", ...links, ". "] : []));
  };

  const box = (form) => {
    const field = form.querySelector("input");
    const list = form.querySelector("[role=listbox]");
    let chosen = -1;
    const pages = made("a", {}, "Search all pages for these words.");
    const none = absent(pages);
    list.after(none);
    const choose = (index) => {
      const options = [...list.children];
      chosen = options.length ? (index + options.length) % options.length : -1;
      for (const [at, option] of options.entries()) option.setAttribute("aria-selected", at === chosen);
      if (options[chosen]) field.setAttribute("aria-activedescendant", options[chosen].id);
      else field.removeAttribute("aria-activedescendant");
    };
    const show = () => {
      list.replaceChildren(
        ...found(field.value).map((model, index) => made("li", { id: `pa-found-${index}`, role: "option" }, linked(model, { tabIndex: -1 }))),
      );
      list.hidden = !list.children.length;
      none.hidden = !models || !list.hidden || !plain(field.value);
      nameNearest(none, field.value);
      pages.href = `?${new URLSearchParams({ q: field.value.trim() })}`; // Half a pair of surrogates has no other address.
      field.setAttribute("aria-expanded", !list.hidden);
      choose(0);
    };
    for (const event of ["focus", "input"]) field.addEventListener(event, () => (models ? show() : load(show)));
    if (field.value) load(show); // Typed before this ran.
    field.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        choose(chosen + step);
      } else if (event.key === "Escape") list.hidden = true;
    });
    form.addEventListener("submit", (event) => {
      const link = list.children[chosen]?.querySelector("a");
      event.preventDefault();
      if (link) link.click();
      else if (!none.hidden && isName(field.value)) field.select(); // The site has no page with such a name, but many with its numbers.
      else if (!none.hidden) pages.click();
      else location.href = `${form.action}#${new URLSearchParams({ [form.dataset.paFind]: field.value.trim() })}`;
    });
  };

  // Models first, where what was typed has a number, begins a name or is a long part of one;
  // else, as for RoPE, below the pages that explain it.
  const search = (field, result) => {
    const list = made("ol", { className: "md-search-result__list pa-models-found", hidden: true });
    const others = result.lastElementChild; // What the theme finds; it says above how much.
    const none = absent();
    result.before(none); // Of every link within, the theme reads a score when Enter is pressed.
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || none.hidden) return;
      event.preventDefault();
      event.stopPropagation(); // The theme would open the first of what is hidden.
    });
    // Whether of a name nothing but its numbers is anywhere, so that what the theme finds is of other things.
    const isOfNumbers = () =>
      !field.value.split(/[^\w.]+/).filter(Boolean).every(isSize) && [...others.querySelectorAll("mark")].every((mark) => isSize(mark.textContent));
    const show = () => {
      const hasNumber = /\d/.test(field.value);
      // What has no id is a checkpoint alone, which the theme finds.
      const some = found(field.value).filter(({ isOfModel, far }) => isOfModel && (hasNumber || far < 5)).slice(0, 3);
      const isFirst = hasNumber || some[0]?.far < (field.value.length > 4 ? 4 : 3);
      if (!isFirst && !others.childElementCount) some.length = 0; // Until the theme has its results, which Enter opens.
      others[isFirst ? "before" : "after"](list);
      list.hidden = !some.length;
      none.hidden = !models || some.length > 0 || !(isName(field.value) || (hasNumber && others.childElementCount > 0)) || !isOfNumbers();
      nameNearest(none, field.value);
      others.hidden = !none.hidden;
      list.replaceChildren(
        ...some.map((model) => {
          const link = linked(model, { className: "md-search-result__link" });
          const article = made("article", { className: "md-search-result__article md-typeset" }, made("h1", {}, ...link.childNodes));
          article.dataset.mdScore = isFirst ? Number.MAX_SAFE_INTEGER - some.indexOf(model) : 0; // Enter opens the highest.
          link.replaceChildren(article);
          return made("li", { className: "md-search-result__item" }, link);
        }),
      );
    };
    new MutationObserver(show).observe(others, { childList: true });
    for (const event of ["focus", "input"]) field.addEventListener(event, () => (models ? show() : load(show)));
    field.form.addEventListener("reset", () => setTimeout(show));
    if (field.value || new URLSearchParams(location.search).has("q")) load(show);
  };

  for (const form of document.querySelectorAll("[data-pa-find]")) box(form);
  const field = document.querySelector(".md-search__input");
  if (field) search(field, document.querySelector(".md-search-result"));
})();
