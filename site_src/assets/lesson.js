// The live figures of the lesson: a sentence whose words swap positions, and what a position encoding makes of it.
(() => {
  "use strict";
  const MOST = 12; // words of a sentence
  const data = (window.atlas || {}).lesson;
  const place = document.querySelector(".pa-lesson");
  if (!place || !data) return;
  const part = (name) => place.querySelector(`.pa-lesson-${name}`);
  const [words, controls, figure, said] = ["words", "controls", "figure", "said"].map(part);
  const minus = (text) => text.replace("-", "−");
  const decimals = (digits) => ({ minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false });
  const fixed = (value, digits = 2) => minus(value.toLocaleString("en", decimals(digits))).replace(/^−(0(?:\.0+)?)$/, "$1");
  // What rounds to 1 and is not 1 is over 0.99, as everywhere on the site.
  const belowOne = (value) => (Math.abs(value) < 1 && fixed(Math.abs(value)) === "1.00" ? (value > 0 ? "over 0.99" : "under −0.99") : fixed(value));

  const made = (tag, text = "", attributes = {}) => {
    const element = document.createElement(tag);
    element.textContent = text;
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    return element;
  };
  const button = (text, act, attributes = {}) => {
    const element = made("button", text, { type: "button", ...attributes });
    element.addEventListener("click", act);
    return element;
  };
  const slider = (name, value, most, act) => {
    const label = made("label", `${name} `);
    const [input, output] = [made("input", "", { type: "range", min: 0, max: most, value }), made("output", value)];
    input.addEventListener("input", () => act(Number(input.value)));
    label.append(input, output);
    return { label, set: (next) => ([input.value, output.textContent] = [next, next]) };
  };
  const choice = (name, options, act) => {
    const [label, select] = [made("label", `${name} `), made("select")];
    options.forEach((option, index) => select.append(made("option", option, { value: index })));
    select.addEventListener("change", () => act(Number(select.value)));
    label.append(select);
    return { label, select };
  };

  // A word by its place, seen from another: a sentence may have it twice.
  const where = (offset, word) => {
    const distance = Math.abs(offset);
    return offset === 0 ? "itself" : `“${word}”, ${distance} ${distance === 1 ? "position" : "positions"} ${offset < 0 ? "before" : "after"} it`;
  };

  // Red for what is positive, blue for what is negative, paler towards zero; the text stays readable on each.
  const shade = (value, most) => {
    const share = Math.max(-1, Math.min(1, value / most));
    return `color-mix(in srgb, ${share < 0 ? "#4393c3" : "#d6604d"} ${Math.round(45 * Math.abs(share))}%, transparent)`;
  };

  // The sentence: each word keeps its number when it changes places, so that one can say what became of it.
  const sentence = { order: [], spoken: [], chosen: 0, former: null, draw: () => {} };
  const typed = (text) => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
  const known = (word) => data.words.indexOf(word);

  const read = (text) => {
    const found = typed(text);
    const unknown = data.vocabulary ? found.filter((word) => known(word) < 0) : [];
    const problem =
      found.length > MOST
        ? `A sentence can have at most ${MOST} words here.`
        : unknown.length
          ? `Unknown here: ${unknown.join(", ")}. This lesson has ${data.words.length} words to choose from.`
          : "";
    part("problem").textContent = problem;
    if (problem || found.length < 2) return;
    Object.assign(sentence, { spoken: found, order: found.map((_, index) => index), chosen: Math.min(1, found.length - 1), former: null });
    sentence.draw();
  };

  // A button for each word, which keeps the focus after its press.
  const chips = (press) => {
    const pressed = (index) => {
      press(index);
      sentence.draw();
      words.children[index].focus();
    };
    words.replaceChildren(
      ...sentence.order.map((number, index) => button(sentence.spoken[number], () => pressed(index), { "aria-pressed": sentence.marked === index })),
    );
  };
  // The same, where a figure is of the word that was pressed.
  const choosing = () => {
    sentence.marked = sentence.chosen;
    chips((index) => (sentence.chosen = index));
  };

  // A table of scores, with the headings of its columns.
  const scores = (caption, ...heads) => {
    const table = made("table", "", { class: "pa-scores" });
    table.append(made("caption", caption));
    table.insertRow().append(...heads);
    return table;
  };
  const heading = (text, scope) => made("th", text, { scope });
  const shaded = (value, most, digits) => {
    const cell = made("td", fixed(value, digits));
    cell.style.background = shade(value, most);
    return cell;
  };

  // What attention compares: inner products of words at their places.
  const score = (first, m, second, n, tell) => {
    const { words: ww, positions: wp, order: pp } = data.vocabulary;
    const [i, j] = [known(sentence.spoken[first]), known(sentence.spoken[second])];
    return tell ? [ww[i][j], wp[i][n], wp[j][m], pp[m][n]] : [ww[i][j], 0, 0, 0];
  };
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const cosine = (first, m, second, n, tell) =>
    sum(score(first, m, second, n, tell)) / Math.sqrt(sum(score(first, m, first, m, tell)) * sum(score(second, n, second, n, tell)));

  const STEPS = {
    order() {
      const label = made("label");
      const box = made("input", "", { type: "checkbox" });
      label.append(box, "encode positions");
      box.addEventListener("change", () => {
        sentence.former = null;
        sentence.draw();
      });
      controls.append(label);
      const pair = (first, second) => `${Math.min(first, second)} ${Math.max(first, second)}`;
      const all = () => {
        const { order } = sentence;
        const later = (first, m) => order.slice(m + 1).map((second, n) => [pair(first, second), cosine(first, m, second, m + 1 + n, box.checked)]);
        return new Map(order.flatMap(later));
      };
      const press = (index) => {
        if (sentence.marked === undefined) sentence.marked = index;
        else {
          const other = sentence.marked;
          sentence.marked = undefined;
          if (other !== index) {
            sentence.former = all();
            [sentence.order[other], sentence.order[index]] = [sentence.order[index], sentence.order[other]];
            part("text").value = sentence.order.map((number) => sentence.spoken[number]).join(" ");
          }
        }
      };
      sentence.draw = () => {
        chips(press);
        const values = all();
        const differs = (key) => sentence.former && fixed(sentence.former.get(key)) !== fixed(values.get(key)); // As printed
        const table = scores("Cosine similarity of every two words", made("td"), ...sentence.order.map((number) => heading(sentence.spoken[number], "col")));
        sentence.order.forEach((first, m) => {
          const row = table.insertRow();
          row.append(heading(sentence.spoken[first], "row"));
          sentence.order.forEach((second, n) => {
            const cell = shaded(m === n ? 1 : values.get(pair(first, second)), 1);
            if (m !== n && differs(pair(first, second))) cell.className = "pa-new";
            row.append(cell);
          });
        });
        figure.replaceChildren(table);
        const changed = [...values.keys()].filter(differs).length;
        said.textContent = sentence.former ? `${changed} of ${values.size} similarities changed.` : "";
      };
    },

    table() {
      const move = (step) => {
        const to = sentence.chosen + step;
        if (to < 0 || to >= sentence.order.length) return;
        [sentence.order[sentence.chosen], sentence.order[to]] = [sentence.order[to], sentence.order[sentence.chosen]];
        sentence.chosen = to;
        sentence.draw();
      };
      controls.append(
        button("← move left", () => move(-1)),
        button("move right →", () => move(1)),
      );
      sentence.draw = () => {
        choosing();
        const [m, first] = [sentence.chosen, sentence.order[sentence.chosen]];
        const rows = sentence.order.map((second, n) => score(first, m, second, n, true));
        const most = Math.max(...rows.flat().map(Math.abs));
        const heads = ["with", "word · word", "word · position", "position · word", "position · position", "score"];
        const table = scores(`Scores of “${sentence.spoken[first]}” at position ${m}`, ...heads.map((title) => heading(title, "col")));
        rows.forEach((parts, n) => {
          const row = table.insertRow();
          row.append(heading(`${sentence.spoken[sentence.order[n]]}, ${n}`, "row"), ...parts.map((value) => shaded(value, most, 3)), made("th", fixed(sum(parts), 3)));
        });
        figure.replaceChildren(table);
        said.textContent = `“${sentence.spoken[first]}” is at position ${m}, so the model adds row ${m} of its table.`;
      };
    },

    rotation() {
      const state = { which: 0, query: 12, key: 4 };
      const MOST_PLACE = 200;
      const draw = () => {
        query.set(state.query);
        key.set(state.key);
        const { frequencies, pairs, all } = data.rotations[state.which];
        const clocks = made("div", "", { class: "pa-clocks" });
        frequencies.forEach((frequency, index) => {
          const clock = made("figure");
          clock.innerHTML =
            '<svg viewBox="-32 -32 64 64" aria-hidden="true"><circle r="30"/><path class="pa-key"/><path class="pa-query"/></svg><figcaption></figcaption>';
          const hand = (name, length, position) =>
            clock.querySelector(name).setAttribute("d", `M0 0L${length * Math.sin(frequency * position)} ${-length * Math.cos(frequency * position)}`);
          hand(".pa-query", 28, state.query);
          hand(".pa-key", 20, state.key);
          const turn = (2 * Math.PI) / frequency;
          const cos = Math.cos(frequency * (state.key - state.query));
          clock.querySelector("figcaption").textContent =
            `pair ${pairs[index]}: one turn in ${turn < 100 ? fixed(turn, 1) : Math.round(turn).toLocaleString("en")} positions; cosine ${belowOne(cos)}`;
          clocks.append(clock);
        });
        figure.replaceChildren(clocks);
        back.disabled = Math.min(state.query, state.key) < 10;
        on.disabled = Math.max(state.query, state.key) > MOST_PLACE - 10;
        const mean = sum(all.map((frequency) => Math.cos(frequency * (state.key - state.query)))) / all.length;
        said.textContent = `Query (solid hands) at ${state.query}, key (dashed) at ${state.key}: offset ${minus(String(state.key - state.query))}, mean cosine of all ${all.length} pairs ${belowOne(mean)}.`;
      };
      const set = (name) => (value) => {
        state[name] = value;
        draw();
      };
      const query = slider("Query at", state.query, MOST_PLACE, set("query"));
      const key = slider("Key at", state.key, MOST_PLACE, set("key"));
      const shift = (step) => () => {
        [state.query, state.key] = [state.query + step, state.key + step];
        draw();
      };
      const back = button("shift both by −10", shift(-10));
      const on = button("shift both by 10", shift(10));
      const titles = data.rotations.map(({ title }) => title);
      if (titles.length > 1) controls.append(choice("Model", titles, set("which")).label);
      controls.append(query.label, key.label, back, on);
      sentence.draw = draw;
    },

    bias() {
      const state = { which: 0, head: 0 };
      const heads = choice("Head", [], (value) => {
        state.head = value;
        sentence.draw();
      });
      const fill = () => heads.select.replaceChildren(...data.biases[state.which].values.map((_, index) => made("option", index, { value: index })));
      const titles = data.biases.map(({ title }) => title);
      if (titles.length > 1)
        controls.append(
          choice("Model", titles, (value) => {
            Object.assign(state, { which: value, head: 0 });
            fill();
            sentence.draw();
          }).label,
        );
      controls.append(heads.label);
      fill();
      sentence.draw = () => {
        choosing();
        const { causal, first, values } = data.biases[state.which];
        const seen = sentence.order.map((_, n) => (causal && n > sentence.chosen ? null : values[state.head][n - sentence.chosen - first]));
        const top = Math.max(...seen.filter((value) => value !== null));
        const weights = seen.map((value) => (value === null ? 0 : Math.exp(value - top)));
        const most = Math.max(...seen.map((value) => Math.abs(value ?? 0)), 1e-9);
        const bars = made("div", "", { class: "pa-bars" });
        seen.forEach((value, n) => {
          const track = made("span", "", { class: "pa-bar-track" });
          if (value !== null) {
            const bar = made("i");
            if (value < 0) bar.className = "pa-minus";
            bar.style.width = `${(50 * Math.abs(value)) / most}%`;
            bar.style[value < 0 ? "right" : "left"] = "50%";
            track.append(bar);
          }
          const share = `${fixed((100 * weights[n]) / sum(weights), 1)}%`;
          bars.append(made("span", sentence.spoken[sentence.order[n]]), track, made("span", value === null ? "hidden by the mask" : `${fixed(value, 2)} · ${share}`));
        });
        figure.replaceChildren(bars);
        const best = weights.indexOf(Math.max(...weights));
        said.textContent = `From “${sentence.spoken[sentence.order[sentence.chosen]]}”, head ${state.head} attends most to ${where(best - sentence.chosen, sentence.spoken[sentence.order[best]])}.`;
      };
    },
  };

  STEPS[place.dataset.paLesson]();
  place.hidden = false;
  const input = part("text");
  if (input) {
    const list = made("datalist", "", { id: "pa-lesson-words" });
    list.append(...data.words.map((word) => made("option", "", { value: word })));
    place.append(list);
    input.setAttribute("list", list.id);
    input.addEventListener("input", () => read(input.value));
    read(input.value);
  } else sentence.draw();
})();
