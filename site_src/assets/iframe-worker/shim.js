// A page that is opened as a file may start no worker. Search then runs in a hidden frame; its script asks for IFrameWorker.
"use strict";
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.body.appendChild(document.createElement("iframe"));
      this.frame.hidden = true;
      this.inner = this.frame.contentWindow;
      this.inner.postMessage = (data) => {
        const message = new MessageEvent("message", { data });
        this.dispatchEvent(message);
        this.onmessage?.(message);
      };
      this.inner.importScripts = (...files) => files.reduce((before, file) => before.then(() => this.run(file)), Promise.resolve());
      this.ready = this.run(address);
    }

    run(file) {
      return addScript(this.inner.document, file);
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}

function addScript(place, file) {
  const script = place.createElement("script");
  script.src = file;
  return new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${file} cannot be loaded`));
    place.body.append(script);
  });
}

// The worker of the search starts, and its index is loaded, when somebody searches. Where the form of the search has its
// name, the theme loads the index itself, and at once: templates/theme/main.html takes the name away.
{
  const Started = window.Worker;
  const searched = new Promise((resolve) => {
    addEventListener("focusin", ({ target }) => target.closest("[data-md-component=search]") && resolve());
  });

  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const waits = document.querySelector("[data-md-component=search] form:not([name])");
      this.inner = (waits ? searched : Promise.resolve()).then(() => this.start(address, waits));
    }

    start(address, waited) {
      const inner = new Started(address);
      inner.addEventListener("message", ({ data }) => {
        const message = new MessageEvent("message", { data });
        this.dispatchEvent(message);
        this.onmessage?.(message);
      });
      if (waited) setUp(inner);
      return inner;
    }

    postMessage(data) {
      this.inner.then((inner) => inner.postMessage(data));
    }

    terminate() {
      this.inner.then((inner) => inner.terminate());
    }
  };

  // The message by which the theme sets up its worker.
  async function setUp(worker) {
    const { base, features } = JSON.parse(document.getElementById("__config").textContent);
    const { config, docs } = await load(new URL("search/", new URL(base, location)));
    worker.postMessage({ type: 0, data: { config, docs, options: { suggest: features.includes("search.suggest") } } });
  }

  async function load(folder) {
    if (location.protocol !== "file:") return (await fetch(new URL("search_index.json", folder))).json();
    await addScript(document, new URL("search_index.js", folder));
    return __index;
  }
}
