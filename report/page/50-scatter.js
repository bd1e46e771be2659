/* Scatter plots: drawing, zooming, the lasso, pointing. Points at one place are drawn as one larger
 * mark, which shows the size of fused groups. */

/* Where the points are: nodes with places x and y, 0 .. 65535, and the node of each point. Points of
 * a node are order[start[node]] .. order[start[node + 1] - 1]. */
class Layout {
  constructor(x, y, nodes) {
    const count = nodes.length, start = new Int32Array(x.length + 1), order = new Int32Array(count);
    for (let i = 0; i < count; i++) start[nodes[i] + 1]++;
    for (let k = 0; k < x.length; k++) start[k + 1] += start[k];
    const next = start.slice();
    for (let i = 0; i < count; i++) order[next[nodes[i]]++] = i;
    Object.assign(this, { x, y, nodes, start, order, count });
  }

  members(node) { return this.order.subarray(this.start[node], this.start[node + 1]); }

  box() {
    let left = Infinity, right = -Infinity, low = Infinity, high = -Infinity;
    for (let k = 0; k < this.x.length; k++) {
      left = Math.min(left, this.x[k]);
      right = Math.max(right, this.x[k]);
      low = Math.min(low, this.y[k]);
      high = Math.max(high, this.y[k]);
    }
    return { left, low, width: right - left, height: high - low };
  }
}

/* A layout from two columns of a view; points at the same place share a node. */
function viewLayout(view, a, b) {
  view.steps = view.steps || uint16(view.data);
  const seen = new Map(), nodes = new Int32Array(points.count), x = [], y = [];
  for (let i = 0; i < points.count; i++) {
    const px = view.steps[i * view.cols + a], py = view.steps[i * view.cols + b], key = px * 65536 + py;
    let node = seen.get(key);
    if (node === undefined) { node = x.length; seen.set(key, node); x.push(px); y.push(py); }
    nodes[i] = node;
  }
  return new Layout(Float32Array.from(x), Float32Array.from(y), nodes);
}

/* What is out of sight is drawn when there is nothing else to do. */
const whenIdle = (act) => (window.requestIdleCallback || ((call) => setTimeout(call, 300)))(act, { timeout: 1000 });

class Scatter {
  constructor(root, title, interactive) {
    this.canvas = element("canvas", { role: "img", "aria-label": title, tabindex: interactive ? 0 : null });
    this.raster = new Raster(this.canvas);
    this.zoom = { by: 1, x: 0, y: 0 };
    this.frame = element("div.plot", {}, this.canvas);
    this.built = {};
    this.pointers = new Map();
    root.append(this.frame);
    onWidth(this.frame, (width) => this.resize(width), true);
    theme.listeners.push(() => { this.built = {}; this.draw(); });
    look.listeners.push(() => this.later());
    this.canvas.onpointermove = (event) => this.pointerMove(event);
    this.canvas.onpointerdown = (event) => this.pointerDown(event);
    this.canvas.onpointerup = this.canvas.onpointercancel = (event) => this.pointerUp(event);
    this.canvas.onpointerleave = (event) => {
      this.active = false;
      if (event.pointerType === "touch") return;
      look.set({ point: -1 });
      tip.hide();
    };
    if (interactive) this.listenZoom();
    /* A plot is not drawn while it is not on the screen. */
    this.visible = Boolean(interactive);
    new IntersectionObserver(([entry]) => { this.visible = entry.isIntersecting; if (this.visible && this.stale) this.later(); }, { rootMargin: "200px" }).observe(this.frame);
  }

  resize(width) {
    /* Edges are smoother on a finer grid than that of the screen, where it is not too much work. */
    this.ratio = Math.min(2, Math.max(points.count > 20000 ? 1 : 1.5, devicePixelRatio || 1));
    this.size = width;
    this.raster.resize(Math.round(width * this.ratio), Math.round(width * this.ratio));
    this.canvas.style.aspectRatio = "1";
    this.stale = true;
    if (this.visible) this.draw();
    else whenIdle(() => { if (this.stale) this.draw(); });
  }

  /* Sets the points: a layout, or a function that makes it when the plot is first seen. A given box
   * fixes the scale while they move. */
  place(layout, box) {
    this.layout = layout;
    this.box = box;
    this.later();
  }

