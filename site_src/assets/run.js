/* The slider of a training run: the kernel at one step beside the last, from the figure that has a line for each step. */
(() => {
  "use strict";
  document.querySelectorAll(".pa-run").forEach((place) => {
    const figure = document.getElementById(place.dataset.paRun);
    figure.addEventListener("pa-awake", () => {
      const address = figure.querySelector(".pa-scroll a").href;
      const name = address.slice(address.indexOf("figures/runs/") + "figures/".length).replace(/\.\w+$/, "");
      window.atlas.loadFigure(name).then((data) => slider(place, data, name.replaceAll("/", "-")));
    });
  });

  /* name: that files of the figure begin with */
  function slider(place, data, name) {
    const [panel] = data.panels;
    const lines = panel.marks.filter(({ kind }) => kind === "line");
    const rest = panel.marks.filter(({ kind }) => kind !== "line");
    const last = lines.length - 1;
    const [input, output, room] = [place.querySelector("input"), place.querySelector("output"), place.querySelector(".pa-run-figure")];
    let live = null;
    const about = () => ({
      data: live.state.data,
      view: live,
      name: `${name}-${output.textContent.replaceAll(",", "")}`,
      caption: `${data.caption} ${lines[input.value].name}`,
      path: data.page,
    });

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
    room.after(window.atlas.tools(about));
  }
})();
