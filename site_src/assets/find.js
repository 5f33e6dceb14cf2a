// The box that finds a model by its name, its id or its family while one types, also with a letter wrong.
(() => {
  "use strict";
  const form = document.querySelector("[data-pa-find]");
  if (!form) return;
  const field = form.querySelector("input");
  const list = form.querySelector("[role=listbox]");
  const MOST = 8;
  const plain = (text) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  let models, chosen = -1;

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
  // How far a model is from what was typed: the smaller, the nearer; none where it does not fit.
  const distance = ({ name, id, family, text }, words, parts) => {
    if (name === words || id === words) return 0;
    if (name.startsWith(words)) return 1;
    if (id.startsWith(words) || family === words) return 2;
    if (name.includes(words) || id.includes(words)) return 3;
    if (parts.every((part) => text.includes(part))) return 4;
    const wrong = words.length > 3 ? Math.min(edits(words, name), edits(words, id)) : 9;
    return wrong <= (words.length > 7 ? 2 : 1) ? 4 + wrong : null;
  };
  const found = (typed) => {
    const words = plain(typed);
    const parts = typed.toLowerCase().split(/[^a-z0-9.]+/).filter(Boolean);
    if (!words) return [];
    return models
      .map((model) => ({ ...model, far: distance(model, words, parts) }))
      .filter((model) => model.far !== null)
      .sort((one, other) => one.far - other.far || one.name.length - other.name.length)
      .slice(0, MOST);
  };

  const choose = (index) => {
    const options = [...list.children];
    chosen = options.length ? (index + options.length) % options.length : -1;
    for (const [at, option] of options.entries()) option.setAttribute("aria-selected", at === chosen);
    if (options[chosen]) field.setAttribute("aria-activedescendant", options[chosen].id);
    else field.removeAttribute("aria-activedescendant");
  };
  const show = () => {
    list.replaceChildren(
      ...found(field.value).map((model, index) => {
        const option = document.createElement("li");
        const link = Object.assign(document.createElement("a"), { href: form.dataset.paFind + model.path, tabIndex: -1 });
        link.append(model.title, Object.assign(document.createElement("small"), { textContent: ` ${model.about}` }));
        option.append(link);
        option.id = `pa-found-${index}`;
        option.setAttribute("role", "option");
        return option;
      }),
    );
    list.hidden = !list.children.length;
    field.setAttribute("aria-expanded", !list.hidden);
    choose(0);
  };
  const load = () => {
    if (models || form.querySelector("script")) return;
    const script = Object.assign(document.createElement("script"), { src: `${form.dataset.paFind}data/find.js` });
    script.addEventListener("load", () => {
      models = window.atlasModelNames.map(([id, family, path]) => {
        const title = id.split("/").pop();
        const about = [id.includes("/") ? id.split("/")[0] : "", family].filter(Boolean).join(" · ");
        return { title, about, path, name: plain(title), id: plain(id), family: plain(family), text: `${id} ${family}`.toLowerCase() };
      });
      show();
    });
    form.append(script);
  };

  field.addEventListener("focus", load);
  field.addEventListener("input", () => (models ? show() : load()));
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      choose(chosen + step);
    } else if (event.key === "Escape") list.hidden = true;
  });
  form.addEventListener("submit", (event) => {
    const link = list.children[chosen]?.querySelector("a");
    if (!link) return;
    event.preventDefault();
    link.click();
  });
})();
