/* Scatter plots on a canvas. Points at the same position are drawn as one larger mark, which shows
 * the size of fused groups. */

class Scatter {
  constructor(root, title) {
    this.canvas = element("canvas", { role: "img", "aria-label": title });
    this.count = 0;
    this.waiting = false;
    root.append(element("div.plot", {}, this.canvas));
    onWidth(this.canvas.parentNode, (width) => this.resize(width), true);
    theme.listeners.push(() => this.draw());
    focus.listeners.push(() => this.later());
    this.canvas.onpointermove = this.canvas.onpointerdown = (event) => this.pick(event);
    this.canvas.onpointerleave = () => { focus.set("point", -1); tip.hide(); };
  }

  resize(width) {
    this.ratio = Math.min(2, Math.max(1.5, devicePixelRatio || 1));
    this.size = width;
    this.canvas.width = this.canvas.height = Math.round(width * this.ratio);
    this.canvas.style.aspectRatio = "1";
    this.draw();
  }

  /* Sets the points: x and y on a grid of 65536 steps. A given box fixes the scale while they move. */
  place(count, x, y, box) {
    this.count = count;
    this.x = x;
    this.y = y;
    this.box = box || boxOf(count, x, y);
    this.later();
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  /* Positions of the points on the canvas. */
  project() {
    const { size, box, count } = this, pad = 0.075 * size;
    const unit = (size - 2 * pad) / Math.max(box.width, box.height, 1);
    const dx = size / 2 - unit * (box.left + box.width / 2), dy = size / 2 + unit * (box.low + box.height / 2);
    this.px = this.px && this.px.length === count ? this.px : new Float32Array(count);
    this.py = this.py && this.py.length === count ? this.py : new Float32Array(count);
    for (let i = 0; i < count; i++) {
      this.px[i] = dx + unit * this.x[i];
      this.py[i] = dy - unit * this.y[i];
    }
  }

  draw() {
    if (!this.size || !this.count) return;
    const pen = this.canvas.getContext("2d");
    this.project();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.drawMarks(pen);
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.drawNames(pen);
    this.drawFocus(pen);
  }

  /* One mark per position and label: {x, y, label, count, faded}; faded ones come first, below the
   * others. */
  spots() {
    const cells = new Map(), cell = 1.4, across = Math.ceil(this.size / cell) + 2;
    for (let i = 0; i < this.count; i++) {
      const at = Math.round(this.py[i] / cell) * across + Math.round(this.px[i] / cell);
      const faded = points.onlyChanged && !isChanged(i);
      const key = 2 * (at * points.clusters + points.label[i]) + faded, spot = cells.get(key);
      if (spot) spot.count++;
      else cells.set(key, { x: this.px[i], y: this.py[i], label: points.label[i], count: 1, faded });
    }
    return [...cells.values()].sort((a, b) => b.faded - a.faded || b.count - a.count);
  }

  drawMarks(pen) {
    const base = this.count > 3000 ? 1.8 : this.count > 900 ? 2.3 : 3.2, held = focus.shown();
    for (const spot of this.spots()) {
      const r = Math.min(base * (1 + 0.3 * Math.sqrt(spot.count - 1)), 0.05 * this.size), picture = sprite(spot.label, Math.round(r * 4) / 4, this.ratio);
      const hidden = spot.faded || (held >= 0 && spot.label !== held);
      pen.globalAlpha = hidden ? 0.07 : held >= 0 ? 0.95 : spot.count > 1 ? 0.85 : 0.75;
      pen.drawImage(picture, spot.x * this.ratio - picture.width / 2, spot.y * this.ratio - picture.height / 2);
    }
    pen.globalAlpha = 1;
  }

  /* The number of each cluster at the median of its points; overlapping numbers are moved apart. */
  drawNames(pen) {
    const names = clusterMedians(this), held = focus.shown();
    const half = points.clusters > 30 ? 8 : 10;
    spread(names, 2 * half, this.size);
    pen.font = `600 ${points.clusters > 30 ? 10 : 12}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const name of names) {
      /* A number far from its cluster would be mistaken for that of another. */
      if ((held >= 0 && name.label !== held) || (held < 0 && name.moved > 26)) continue;
      pen.lineWidth = 3.5;
      pen.lineJoin = "round";
      pen.strokeStyle = color("--back");
      pen.fillStyle = color("--text");
      pen.strokeText(name.label, name.x, name.y);
      pen.fillText(name.label, name.x, name.y);
    }
  }

  drawFocus(pen) {
    const i = focus.point;
    if (i < 0 || i >= this.count) return;
    pen.beginPath();
    pen.arc(this.px[i], this.py[i], 7, 0, 7);
    pen.lineWidth = 2.5;
    pen.strokeStyle = color("--text");
    pen.stroke();
  }

  pick(event) {
    const rect = this.canvas.getBoundingClientRect(), ratio = this.size / rect.width;
    const x = (event.clientX - rect.left) * ratio, y = (event.clientY - rect.top) * ratio, held = focus.shown();
    let best = -1, least = 16 * 16;
    for (let i = 0; i < this.count; i++) {
      const far = (this.px[i] - x) ** 2 + (this.py[i] - y) ** 2;
      if (far < least && (held < 0 || points.label[i] === held)) { least = far; best = i; }
    }
    focus.set("point", best);
    if (best >= 0) tip.show(event.clientX, event.clientY, ...pointTip(best));
    else tip.hide();
  }
}

function boxOf(count, x, y) {
  let left = Infinity, right = -Infinity, low = Infinity, high = -Infinity;
  for (let i = 0; i < count; i++) {
    left = Math.min(left, x[i]);
    right = Math.max(right, x[i]);
    low = Math.min(low, y[i]);
    high = Math.max(high, y[i]);
  }
  return { left, low, width: right - left, height: high - low };
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

function clusterMedians(plot) {
  const xs = Array.from({ length: points.clusters }, () => []), ys = xs.map(() => []);
  for (let i = 0; i < plot.count; i++) {
    xs[points.label[i]].push(plot.px[i]);
    ys[points.label[i]].push(plot.py[i]);
  }
  return xs.map((x, label) => ({ label, x: median(x), y: median(ys[label]), size: x.length })).filter((name) => name.size > 0);
}

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
  for (const name of names) {
    name.x = Math.max(10, Math.min(size - 10, name.x));
    name.y = Math.max(10, Math.min(size - 10, name.y));
  }
  names.forEach((name, i) => { name.moved = Math.hypot(name.x - home[i][0], name.y - home[i][1]); });
}

function sampleNote(shown) {
  return shown < points.total ? `A random sample of ${whole(shown)} of ${whole(points.total)} points is shown, with at least 8 per cluster.` : `All ${whole(points.total)} points are shown.`;
}

/* ---- X, F and G side by side ---- */

const viewNotes = {
  X: "The data that were clustered. If the clusters are already separate here, K-means alone may suffice.",
  F: "The leading eigenvectors of the graph: well-connected points are close to each other.",
  G: "F after shrinking: the points of a group coincide. Larger marks are more points.",
};

blocks.views = (root, block) => {
  const grid = element("div.views"), most = Math.max(...block.views.map((view) => view.cols));
  const panels = block.views.map((view) => {
    const panel = element("div.view", {}, element("h3", {}, element("b", {}, view.name), " ", view.title));
    grid.append(panel);
    const plot = new Scatter(panel, view.title), note = element("p.caption");
    panel.append(note);
    view.steps = uint16(view.data);
    return { view, plot, note };
  });
  const show = (first) => panels.forEach(({ view, plot, note }) => {
    const a = first < view.cols ? first : 0, b = a + 1 < view.cols ? a + 1 : a;
    plot.place(points.count, column(view, a), column(view, b));
    const share = view.share ? `Principal components ${a + 1} and ${b + 1}, ${percent((view.share[a] || 0) + (view.share[b] || 0))} of the variance. ` : "The original coordinates. ";
    note.textContent = share + (viewNotes[view.name] || "");
  });
  root.append(grid);
  const tools = element("div.tools", {}, sampleNote(points.count));
  if (most >= 4) tools.append(pairChoice(most, show));
  if (points.before) tools.append(labelChoice());
  root.append(tools, legend(clusterNames()));
  show(0);
};

function column(view, j) {
  const made = new Float32Array(points.count);
  for (let i = 0; i < points.count; i++) made[i] = view.steps[i * view.cols + j];
  return made;
}

/* Buttons of which one is pressed: options are [text, value]; the first is pressed to begin with. */
function choiceButtons(label, options, show) {
  const root = element("span.choice", { role: "group", "aria-label": label });
  options.forEach(([text, value], i) => {
    const button = element("button", { type: "button", "aria-pressed": String(i === 0) }, text);
    button.onclick = () => {
      for (const other of root.children) other.setAttribute("aria-pressed", String(other === button));
      show(value);
    };
    root.append(button);
  });
  return root;
}

/* Chooses which two principal components are shown. */
function pairChoice(most, show) {
  const pairs = [];
  for (let first = 0; first + 1 < most; first += 2) pairs.push([`${first + 1}–${first + 2}`, first]);
  return element("span.pick", {}, "Components ", choiceButtons("Principal components shown", pairs, show));
}

/* Chooses the labels that all plots show: the final ones, those before the refinement on the graph,
 * or the final ones of the points that it changed. */
function labelChoice() {
  const show = (which) => {
    points.label = which === "before" ? points.before : points.after;
    points.onlyChanged = which === "changed";
    for (const listener of focus.listeners) listener();
  };
  const options = [["refined", "after"], ["before refinement", "before"], ["changed points", "changed"]];
  return element("span.pick", {}, "Labels ", choiceButtons("Labels shown", options, show));
}

/* The most frequent class of each cluster, if classes are known. */
function clusterNames() {
  for (const section of page.sections)
    for (const block of section.blocks)
      if (block.kind === "clusters" && block.classes) return block.rows.map((row) => row.class);
  return null;
}

/* ---- the path of gamma ---- */

blocks.path = (root, block) => {
  const { moves, levels } = block, gammas = levels.map((level) => level.gamma);
  const steps = uint16(moves.data), left = element("div"), right = element("div");
  root.append(element("div.path", {}, left, right));
  const plot = new Scatter(left, "Points of G at the chosen gamma");
  const x = new Float32Array(moves.count), y = new Float32Array(moves.count);
  const view = { first: 0 };
  let box = levelBox(steps, moves, 0);
  const play = element("button.play", { type: "button" }, "▶ Play");
  const readout = pathReadout(right, play), chart = groupsChart(right, block);
  const low = Math.log(gammas[0]), high = Math.log(gammas[gammas.length - 1]);
  const input = element("input", { type: "range", min: 0, max: 1, step: "any", "aria-label": "gamma" });
  right.append(element("div.slide", {}, input));

  const show = () => {
    const gamma = Math.exp(low + (high - low) * Number(input.value)), at = levelAt(gammas, gamma);
    between(steps, moves, at, view.first, x, y);
    plot.place(moves.count, x, y, box);
    readout(block, gamma, levels[Math.round(at)]);
    chart(gamma);
    input.setAttribute("aria-valuetext", `gamma ${short(gamma)}, ${levels[Math.round(at)].groups} groups`);
  };
  input.value = block.used > 0 ? (Math.log(block.used) - low) / (high - low) : 0.5;
  input.oninput = () => { player.stop(); show(); };
  chart.onPick = (gamma) => { player.stop(); input.value = (Math.log(gamma) - low) / (high - low); show(); };
  const player = makePlayer(play, input, show);
  right.append(element("p.caption", {}, pathCaption(block)));
  left.append(element("p.caption", {}, `G projected onto principal components of F. ${sampleNote(Math.min(moves.count, points.total))} Larger marks are fused points.`));
  if (moves.cols >= 4)
    left.append(element("div.tools", {}, pairChoice(moves.cols, (first) => { view.first = first; box = levelBox(steps, moves, first); show(); })));
  if (!page.sections.some((section) => section.blocks.some((other) => other.kind === "views"))) left.append(legend(clusterNames()));
  show();
};

function levelBox(steps, moves, first) {
  const x = new Float32Array(moves.count), y = new Float32Array(moves.count);
  between(steps, moves, 0, first, x, y);
  return boxOf(moves.count, x, y);
}

/* The position of gamma among the levels: an integer at a level, a fraction between two. */
function levelAt(gammas, gamma) {
  let l = 0;
  while (l + 2 < gammas.length && gammas[l + 1] <= gamma) l++;
  const share = Math.log(gamma / gammas[l]) / Math.log(gammas[l + 1] / gammas[l]);
  return Math.max(0, Math.min(gammas.length - 1, l + share));
}

/* Interpolates two components of the points linearly between two levels. */
function between(steps, moves, at, first, x, y) {
  const cols = moves.cols, size = cols * moves.count, l = Math.floor(at), share = at - l;
  const one = l * size, two = share > 0 ? one + size : one;
  for (let i = 0; i < moves.count; i++) {
    const j = cols * i + first;
    x[i] = (1 - share) * steps[one + j] + share * steps[two + j];
    y[i] = (1 - share) * steps[one + j + 1] + share * steps[two + j + 1];
  }
}

function pathReadout(root, play) {
  const gamma = element("dd"), groups = element("dd"), gap = element("dd");
  root.append(element("div.head", {}, element("dl.readout", {}, gamma, element("dt", {}, "gamma"), groups, element("dt", {}, "groups"), gap, element("dt", {}, "proven gap")), play));
  return (block, value, level) => {
    gamma.textContent = short(value, 3);
    groups.textContent = whole(level.groups);
    gap.textContent = level.gap > 0 ? percent(level.gap) : "0 %";
  };
}

/* The number of groups against gamma; dragging in the chart moves the slider. */
function groupsChart(root, block) {
  const holder = element("div"), gammas = block.levels.map((level) => level.gamma);
  const groups = block.levels.map((level) => Math.max(1, level.groups));
  let chart = null, cursor = null, current = gammas[0];
  const marks = pathMarks(block, gammas);
  root.append(holder);
  const made = (gamma) => {
    current = gamma;
    if (cursor) cursor.setAttribute("d", `M${chart.x(gamma)} ${chart.box.bottom}V${chart.box.top}`);
  };
  onWidth(holder, (width) => {
    const spec = {
      title: "Number of groups against gamma",
      x: { label: "gamma", log: true, low: gammas[0], high: gammas[gammas.length - 1] },
      y: { label: "groups", log: true, low: 0.9, high: 1.1 * Math.max(...groups, 2) },
    };
    const lines = 1 + Math.max(0, ...layMarks(frame(width, 220, spec), marks).map((mark) => mark.line));
    chart = frame(width, 238 + 15 * lines, { ...spec, top: 12 + 15 * lines });
    drawMarks(chart, marks);
    chart.svg.append(svg("path", { class: "series", style: "stroke:var(--accent)", d: seriesPath(chart, gammas, groups, false) }));
    gammas.forEach((gamma, i) => chart.svg.append(svg("circle", { cx: chart.x(gamma), cy: chart.y(groups[i]), r: 2.6, style: "fill:var(--accent)" })));
    cursor = svg("path", { class: "cursor" });
    chart.svg.append(cursor);
    chart.svg.style.touchAction = "pan-y";
    chart.svg.onpointerdown = chart.svg.onpointermove = (event) => {
      if (!event.buttons) return;
      const rect = chart.svg.getBoundingClientRect();
      const at = chart.x.value(((event.clientX - rect.left) * width) / rect.width);
      made.onPick(Math.min(gammas[gammas.length - 1], Math.max(gammas[0], at)));
    };
    made(current);
    holder.replaceChildren(chart.svg);
  });
  return made;
}

function pathMarks(block, gammas) {
  const low = gammas[0] * 0.999, high = gammas[gammas.length - 1] * 1.001;
  return [
    { x: block.gamma_fit, label: "gamma_fit" },
    { x: block.mean_size, label: "n / c" },
    { x: block.used, label: block.used_label, strong: true },
    block.gamma_up > high ? { x: high / 1.001, label: "collapse →" } : { x: block.gamma_up, label: "collapse" },
  ].filter((mark) => mark.x >= low && mark.x <= high)
    .filter((mark, i, all) => mark.label !== "n / c" || !all.some((other) => other.strong && Math.abs(Math.log(other.x / mark.x)) < 0.02));
}

function pathCaption(block) {
  const parts = [`Groups of fused points at ${block.levels.length} values of gamma; between them the slider interpolates linearly.`];
  if (block.gamma_fit > 0) parts.push(`gamma_fit = ${short(block.gamma_fit, 3)}: up to there G equals F.`);
  if (block.gamma_up !== null) parts.push(`From ${short(block.gamma_up, 3)} on each component of the graph is a single point (collapse).`);
  if (block.used > 0) parts.push(`The gamma of ${block.used_label} is ${short(block.used, 4)}${Math.abs(block.used / block.mean_size - 1) < 1e-6 ? " = n / c, the mean cluster size" : ""}.`);
  return parts.join(" ");
}

/* Animates the slider from its position, or from the start, to the end. */
function makePlayer(button, input, show) {
  let before = 0, running = false;
  const player = {
    stop() { running = false; button.textContent = "▶ Play"; },
    start() {
      running = true;
      before = 0;
      button.textContent = "❚❚ Pause";
      if (Number(input.value) > 0.995) input.value = 0;
      requestAnimationFrame(player.step);
    },
    step(now) {
      if (!running) return;
      if (before) input.value = Math.min(1, Number(input.value) + (now - before) / 9000);
      before = now;
      show();
      if (Number(input.value) >= 1) player.stop();
      else requestAnimationFrame(player.step);
    },
  };
  button.onclick = () => (running ? player.stop() : player.start());
  return player;
}
