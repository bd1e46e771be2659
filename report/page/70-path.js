/* Blocks of a path: its summary and the tree of fusions. */

blocks.walk = (root, block) => {
  const r = block.report, worst = Math.max(...r.levels.map((level) => level.gap || 0)), list = [];
  list.push({ value: whole(r.levels.length), label: "levels of gamma", note: `${whole(r.levels[0].groups)} groups at the first, ${whole(r.levels[r.levels.length - 1].groups)} at the last` });
  if (r.choice) list.push(r.choice.level >= 0 ? { value: whole(r.n_clusters), label: "clusters found", note: `the ${r.choice.n_found > r.n_clusters ? `largest of ${whole(r.choice.n_found)} groups` : "groups"} at gamma ${short(r.choice.gamma, 4)}` } : { value: whole(r.choice.n_found), label: "large groups at most", note: `${whole(r.n_clusters)} were requested` });
  list.push(...scoreFacts(r));
  list.push({ wide: true, value: worst === 0 ? "every level proven optimal" : `every level proven within ${percent(worst)} of the optimum`, label: "shrink problem", note: "the largest gap of all levels" });
  list.push({ value: seconds(r.seconds.total), label: "total time", note: `${seconds(r.seconds.path)} for the path` });
  root.append(facts(list));
};

/* ---- the tree ---- */

blocks.tree = (root, block) => {
  const all = new Map(block.branches.map((branch) => [branch.id, { ...branch, children: [] }]));
  const roots = [];
  for (const branch of all.values()) (all.has(branch.parent) ? all.get(branch.parent).children : roots).push(branch);
  if (all.size === 0) { root.append(element("p.caption", {}, "No group is large enough to be drawn.")); return; }
  const leaves = orderLeaves(roots), holder = element("div.scroll"), inner = element("div", { style: "min-width:560px" });
  holder.append(inner);
  root.append(holder);
  onWidth(inner, (width) => inner.replaceChildren(drawTree(width, [...all.values()], roots, leaves)));
  root.append(element("p.caption", {}, `Each line is a group of at least ${whole(block.least)} points, from the gamma at which it reaches this size to the gamma at which it joins another group. The width shows the number of points, the colour the cluster of most of them (grey where groups of different clusters have joined). Smaller groups are not drawn.`));
};

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

function drawTree(width, branches, roots, leaves) {
  const gammas = branches.flatMap((b) => [b.born, b.joined]).filter((g) => g > 0);
  const low = Math.min(...gammas) / 1.15, high = Math.max(...gammas) * 1.25, row = 23, label = width < 700 ? 138 : 196;
  const chart = frame(width, leaves.length * row + 66, { title: "Tree of fusions", left: label, top: 12, x: { label: "gamma", log: true, low, high }, y: { low: 0, high: 1 } });
  chart.svg.querySelectorAll(".grid").forEach((line) => line.remove());
  chart.svg.querySelectorAll("text[text-anchor=end]").forEach((text) => text.remove());
  const most = Math.max(...branches.map((b) => b.size)), y = (b) => 22 + b.y * row, thick = (b) => 1.5 + 8 * Math.sqrt(b.size / most);
  for (const b of branches) {
    const paint = b.paint !== null ? clusterColor(b.paint) : "var(--faint)";
    const end = b.joined > 0 ? chart.x(b.joined) : chart.box.right, start = chart.x(b.born);
    const line = svg("path", { d: `M${start} ${y(b)}H${Math.max(end, start + 3)}`, style: `stroke:${paint}`, "stroke-width": thick(b), fill: "none" });
    line.append(svg("title", {}, `${plural(b.size, "point")}, from gamma ${short(b.born, 3)}${b.joined > 0 ? ` to ${short(b.joined, 3)}` : ""}`));
    chart.svg.append(line);
    if (b.children.length)
      chart.svg.append(svg("path", { class: "axis", d: `M${start} ${Math.min(...b.children.map(y))}V${Math.max(...b.children.map(y))}`, "stroke-width": 1.5 }));
    if (b.children.length === 0) chart.svg.append(leafLabel(b, label - 12, y(b)), svg("path", { class: "grid", d: `M${label - 6} ${y(b)}H${start - 2}`, "stroke-dasharray": "1 4" }));
  }
  return chart.svg;
}

function leafLabel(b, x, y) {
  let text = whole(b.size);
  if (b.class && points.classes) text += ` · class ${points.classes[b.class.label].slice(0, 14)} ${Math.round(100 * b.class.share)} %`;
  else if (b.cluster) text += ` · cluster ${b.cluster.label}`;
  return svg("text", { x, y: y + 4, "text-anchor": "end", class: "name" }, text);
}
