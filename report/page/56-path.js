/* Beside the picture: gamma, the number of groups, the slider and the tree of fusions, on one axis. */

/* Room for the labels at the left, the same for the chart, the slider and the tree. */
const pathLeft = (width) => (width < 400 ? 92 : 108);

/* Builds the panel. show(gamma, position) is called when gamma changes; returns {set, gamma}. */
function pathPanel(root, block, moves, show) {
  const { gammas } = moves, low = Math.log(gammas[0]), high = Math.log(gammas[gammas.length - 1]);
  const play = element("button.play", { type: "button" }, "▶ Play"), readout = pathReadout(root, play);
  const input = element("input", { type: "range", min: 0, max: 1, step: "any", "aria-label": "gamma" });
  const slide = element("div.slide", {}, input), holder = element("div.axis"), panel = { gamma: gammas[0] };
  root.append(holder);
  const tree = findBlock("tree"), charts = [groupsChart(block, tree && tree.branches.length > 0)];
  holder.append(charts[0].root, slide);
  if (tree) charts.push(treeChart(tree, gammas));
  if (tree) holder.append(charts[1].root);
  const update = () => {
    panel.gamma = Math.exp(low + (high - low) * Number(input.value));
    const at = moves.position(panel.gamma), level = block.levels[Math.round(at)];
    readout(panel.gamma, level);
    for (const chart of charts) chart.cursor(panel.gamma);
    input.setAttribute("aria-valuetext", `gamma ${short(panel.gamma)}, ${level.groups} groups`);
    show(panel.gamma, at);
  };
  const player = makePlayer(play, input, update);
  const valueOf = (gamma) => (Math.log(gamma) - low) / (high - low);
  panel.set = (gamma) => { player.stop(); input.value = valueOf(gamma); update(); };
  panel.glide = (gamma) => player.glide(valueOf(gamma));
  input.oninput = () => { player.stop(); update(); };
  for (const chart of charts) chart.pick = (gamma) => panel.set(Math.min(gammas[gammas.length - 1], Math.max(gammas[0], gamma)));
  onWidth(holder, (width) => {
    slide.style.paddingLeft = `${pathLeft(width) - 8}px`;
    for (const chart of charts) chart.draw(width, pathLeft(width));
  });
  input.value = block.used > 0 ? valueOf(block.used) : 0.5;
  const lead = page.sections.find((section) => section.blocks.includes(block)).lead;
  root.append(fold("About gamma", [element("p.caption", {}, lead), element("p.caption", {}, pathCaption(block)), tree ? element("p.caption", {}, treeCaption(tree)) : ""]));
  panel.start = update;
  return panel;
}

function pathReadout(root, play) {
  const gamma = element("dd"), groups = element("dd"), gap = element("dd");
  root.append(element("div.head", {}, element("dl.readout", {}, gamma, element("dt", {}, "gamma"), groups, element("dt", {}, "groups"), gap, element("dt", {}, "proven gap")), play));
  return (value, level) => {
    gamma.textContent = short(value, 3);
    groups.textContent = whole(level.groups);
    gap.textContent = level.gap > 0 && level.gap < 1e-6 ? "< 0.0001 %" : bound(level.gap);
  };
}

/* Calls act(gamma, event) while the pointer is pressed in a chart. */
function dragGamma(chart, act) {
  chart.svg.style.touchAction = "pan-y";
  chart.svg.style.cursor = "pointer";
  chart.svg.onpointerdown = chart.svg.onpointermove = (event) => {
    if (!event.buttons) return;
    const rect = chart.svg.getBoundingClientRect(), width = chart.svg.viewBox.baseVal.width;
    act(chart.x.value(((event.clientX - rect.left) * width) / rect.width), event);
  };
}

function addCursor(chart, gamma) {
  const line = svg("path", { class: "cursor" });
  chart.svg.append(line);
  const move = (value) => line.setAttribute("d", `M${chart.x(value)} ${chart.box.bottom}V${chart.box.top}`);
  move(gamma);
  return move;
}

/* The number of groups against gamma; dragging in the chart moves the slider. Above another chart it
 * has no labels of gamma of its own. */
