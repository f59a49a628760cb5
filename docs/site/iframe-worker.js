/* Search in pages that lie on a disk: browsers start no worker there, so its script runs in a hidden
 * frame of the page, with the few things that a worker has. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      this.inner = frame.contentWindow;
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inner.importScripts = (...urls) => Promise.all(urls.map((u) => this.load(u)));
      this.load(url).then(() => {
        this.started = true;
        this.waiting.forEach((data) => this.postMessage(data));
      });
    }

    load(url) {
      return new Promise((done, failed) => {
        const script = this.inner.document.createElement("script");
        script.src = new URL(url, location.href);
        script.onload = done;
        script.onerror = () => failed(new Error(`${url} cannot be loaded`));
        this.inner.document.head.append(script);
      });
    }

    postMessage(data) {
      if (this.started) this.inner.dispatchEvent(new MessageEvent("message", { data }));
      else this.waiting.push(data);
    }

    terminate() {
      this.inner.frameElement.remove();
    }
  };
}
