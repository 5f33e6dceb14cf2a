"use strict";
document.body.dataset.mdColorScheme = matchMedia("(prefers-color-scheme: dark)").matches ? "slate" : "default";
let name = "";
try {
  name = decodeURIComponent(location.hash.slice(1));
} catch {
  // An address that is not encoded as addresses are names no figure.
}
const known = /^[\w./-]+$/.test(name) && !name.includes("..");
(known ? atlas.loadFigure(name) : Promise.reject(new Error())).then(
  (data) => {
    document.getElementById("caption").textContent = data.caption;
    document.getElementById("source").href = new URL(`../${data.page}`, location.href);
    atlas.live(document.getElementById("place"), data, { label: data.caption });
  },
  () => (document.getElementById("caption").textContent = "This figure is no longer there."),
);
