/* What the chosen encodings differ most in, as sentences made from their numbers. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});

  /* Sentences as pieces: plain text, or { strong: text }. */
  atlas.summary = (encodings) => [...metricSentence(encodings), ...shapeSentence(encodings)];

  /* Of the headline metrics that all of them have on one scale, that in which their ranks among all encodings differ most. What
     has a chance level is ranked beside that. */
  function metricSentence(encodings) {
    const unordered = encodings.filter(({ unranked }) => unranked?.length);
    const none = unordered.length ? `Measures of order are not compared, because no order was found in ${unordered.map(({ title }) => title).join(" and ")}. ` : "";
    const shared = standings(encodings);
    if (!shared.length) return [none || "They have no headline measure in common. "];
    if (shared.every(({ spread }) => spread === 0)) return [`They agree in ${shared.length === 1 ? "the one headline measure" : `all ${shared.length} headline measures`} that they share. `];
    return [none, ...differing(shared, encodings), " "];
  }

  /* The same of one analysis and those that have its measures, as text; "" where these have no headline measure of it in common. */
  atlas.finding = (analysis, encodings) => {
    const isOf = (key) => key.split(".")[0] === analysis;
    const having = encodings.filter(({ metrics }) => Object.entries(metrics).some(([key, value]) => isOf(key) && typeof value === "number"));
    const shared = having.length > 1 ? standings(having).filter(({ key }) => isOf(key)) : [];
    return shared.length ? differing(shared, having).map((piece) => piece.strong ?? piece).join("") : "";
  };

  function standings(encodings) {
    return Object.entries(atlas.catalogue.sorted_values).map(([key, scales]) => standing(key, scales, encodings)).filter(Boolean);
  }

  function differing(shared, encodings) {
    const widest = shared.reduce((one, other) => (other.spread > one.spread ? other : one));
    const ends = [widest.lowest, widest.highest];
    if (encodings.length === 2) ends.sort((one, other) => encodings.indexOf(one.encoding) - encodings.indexOf(other.encoding));
    return said(widest, ends);
  }

  /* The values at both ends, in the sentence of their measure, or after its title. */
  function said({ key }, ends) {
    const [title, unit] = atlas.catalogue.metrics[key];
    const units = unit.split(" or "); // Positions of images are patches.
    const shown = (value, { modality }) => {
      const own = units[modality === "image" ? units.length - 1 : 0];
      return `${atlas.measured(value, own)}${["%", "°"].includes(own) ? "" : " "}${value === 1 ? own.replace(/s$/, "") : own}`.trim();
    };
    const chance = atlas.catalogue.chances[key];
    const named = (encoding) => `${shown(encoding.metrics[key], encoding)} (${encoding.title}${chance ? `; ${atlas.measured(encoding.metrics[chance], unit)}${unit === "%" ? unit : ""} by chance` : ""})`;
    const values = ends.map((end) => named(end.encoding)).join(" and ");
    const sentence = atlas.catalogue.words[key];
    return sentence ? [{ strong: `${sentence.replace("{}", values)}.` }] : [{ strong: title }, `: ${values}.`];
  }

  function standing(key, scales, encodings) {
    if (encodings.some(({ unranked }) => unranked?.includes(key.split(".")[0]))) return null;
    const compared = (encoding) => (atlas.catalogue.chances[key] ? encoding.shares[key] : encoding.metrics[key]);
    const values = encodings.map((encoding) => ({ encoding, value: compared(encoding), sorted: scales[encoding.modality] ?? scales[""] }));
    const [{ sorted }] = values;
    if (!sorted || values.some((one) => typeof one.value !== "number" || one.sorted !== sorted)) return null;
    const ranked = values.map((one) => ({ ...one, share: rank(one.value, sorted) })).sort((one, other) => one.share - other.share);
    const [lowest, highest] = [ranked[0], ranked[ranked.length - 1]];
    return { key, spread: highest.share - lowest.share, lowest, highest };
  }

  /* Share of the sorted values below one, ties by half. */
  function rank(value, sorted) {
    const [below, equal] = [sorted.filter((other) => other < value).length, sorted.filter((other) => other === value).length];
    return (below + equal / 2) / sorted.length;
  }

  function shapeSentence(encodings) {
    const pairs = encodings
      .flatMap((first, index) => encodings.slice(index + 1).map((second) => ({ first, second, difference: atlas.shapeDifference(first.first, second.first) })))
      .filter(({ difference }) => difference !== null);
    if (!pairs.length) return [];
    const similarity = ({ difference }) => `${Math.round(100 * (1 - difference))} out of 100`;
    if (encodings.length === 2) return [`The shapes of their kernels have a similarity of ${similarity(pairs[0])}.`];
    pairs.sort((one, other) => one.difference - other.difference);
    const named = (pair) => `${pair.first.title} and ${pair.second.title} (${similarity(pair)})`;
    return pairs.length > 1 ? [`The most similar kernels are those of ${named(pairs[0])}, the least similar those of ${named(pairs[pairs.length - 1])}.`] : [];
  }

  /* Root mean square difference of two shapes over the pairs of positions that both define, within [0, 1]; null without any. */
  atlas.shapeDifference = (one, other) => {
    if (!one.shape || !other.shape) return null;
    const n = Math.min(one.n, other.n);
    let [sum, count] = [0, 0];
    for (let query = 0; query < n; query++) {
      for (let key = 0; key < n; key++) {
        const difference = one.shape.values[query * one.n + key] - other.shape.values[query * other.n + key];
        if (Number.isNaN(difference)) continue;
        sum += difference ** 2;
        count++;
      }
    }
    return count ? Math.sqrt(sum / count) : null;
  };
})();
