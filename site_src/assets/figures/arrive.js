/* What a page gets only when it needs it: files of data as scripts, because a page on a disk may run scripts but not fetch; and drawings when they are seen. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const AHEAD = "400px"; // How far below the window a drawing begins.
  const waiting = new Map(); // Functions that draw what has not come into view.
  const asked = new Map(); // Promises of scripts, by address.

  /* A promise of the script at this address, which is loaded once. */
  atlas.script = (address) => {
    if (!asked.has(address)) {
      const loaded = new Promise((resolve, reject) => {
        const onerror = () => [asked.delete(address), reject(new Error(address))]; // To be asked for again.
        document.head.append(Object.assign(document.createElement("script"), { src: address, onload: resolve, onerror }));
      });
      asked.set(address, loaded);
    }
    return asked.get(address);
  };

  /* A promise of what the script at this address puts into the map ``arrived`` under this key. */
  atlas.fetched = async (address, arrived, key) => {
    await atlas.script(address);
    if (!arrived.has(key)) throw new Error(address);
    return arrived.get(key);
  };

  const watcher = new IntersectionObserver((entries) => entries.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => begin(target)), {
    rootMargin: AHEAD,
  });

  function begin(place) {
    const act = waiting.get(place);
    atlas.unwatch(place);
    act?.();
  }

  /* Act once, when the place comes into view; a later call for the same place replaces an earlier one. onPaper: also before the page is printed */
  atlas.whenSeen = (place, act, onPaper = false) => {
    atlas.unwatch(place);
    waiting.set(place, act);
    place.toggleAttribute("data-pa-paper", onPaper);
    watcher.observe(place);
  };
  addEventListener("beforeprint", () => [...waiting.keys()].filter((place) => place.hasAttribute("data-pa-paper")).forEach(begin));

  /* Forget what waits for the place. */
  atlas.unwatch = (place) => {
    watcher.unobserve(place);
    waiting.delete(place);
  };
})();
