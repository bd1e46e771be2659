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

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;

blocks.features = (root, block) => {
  const count = Math.min(points.clusters, 60), dense = count > 14;
  const heads = element("tr", {}, element("th", { scope: "col" }, "feature"), ...Array.from({ length: count }, (_, k) => element("th", { scope: "col" }, dense ? "" : swatch(k), String(k))),
    element("th.number", { scope: "col", "data-tip": "The share of the variance that lies between the clusters" }, "separation"));
  const body = block.rows.map((row) => featureRow(row, count, dense));
  const made = element("div.scroll", {}, element(dense ? "table.heat.dense" : "table.heat", {}, element("thead", {}, heads), element("tbody", {}, ...body)));
  root.append(made, element("p.caption", {}, `Cells: the mean of the cluster minus that of all points, in standard deviations; red is above, blue below. Separation: the share of the feature's variance that lies between the clusters.${block.rows.length < block.total ? ` The ${block.rows.length} of ${whole(block.total)} features that separate the clusters best are shown.` : ""}${count < points.clusters ? ` The first ${count} of ${points.clusters} clusters are shown.` : ""}`));
};

function featureRow(row, count, dense) {
  const line = element("tr", {}, element("th", { scope: "row" }, row.name));
  for (let k = 0; k < count; k++) {
    const by = deviation(row, k), cell = element("td", { "data-tip": by === null ? null : `${row.name} in cluster ${k}: mean ${short(row.means[k])}; all points: ${short(row.mean)} ± ${short(row.deviation)}` },
      by === null ? "–" : dense ? "" : signed(by));
    if (by !== null) {
      cell.style.setProperty("--heat", `${Math.round(Math.min(1, Math.abs(by) / 2) * 85)}%`);
      cell.className = by < 0 ? "below" : "above";
      if (Math.abs(by) > 1.3) cell.classList.add("hot");
    }
    line.append(cell);
  }
  line.append(element("td.number", {}, percent(row.separation)));
  return line;
}

/* ---- distances ---- */

/* The matrix on a canvas: dark is near. Pointing shows the two points. */
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
  root.append(element("div.matrixbox", {}, clusterStrip(block.clusters, true), clusterStrip(block.clusters), canvas));
  root.append(element("p.caption", {}, `${count < block.total ? `A sample of ${whole(count)} of ${whole(block.total)} points, in proportion to the sizes of the clusters` : `All ${whole(count)} points`}; in each cluster the most typical ones come first. Euclidean distances of the points as they were clustered, from 0 (dark) to ${short(block.high, 3)} and more (light).`));
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