function groupsChart(block, isAbove) {
  const gammas = block.levels.map((level) => level.gamma), groups = block.levels.map((level) => Math.max(1, level.groups));
  const made = { root: element("div"), pick: () => {} }, marks = pathMarks(block, gammas);
  let move = () => {}, current = gammas[0];
  made.cursor = (gamma) => { current = gamma; move(gamma); };
  made.draw = (width, left) => {
    const spec = {
      title: "Number of groups against gamma", left,
      x: { label: "", log: true, low: gammas[0], high: gammas[gammas.length - 1] },
      y: { label: "groups", log: true, low: 0.9, high: 1.1 * Math.max(...groups, 2) },
    };
    const lines = 1 + Math.max(0, ...layMarks(frame(width, 150, spec), marks).map((mark) => mark.line));
    const chart = frame(width, 138 + 15 * lines, { ...spec, top: 8 + 15 * lines, bottom: isAbove ? 8 : 24 });
    if (isAbove) for (const text of chart.svg.querySelectorAll("text[text-anchor=middle]:not([transform])")) text.remove();
    drawMarks(chart, marks);
    chart.svg.append(svg("path", { class: "series", style: "stroke:var(--accent)", d: seriesPath(chart, gammas, groups, false) }));
    gammas.forEach((gamma, i) => chart.svg.append(svg("circle", { cx: chart.x(gamma), cy: chart.y(groups[i]), r: 2.6, style: "fill:var(--accent)" })));
    move = addCursor(chart, current);
    dragGamma(chart, (gamma) => made.pick(gamma));
    made.root.replaceChildren(chart.svg);
  };
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

/* Animates the slider: from its position, or from the start, to the end; or to a place. */
function makePlayer(button, input, show) {
  let stop = () => {}, running = false;
  const run = (from, to, milliseconds, done) => {
    stop();
    running = true;
    stop = animate(milliseconds, (share) => {
      input.value = from + (to - from) * share;
      show();
      if (share === 1) { running = false; done(); }
    });
  };
  const rest = () => { button.textContent = "▶ Play"; };
  const player = {
    stop() { stop(); running = false; rest(); },
    glide(to) { rest(); run(Number(input.value), to, 900, rest); },
    start() {
      const from = Number(input.value) > 0.995 ? 0 : Number(input.value);
      button.textContent = "❚❚ Pause";
      run(from, 1, 9000 * (1 - from), rest);
    },
  };
  button.onclick = () => (running ? player.stop() : player.start());
  return player;
}

/* ---- the tree of fusions ---- */

function treeCaption(block) {
  return `Tree: each line is a group of at least ${whole(block.least)} points, from the gamma at which it reaches this size to the gamma at which it joins another group. The width shows the number of points, the colour the cluster of most of them (grey where groups of different clusters have joined). Smaller groups are not drawn. Click on a line to select its points.`;
}

/* Branches with children and places; leaves in order. */
function growTree(block) {
  const all = block.branches.map((branch, place) => ({ ...branch, place, children: [] })), byId = new Map(all.map((branch) => [branch.id, branch])), roots = [];
  for (const branch of all) (byId.has(branch.parent) ? byId.get(branch.parent).children : roots).push(branch);
  return { all, roots, leaves: orderLeaves(roots) };
}

/* Orders the leaves, larger subtrees first, and gives every branch its vertical position. */
function orderLeaves(roots) {
  const leaves = [];
  const visit = (branch) => {
    branch.children.sort((a, b) => b.size - a.size);
    branch.children.forEach(visit);
    if (branch.children.length === 0) { branch.y = leaves.length; leaves.push(branch); }
    const labels = branch.children.map((child) => child.paint);
    branch.paint = branch.children.length === 0 ? branch.cluster && branch.cluster.label : labels.every((label) => label === labels[0]) ? labels[0] : null;
    if (branch.children.length) branch.y = (branch.children[0].y + branch.children[branch.children.length - 1].y) / 2;
  };
  roots.sort((a, b) => b.size - a.size).forEach(visit);
  return leaves;
}

/* Selects the sampled points of a branch and of all below it. */
function selectBranch(block, branch) {
  const wanted = new Set(), visit = (one) => { wanted.add(one.place); one.children.forEach(visit); };
  block.owner = block.owner || bytes(block.members);
  visit(branch);
  look.select(Uint8Array.from(block.owner, (place) => (wanted.has(place) ? 1 : 0)));
}

function treeChart(block, gammas) {
  const tree = growTree(block), made = { root: element("div.tree", { id: "tree" }), pick: () => {}, cursor: () => {}, draw: () => {} };
  let move = () => {}, current = gammas[0];
  if (!tree.all.length) { made.root.append(element("p.caption", {}, "No group is large enough to be drawn in the tree of fusions.")); return made; }
  made.cursor = (gamma) => { current = gamma; move(gamma); };
  made.draw = (width, left) => {
    const row = Math.max(11, Math.min(20, 250 / tree.leaves.length)), spec = {
      title: "Tree of fusions", left, top: 4, bottom: 36, x: { label: "gamma", log: true, low: gammas[0], high: gammas[gammas.length - 1] }, y: { low: 0, high: 1, hidden: true } };
    const chart = frame(width, tree.leaves.length * row + 48, spec);
    drawTree(chart, tree, row, left, block, made);
    move = addCursor(chart, current);
    dragGamma(chart, (gamma, event) => {
      made.pick(gamma);
      if (event.type === "pointerdown") event.target.onselect ? event.target.onselect() : look.select(null);
    });
    made.root.replaceChildren(chart.svg);
  };
  theme.listeners.push(() => { const width = made.root.clientWidth; if (width > 0) made.draw(width, pathLeft(width)); });
  return made;
}

function drawTree(chart, tree, row, left, block) {
  const most = Math.max(...tree.all.map((b) => b.size)), y = (b) => 6 + (b.y + 0.5) * row, thick = (b) => 1.5 + (row - 5) * Math.sqrt(b.size / most);
  const inside = (gamma) => Math.max(chart.box.left, Math.min(chart.box.right, chart.x(gamma)));
  const isLong = tree.leaves.some((b) => leafName(b) && leafName(b).join(" ").length > leafRoom(b, left - 8));
  for (const b of tree.all) {
    const start = inside(b.born), end = Math.max(b.joined > 0 ? inside(b.joined) : chart.box.right, start + 3), d = `M${start} ${y(b)}H${end}`;
    const line = svg("path", { d, style: `stroke:${b.paint !== null && b.paint !== undefined ? clusterColor(b.paint) : "var(--faint)"}`, "stroke-width": thick(b), fill: "none" });
    const hit = svg("path", { d, class: "hit", "stroke-width": Math.max(row, 12), "data-tip": `${plural(b.size, "point")} from gamma ${short(b.born, 3)}${b.joined > 0 ? ` to ${short(b.joined, 3)}` : ""}${b.class && points.classes ? `, ${Math.round(100 * b.class.share)} % class ${points.classes[b.class.label]}` : ""}` });
    hit.onselect = () => selectBranch(block, b);
    if (b.children.length) chart.svg.append(svg("path", { class: "axis", d: `M${start} ${Math.min(...b.children.map(y))}V${Math.max(...b.children.map(y))}`, "stroke-width": 1.5 }));
    else chart.svg.append(leafLabel(b, left - 8, y(b), isLong, () => selectBranch(block, b)), svg("path", { class: "grid", d: `M${left - 4} ${y(b)}H${start - 2}`, "stroke-dasharray": "1 4" }));
    chart.svg.append(line, hit);
  }
}

/* What most points of a leaf are: ["class", "7"] or ["cluster", "3"], or null. */
const leafName = (b) => (b.class && points.classes ? ["class", points.classes[b.class.label]] : b.cluster ? ["cluster", String(b.cluster.label)] : null);

/* The letters of a name for which there is room left of x. */
const leafRoom = (b, x) => Math.floor(x / 6) - whole(b.size).length - 3;

/* The label of a leaf is also how the keyboard selects its group. If not all fit, they are names
 * only. */
function leafLabel(b, x, y, isLong, act) {
  const size = whole(b.size), named = leafName(b), room = leafRoom(b, x), cut = (name) => (name.length > room ? `${name.slice(0, room - 1)}…` : name);
  const text = !named ? size : `${isLong ? cut(named[1]) : named.join(" ")} · ${size}`;
  const made = svg("text", { x, y: y + 4, "text-anchor": "end", class: "name", tabindex: 0, role: "button", "aria-label": `Select the group: ${named ? `${named.join(" ")}, ` : ""}${plural(b.size, "point")}` }, text);
  made.onselect = act;
  made.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } };
  return made;
}