  later() {
    this.stale = true;
    if (this.waiting || !this.visible) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  /* Places of the nodes on the canvas, in CSS pixels. */
  project() {
    const { size, box, layout, zoom } = this, pad = 0.06 * size, count = layout.x.length;
    const unit = (zoom.by * (size - 2 * pad)) / Math.max(box.width, box.height, 1);
    const dx = size / 2 + zoom.x - unit * (box.left + box.width / 2), dy = size / 2 + zoom.y + unit * (box.low + box.height / 2);
    if (!this.px || this.px.length < count) { this.px = new Float32Array(count); this.py = new Float32Array(count); }
    if (this.pixels) { this.px.set(layout.x); this.py.set(layout.y); return; }
    for (let i = 0; i < count; i++) {
      this.px[i] = dx + unit * layout.x[i];
      this.py[i] = dy - unit * layout.y[i];
    }
  }

  draw() {
    if (!this.size || !this.layout) return;
    this.stale = false;
    if (typeof this.layout === "function") this.layout = this.layout();
    this.box = this.box || this.layout.box();
    this.project();
    if (this.built.layout !== this.layout.nodes || this.built.version !== look.version) this.build();
    this.raster.clear(rgb(color("--back")));
    this.drawMarks((mark, x, y, paint, alpha) => this.raster.mark(mark, x, y, paint, alpha), this.ratio);
    this.raster.show();
    const pen = this.raster.pen;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.drawNames(pen);
    this.drawFocus(pen);
    pen.setTransform(1, 0, 0, 1, 0, 0);
  }

  /* Collects one mark per node and category: parallel lists of node, category (or mean value), number
   * of points, and whether it is faded. Large marks come first, below the others. */
  build() {
    const { layout } = this, shown = category(), width = 2 * (shown.of ? shown.count : 1), counts = new Int32Array(width), touched = [];
    const room = layout.count, node = new Int32Array(room), key = new Int32Array(room), count = new Int32Array(room), faded = new Uint8Array(room);
    const isWhole = look.shown() < 0 && !look.selection && !look.only, large = [], single = [];
    let made = 0;
    for (let k = 0; k < layout.x.length; k++) {
      let sum = 0;
      touched.length = 0;
      for (let m = layout.start[k]; m < layout.start[k + 1]; m++) {
        const i = layout.order[m], own = 2 * (shown.of ? shown.of[i] : 0) + (isWhole || !isFaded(i, shown) ? 0 : 1);
        if (counts[own]++ === 0) touched.push(own);
        if (shown.values) sum += shown.values[i];
      }
      for (const own of touched) {
        node[made] = k;
        key[made] = shown.of ? own >> 1 : Math.round(sum / (layout.start[k + 1] - layout.start[k]));
        count[made] = counts[own];
        faded[made] = own & 1;
        (counts[own] > 1 ? large : single).push(made++);
        counts[own] = 0;
      }
    }
    large.sort((a, b) => count[b] - count[a]);
    this.built = { layout: layout.nodes, version: look.version, shown, node: node.subarray(0, made), key, count, faded, order: Int32Array.from([...large, ...single]), names: nameSample(layout, shown) };
  }

  /* The radius of a mark of so many points, in CSS pixels. */
  radius(count) {
    const n = this.layout.count, base = (n > 20000 ? 1.15 : n > 3000 ? 1.7 : n > 900 ? 2.3 : 3.2) * Math.min(2, this.zoom.by ** 0.4);
    return Math.min(base * (1 + 0.3 * Math.sqrt(count - 1)), 0.045 * this.size);
  }

  /* Calls mark(stamp, x, y, ink, alpha) for every mark; faded ones first. */
  drawMarks(mark, ratio) {
    const { node, key, count, faded, order, shown } = this.built, colors = shown.of ? Array.from({ length: shown.count }, (_, k) => Raster.ink(rgb(shown.color(k)))) : ramp.map(Raster.ink);
    const held = shown.of ? look.shown() : -1, isPicked = held >= 0 || look.only || look.selection, { px, py } = this;
    const shape = (k) => (shown.of ? shown.shape(k) : "circle"), single = Array.from({ length: colors.length }, (_, k) => stamp(shape(k), this.radius(1) * ratio));
    for (const fade of [1, 0])
      for (let m = 0; m < order.length; m++) {
        const i = order[m], n = count[i], k = key[i];
        if (faded[i] !== fade) continue;
        mark(n === 1 ? single[k] : stamp(shape(k), this.radius(n) * ratio), px[node[i]] * ratio, py[node[i]] * ratio, colors[k], fade ? 20 : isPicked ? 243 : n > 1 ? 220 : 195);
      }
  }

  /* The name of each category at the median of its points; overlapping names are moved apart. */
  drawNames(pen) {
    const names = this.names(), held = look.shown(), { shown } = this.built;
    pen.font = `600 ${shown.count > 30 ? 10 : 12}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 3.5;
    pen.lineJoin = "round";
    pen.strokeStyle = color("--back");
    pen.fillStyle = color("--text");
    for (const name of names) {
      /* A name far from its points would be mistaken for that of others. */
      if ((held >= 0 && name.k !== held) || (held < 0 && name.moved > 26)) continue;
      pen.strokeText(name.text, name.x, name.y);
      pen.fillText(name.text, name.x, name.y);
    }
  }

  names() {
    const { names, shown } = this.built, nodes = this.layout.nodes;
    if (!shown.of) return [];
    const made = names.map((list, k) => ({ k, text: shortName(shown.name(k)), size: list.length,
      x: median(list.map((i) => this.px[nodes[i]])), y: median(list.map((i) => this.py[nodes[i]])) })).filter((name) => name.size > 0);
    /* Names of many categories are beside the marks, which they would hide. */
    for (const name of made.filter(() => shown.count > 12)) {
      const dx = name.x - this.size / 2, dy = name.y - this.size / 2, far = Math.hypot(dx, dy) || 1;
      name.x += (14 * dx) / far;
      name.y += (14 * dy) / far;
    }
    spread(made, shown.count > 30 ? 16 : 20, this.size);
    return made.filter((name) => name.x > 4 && name.y > 4 && name.x < this.size - 4 && name.y < this.size - 4);
  }

  drawFocus(pen) {
    if (this.lasso) {
      pen.beginPath();
      this.lasso.forEach(([x, y]) => pen.lineTo(x, y));
      pen.closePath();
      pen.fillStyle = `${color("--accent")}22`;
      pen.fill();
      pen.lineWidth = 1.5;
      pen.strokeStyle = color("--accent");
      pen.stroke();
    }
    for (const i of [look.point, look.found]) {
      if (i < 0 || i >= this.layout.count) continue;
      pen.beginPath();
      pen.arc(this.px[this.layout.nodes[i]], this.py[this.layout.nodes[i]], 8, 0, 7);
      pen.lineWidth = 2.5;
      pen.strokeStyle = color("--text");
      pen.stroke();
    }
  }

  /* Moves the points from where they are to another layout. */
  morph(layout, box) {
    if (this.stop) this.stop();
    if (!this.layout || !this.size || calm.matches) { this.place(layout, box); return; }
    this.project();
    const count = layout.count, each = Int32Array.from({ length: count }, (_, i) => i), old = this.layout.nodes;
    const x1 = Float32Array.from(each, (i) => this.px[old[i]]), y1 = Float32Array.from(each, (i) => this.py[old[i]]);
    this.layout = layout;
    this.box = box || layout.box();
    this.project();
    const x2 = Float32Array.from(each, (i) => this.px[layout.nodes[i]]), y2 = Float32Array.from(each, (i) => this.py[layout.nodes[i]]);
    const between = new Layout(new Float32Array(count), new Float32Array(count), each);
    this.stop = animate(700, (share) => {
      this.pixels = share < 1;
      const s = share * share * (3 - 2 * share);
      for (let i = 0; i < count && this.pixels; i++) {
        between.x[i] = (1 - s) * x1[i] + s * x2[i];
        between.y[i] = (1 - s) * y1[i] + s * y2[i];
      }
      this.place(this.pixels ? between : layout, this.box);
      if (!this.pixels && this.onRest) this.onRest();
    });
  }
}

/* Whether point i is not among those that are shown in full. */
function isFaded(i, shown) {
  const held = shown.of ? look.shown() : -1;
  return (held >= 0 && shown.of[i] !== held) || (look.selection !== null && !look.selection[i]) ||
    (look.only === "changed" && !isChanged(i)) || (look.only === "errors" && !isError(i));
}

const shortName = (text) => (text.length > 16 ? `${text.slice(0, 15)}…` : text);

/* Some points of each category, by which its name is placed. */
function nameSample(layout, shown) {
  if (!shown.of) return [];
  const lists = Array.from({ length: shown.count }, () => []);
  for (let i = 0; i < layout.count; i++) if (lists[shown.of[i]].length < 101) lists[shown.of[i]].push(i);
  return lists;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

function spread(names, apart, size) {
  const home = names.map((name) => [name.x, name.y]);
  for (let round = 0; round < 40; round++) {
    let moved = false;
    for (let i = 0; i < names.length; i++)
      for (let j = i + 1; j < names.length; j++) {
        const dx = names[j].x - names[i].x || 0.01 * (j - i), dy = names[j].y - names[i].y || 0.013 * (j - i);
        const far = Math.hypot(dx, dy), push = (apart - far) / 2;
        if (push <= 0) continue;
        moved = true;
        names[i].x -= (push * dx) / far;
        names[i].y -= (push * dy) / far;
        names[j].x += (push * dx) / far;
        names[j].y += (push * dy) / far;
      }
    if (!moved) break;
  }
  names.forEach((name, i) => { name.moved = Math.hypot(name.x - home[i][0], name.y - home[i][1]); });
}
