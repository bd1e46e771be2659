/* Pointing, zooming and selecting in a scatter plot, by mouse, touch and keyboard. */

Object.assign(Scatter.prototype, {
  /* The place of an event in the plot. */
  locate(event) {
    const rect = this.canvas.getBoundingClientRect(), ratio = this.size / rect.width;
    return [(event.clientX - rect.left) * ratio, (event.clientY - rect.top) * ratio];
  },

  /* The node nearest to a place, or -1. */
  nearest(x, y) {
    const { layout, built } = this;
    let best = -1, least = 16 * 16;
    if (!layout || !built.node) return -1;
    for (let i = 0; i < built.node.length; i++) {
      if (built.faded[i]) continue;
      const k = built.node[i], far = (this.px[k] - x) ** 2 + (this.py[k] - y) ** 2;
      if (far < least) { least = far; best = k; }
    }
    return best;
  },

  pick(event) {
    const node = this.nearest(...this.locate(event));
    if (node < 0) { look.set({ point: -1 }); tip.hide(); return; }
    const list = Array.from(this.layout.members(node)).filter((i) => !isFaded(i, this.built.shown));
    look.set({ point: list[0] });
    tip.show(event.clientX, event.clientY, ...groupTip(list));
  },

  pointerDown(event) {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    this.active = true;
    this.pick(event);
    if (!this.tool) return;
    this.pointers.set(event.pointerId, this.locate(event));
    this.canvas.setPointerCapture(event.pointerId);
    const lasso = this.pointers.size === 1 && (this.tool === "lasso" || event.shiftKey);
    this.lasso = lasso ? [this.locate(event)] : null;
  },

  pointerMove(event) {
    const before = this.pointers.get(event.pointerId), at = this.locate(event);
    if (!before) { if (event.pointerType !== "touch") this.pick(event); return; }
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    this.pointers.set(event.pointerId, at);
    if (others.length) this.pinch(others[0][1], before, at);
    else if (this.lasso) { this.lasso.push(at); tip.hide(); this.later(); }
    else if (event.pointerType !== "touch" || this.zoom.by > 1) this.pan(at[0] - before[0], at[1] - before[1]);
  },

  pointerUp(event) {
    this.pointers.delete(event.pointerId);
    if (!this.lasso) return;
    const line = this.lasso;
    this.lasso = null;
    if (line.length > 2) this.selectInside(line);
    this.later();
  },

  pinch(fixed, before, at) {
    const far = (a, b) => Math.max(8, Math.hypot(a[0] - b[0], a[1] - b[1]));
    this.lasso = null;
    tip.hide();
    this.zoomAt(far(fixed, at) / far(fixed, before), (fixed[0] + at[0]) / 2, (fixed[1] + at[1]) / 2);
  },

  pan(dx, dy) {
    if (Math.hypot(dx, dy) > 0) tip.hide();
    this.setZoom(this.zoom.by, this.zoom.x + dx, this.zoom.y + dy);
  },

  zoomAt(factor, x, y) {
    const { zoom, size } = this, by = Math.max(1, Math.min(200, zoom.by * factor)), real = by / zoom.by;
    this.setZoom(by, x - size / 2 - real * (x - size / 2 - zoom.x), y - size / 2 - real * (y - size / 2 - zoom.y));
  },

  /* At least a part of the picture stays visible. While it is magnified a finger moves the picture,
   * not the page. */
  setZoom(by, x, y) {
    const most = (by - 0.5) * this.size / 2 + (by > 1 ? 0.25 * this.size : 0), clip = (value) => Math.max(-most, Math.min(most, value));
    this.zoom = { by, x: by === 1 ? 0 : clip(x), y: by === 1 ? 0 : clip(y) };
    this.canvas.style.touchAction = by > 1 || this.tool === "lasso" ? "none" : "pan-y";
    this.later();
    if (this.onZoom) this.onZoom();
  },

  /* The wheel zooms after a click into the plot or with Ctrl; otherwise it scrolls the page. */
  listenZoom() {
    this.tool = "move";
    this.canvas.style.touchAction = "pan-y";
    this.canvas.addEventListener("wheel", (event) => {
      if (!this.active && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoomAt(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0022)), ...this.locate(event));
    }, { passive: false });
    this.canvas.ondblclick = (event) => this.zoomAt(2, ...this.locate(event));
    this.canvas.onkeydown = (event) => this.key(event);
  },

  key(event) {
    const step = 40, half = this.size / 2, actions = {
      "+": () => this.zoomAt(1.3, half, half), "=": () => this.zoomAt(1.3, half, half), "-": () => this.zoomAt(1 / 1.3, half, half),
      0: () => this.setZoom(1, 0, 0), Escape: () => { look.select(null); look.set({ point: -1 }); },
      ArrowLeft: () => this.pan(step, 0), ArrowRight: () => this.pan(-step, 0), ArrowUp: () => this.pan(0, step), ArrowDown: () => this.pan(0, -step),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || (event.key.startsWith("Arrow") && this.zoom.by === 1)) return;
    event.preventDefault();
    actions[event.key]();
  },

  /* Selects the points inside a polygon (even-odd rule). */
  selectInside(line) {
    const mask = new Uint8Array(points.count), { layout } = this;
    for (let k = 0; k < layout.x.length; k++) {
      const x = this.px[k], y = this.py[k];
      let inside = false;
      for (let i = 0, j = line.length - 1; i < line.length; j = i++)
        if (line[i][1] > y !== line[j][1] > y && x < ((line[j][0] - line[i][0]) * (y - line[i][1])) / (line[j][1] - line[i][1]) + line[i][0]) inside = !inside;
      if (inside) for (const i of layout.members(k)) mask[i] = 1;
    }
    look.select(mask);
  },

  /* The buttons in the corner of an interactive plot. */
  zoomButtons() {
    const make = (text, title, act) => {
      const button = element("button", { type: "button", "aria-label": title, "data-tip": title }, text);
      button.onclick = () => act(button);
      return button;
    };
    const half = () => this.size / 2;
    const lasso = make("◌", "Lasso: draw around points to select them", (button) => {
      this.tool = this.tool === "lasso" ? "move" : "lasso";
      button.setAttribute("aria-pressed", String(this.tool === "lasso"));
      this.setZoom(this.zoom.by, this.zoom.x, this.zoom.y);
    });
    lasso.setAttribute("aria-pressed", "false");
    return element("div.zoom", {}, make("+", "Zoom in", () => this.zoomAt(1.5, half(), half())), make("−", "Zoom out", () => this.zoomAt(1 / 1.5, half(), half())),
      make("⤢", "Show everything", () => this.setZoom(1, 0, 0)), lasso);
  },
});
