/* What a page gets only when it needs it: files of data as scripts, because a page on a disk may run scripts but not fetch; and drawings when they are seen. */
(function () {
  "use strict";
  const atlas = (window.atlas = window.atlas || {});
  const AHEAD = "400px"; // How far below the window a drawing begins.
  const waiting = new Map(); // Functions that draw what has not come into view.

  /* A promise of what the script at this address puts into the map ``arrived`` under this key. */
  atlas.fetched = (address, arrived, key) =>
    new Promise((resolve, reject) => {
      if (arrived.has(key)) return resolve(arrived.get(key));
      const script = document.createElement("script");
      script.src = address;
      script.onload = () => (arrived.has(key) ? resolve(arrived.get(key)) : reject(new Error(address)));
      script.onerror = () => reject(new Error(address));
      return document.head.append(script);
    });

  const watcher = new IntersectionObserver((entries) => entries.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => begin(target)), {
    rootMargin: AHEAD,
  });

  function begin(place) {
    const act = waiting.get(place);
    atlas.unwatch(place);
    act?.();
  }

  /* Act once, when the place comes into view; a later call for the same place replaces an earlier one. */
  atlas.whenSeen = (place, act) => {
    atlas.unwatch(place);
    waiting.set(place, act);
    watcher.observe(place);
  };

  /* Forget what waits for the place. */
  atlas.unwatch = (place) => {
    watcher.unobserve(place);
    waiting.delete(place);
  };
})();
