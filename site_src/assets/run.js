/* The slider of a training run: the kernel at one step beside the last, from the figure that has a line for each step. */
(() => {
  "use strict";
  document.querySelectorAll(".pa-run").forEach((place) => {
    const figure = document.getElementById(place.dataset.paRun);
    figure.addEventListener("pa-awake", () => {
      const name = figure.querySelector(".pa-scroll a").href;
      const start = name.indexOf("figures/runs/") + "figures/".length;
      window.atlas.loadFigure(name.slice(start).replace(/\.\w+$/, "")).then((data) => slider(place, data));
    });
  });

  function slider(place, data) {
    const [panel] = data.panels;
    const lines = panel.marks.filter(({ kind }) => kind === "line");
    const rest = panel.marks.filter(({ kind }) => kind !== "line");
    const last = lines.length - 1;
    const [input, output, room] = [place.querySelector("input"), place.querySelector("output"), place.querySelector(".pa-run-figure")];
    let live = null;

    const draw = () => {
      const chosen = lines[input.value];
      output.textContent = chosen.name.replace(/^step /, "");
      input.setAttribute("aria-valuetext", chosen.name);
      const series = [
        { name: lines[last].name, colour: "muted", dash: [5, 2] },
        { name: chosen.name, colour: "#3d7fd6", dash: null },
      ].slice(0, chosen === lines[last] ? 1 : 2);
      const marks = [lines[last], chosen].slice(0, series.length).map((line, index) => ({ ...line, ...series[index], series: index, width: 1 + index }));
      live?.stop();
      live = window.atlas.live(room, { ...data, panels: [{ ...panel, title: "", marks: [...rest, ...marks] }], series, scale: null }, { label: chosen.name });
    };

    input.max = last;
    input.value = Math.round(last / 3);
    input.addEventListener("input", draw);
    place.hidden = false;
    draw();
  }
})();
