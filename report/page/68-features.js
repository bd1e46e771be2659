/* Clusters and features as a heat map, silhouettes, and distances as a matrix. */

/* The difference of a cluster's mean from that of all points, in standard deviations, or null. */
const deviation = (row, k) => (row.means[k] === null || !(row.deviation > 0) ? null : (row.means[k] - row.mean) / row.deviation);

/* The features by which a cluster differs most: "proline +1.2, hue −0.8"; null without features. */
function typicalFeatures(k) {
  const block = findBlock("features");
  if (!block) return null;
  const list = block.rows.map((row) => ({ name: row.name, by: deviation(row, k) })).filter((entry) => entry.by !== null && Math.abs(entry.by) >= 0.5);
  list.sort((a, b) => Math.abs(b.by) - Math.abs(a.by));
  return list.slice(0, 3).map((entry) => `${entry.name} ${signed(entry.by)}`).join(", ") || "–";
}

const signed = (value) => (Math.abs(value) < 0.05 ? "0.0" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`);

blocks.features = (root, block) => {
  const count = Math.min(points.clusters, 60), dense = count > 14;
  const heads = element("tr", {}, element("th", { scope: "col" }, "feature"), ...Array.from({ length: count }, (_, k) => element("th", { scope: "col" }, dense ? "" : swatch(k), String(k))),
    element("th.number", { scope: "col", "data-tip": "The share of the variance that lies between the clusters" }, "separation"));
  const body = block.rows.map((row, i) => featureRow(row, count, dense, i)), more = element("button.small", { type: "button" }, `Show all ${block.rows.length} features`);
  if (block.rows.length > 20) body.slice(15).forEach((line) => { line.hidden = true; });
  more.onclick = () => { body.forEach((line) => { line.hidden = false; }); more.remove(); };
  const made = element("div.scroll", {}, element(dense ? "table.heat.dense" : "table.heat", {}, element("thead", {}, heads), element("tbody", {}, ...body)));
  const caption = ["Cells: the mean of the cluster minus that of all points, in standard deviations; red is above, blue below.",
    "Separation: the share of the feature's variance that lies between the clusters."];
  if (block.rows.length < block.total) caption.push(`The ${block.rows.length} of ${whole(block.total)} features that separate the clusters best are shown.`);
  if (count < points.clusters) caption.push(`The first ${count} of ${points.clusters} clusters are shown.`);
  root.append(made, block.rows.length > 20 ? more : "", element("p.caption", {}, caption.join(" ")));
};

/* The name of a feature is a button that colours the points by it. */
function featureRow(row, count, dense, i) {
  const isColour = i < (page.shared.features || []).length, name = isColour ? element("button.link", { type: "button", "data-tip": `${row.name}: colour the points by this feature` }, row.name) : row.name;
  if (isColour) name.onclick = () => { look.set({ by: i, held: -1, hover: -1 }); document.querySelector(".picture").scrollIntoView(); };
  const line = element("tr", {}, element("th", { scope: "row" }, name));
  for (let k = 0; k < count; k++) {
    const by = deviation(row, k), cell = element("td", { "data-tip": by === null ? null : `${row.name} in cluster ${k}: mean ${short(row.means[k])}; all points: ${short(row.mean)} ± ${short(row.deviation)}` },
      by === null ? "–" : dense ? "" : signed(by));
    if (by !== null) {
      cell.className = by < 0 ? "below" : "above";
      heat(cell, Math.min(1, Math.abs(by) / 2), 0.6);
    }
    line.append(cell);
  }
  line.append(element("td.number", {}, `${(100 * row.separation).toFixed(1)} %`));
  return line;
}

/* ---- distances ---- */

/* The matrix on a canvas: strong colour is near. Pointing shows the two points. */
blocks.distances = (root, block) => {
  const count = block.index.length, near = bytes(block.data), canvas = element("canvas.matrix", { width: count, height: count, role: "img", "aria-label": "Matrix of distances between points, ordered by cluster" });
  const at = (i, j) => (i === j ? 0 : i > j ? near[(i * (i - 1)) / 2 + j] : near[(j * (j - 1)) / 2 + i]);
  const paint = () => {
    const pen = canvas.getContext("2d"), picture = pen.createImageData(count, count), back = rgb(color("--back")), full = rgb(color("--accent"));
    for (let i = 0; i < count; i++)
      for (let j = 0; j < count; j++) {
        const share = (1 - at(i, j) / 255) ** 1.3;
        for (let c = 0; c < 3; c++) picture.data[4 * (i * count + j) + c] = back[c] + share * (full[c] - back[c]);
        picture.data[4 * (i * count + j) + 3] = 255;
      }
    pen.putImageData(picture, 0, 0);
  };
  paint();
  theme.listeners.push(paint);
  canvas.onpointermove = canvas.onpointerdown = (event) => {
    const rect = canvas.getBoundingClientRect(), place = (value, from, size) => Math.max(0, Math.min(count - 1, Math.floor((count * (value - from)) / size)));
    const i = place(event.clientY, rect.top, rect.height), j = place(event.clientX, rect.left, rect.width);
    tip.show(event.clientX, event.clientY, element("div", {}, `point ${whole(block.index[i])} (cluster ${block.clusters[i]})`, element("br"), `point ${whole(block.index[j])} (cluster ${block.clusters[j]})`, element("br"),
      i === j ? "the same point" : `distance about ${short((at(i, j) / 255) * block.high, 2)}${at(i, j) === 255 ? " or more" : ""}`));
  };
  canvas.onpointerleave = () => tip.hide();
  const box = element("div", {}, element("h3", {}, "Distances"), element("div.matrixbox", {}, clusterStrip(block.clusters, true), clusterStrip(block.clusters), canvas));
  const other = element("div");
  root.append(element("div.pair", {}, box, block.silhouettes ? other : null));
  if (block.silhouettes) silhouettePlot(other, block.silhouettes);
  box.append(element("p.caption", {}, `${count < block.total ? `A sample of ${whole(count)} of ${whole(block.total)} points, in proportion to the sizes of the clusters` : `All ${whole(count)} points`}; in each cluster the most typical ones come first. Euclidean distances of the points as they were clustered, from 0 (strong colour) to ${short(block.high, 3)} and more (none).`));
};

/* The clusters of the rows or columns of the matrix as coloured segments with numbers. */
function clusterStrip(clusters, isTop) {
  const strip = element(isTop ? "div.strip.across" : "div.strip.down", { "aria-hidden": "true" });
  for (let i = 0, from = 0; i <= clusters.length; i++) {
    if (i < clusters.length && clusters[i] === clusters[from]) continue;
    const k = clusters[from], part = element("span", { style: `flex:${i - from} 0 0` }, (i - from) / clusters.length > 0.035 ? String(k) : "");
    const mark = element("i");
    const paint = () => { mark.style.background = clusterColor(k); };
    paint();
    theme.listeners.push(paint);
    part.append(mark);
    strip.append(part);
    from = i;
  }
  return strip;
}

/* ---- silhouettes ---- */

/* One band per cluster, its points from the best to the worst. */
function silhouettePlot(root, block) {
  const bands = block.clusters.filter((band) => band.count > 0), holder = element("div");
  for (const band of bands) band.values = Array.from(bytes(band.data), (step) => step / 127 - 1);
  root.append(element("h3", {}, "Silhouettes"), holder);
  const low = Math.min(0, ...bands.map((band) => band.values[band.count - 1]));
  const draw = (width) => {
    const gap = bands.length > 25 ? 1 : 4, inner = Math.max(300, Math.min(width, 520) - 70), room = (inner - gap * bands.length) / block.count;
    const chart = frame(width, inner + 50, { title: "Silhouettes of each cluster", left: 34, top: 8, bottom: 42, x: { label: "silhouette", low, high: 1 }, y: { low: 0, high: 1, hidden: true } });
    chart.svg.append(svg("path", { class: "grid", d: `M${chart.x(0)} ${chart.box.top}V${chart.box.bottom}` }));
    let y = chart.box.top;
    for (const band of bands) {
      const high = room * band.count, middle = y + high / 2;
      chart.svg.append(svg("path", { style: `fill:${clusterColor(band.cluster)}`, d: bandPath(chart, band.values, y, room), "data-tip": `cluster ${band.cluster}: mean silhouette ${short(band.mean, 3)}, ${percent(band.values.filter((value) => value < 0).length / band.count)} below 0` }));
      if (high > 9) chart.svg.append(svg("text", { x: chart.box.left - 6, y: middle + 4, "text-anchor": "end" }, String(band.cluster)));
      y += high + gap;
    }
    chart.svg.append(svg("path", { class: "mark strong", d: `M${chart.x(block.mean)} ${chart.box.bottom}V${chart.box.top}` }));
    holder.replaceChildren(chart.svg);
  };
  onWidth(holder, draw);
  theme.listeners.push(() => { if (holder.clientWidth > 0) draw(holder.clientWidth); });
  root.append(element("p.caption", {}, `How much nearer each point is to its own cluster than to the next one: 1 is well inside, below 0 another cluster is nearer. ${block.count < block.total ? `A random sample of ${whole(block.count)} of ${whole(block.total)} points` : `All ${whole(block.count)} points`}; the red line is their mean, ${short(block.mean, 3)}. Long, curved clusters have low silhouettes even if they are well separated.`));
}

/* The outline of a band; long ones are thinned out to what a screen can show. */
function bandPath(chart, values, top, room) {
  const zero = chart.x(0).toFixed(1), every = Math.max(1, Math.floor(values.length / 160));
  let d = `M${zero} ${top.toFixed(2)}`;
  for (let i = 0; i < values.length; i += every) d += `H${chart.x(values[i]).toFixed(1)}V${(top + room * Math.min(values.length, i + every)).toFixed(2)}`;
  return `${d}H${zero}Z`;
}
