/* The whole view as text for the address, and back: #a=<checkpoint>/<encoding>&b=…&f=…&scale=stored&window=512&at=12,40&turn=30,20 */
(function () {
  "use strict";
  const SLOTS = ["a", "b", "c", "d", "e", "f"];
  const FIRST = { scale: "shape", at: [16, 8], turn: [35, 20] };
  const atlas = (window.atlas = window.atlas || {});

  atlas.slots = SLOTS;

  /* What an address says; what it does not say, or says wrongly, is as at first. ``unknown`` are names that the atlas does not have. */
  atlas.read = (hash, byName, windows) => {
    const said = new URLSearchParams(hash.replace(/^#/, ""));
    const named = SLOTS.map((slot) => said.get(slot)).filter((name) => name !== null);
    return {
      chosen: named.filter((name) => byName.has(name)),
      unknown: named.filter((name) => !byName.has(name)),
      scale: said.get("scale") === "stored" ? "stored" : FIRST.scale,
      window: windows.find((count) => String(count) === said.get("window")) ?? windows[0],
      at: pair(said.get("at"), 0, 1e6) ?? FIRST.at,
      turn: pair(said.get("turn"), -360, 360) ?? FIRST.turn,
    };
  };

  /* The address of a view; what is as at first is left out. */
  atlas.write = ({ chosen, scale, window: count, at, turn }, windows) => {
    const said = chosen.map((name, index) => `${SLOTS[index]}=${name}`);
    if (scale !== FIRST.scale) said.push(`scale=${scale}`);
    if (count !== windows[0]) said.push(`window=${count}`);
    if (at.join() !== FIRST.at.join()) said.push(`at=${at.join()}`);
    if (turn.join() !== FIRST.turn.join()) said.push(`turn=${turn.join()}`);
    return `#${said.join("&")}`;
  };

  function pair(text, least, most) {
    if (!/^-?\d+,-?\d+$/.test(text ?? "")) return null;
    const numbers = text.split(",").map(Number);
    return numbers.every((number) => number >= least && number <= most) ? numbers : null;
  }
})();
