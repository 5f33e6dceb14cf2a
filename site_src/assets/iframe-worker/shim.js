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
      const script = this.inner.document.createElement("script");
      script.src = file;
      return new Promise((resolve, reject) => {
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${file} cannot be loaded`));
        this.inner.document.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
