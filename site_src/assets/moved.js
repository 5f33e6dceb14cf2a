// A former address leads to the same place of the page that has it now. Names of places begin with that of their encoding there.
(() => {
  "use strict";
  const [page, chapter] = document.querySelector("link[rel=canonical]").href.split("#");
  const place = location.hash.slice(1) || chapter;
  const named = !chapter || place?.startsWith(chapter) ? place : `${chapter}-${place}`;
  location.replace(named ? `${page}#${named}` : page);
})();
