/* The sampled points and what all plots of them share: the colouring, the point and the category
 * that are highlighted, the selection. */

if (points) {
  points.index = int32(points.index);
  points.label = int32(points.label);
  points.class = points.class && int32(points.class);
  points.after = points.label;
  points.before = points.before && int32(points.before);
}

/* The rows of the table of clusters; the page of a path has none, and they are counted here if all
 * points are known. */
const clusterRows = findBlock("clusters") ? findBlock("clusters").rows : points && points.class && points.count === points.total ? countClusters() : [];

function countClusters() {
  const classes = points.classes.length, counts = new Int32Array(points.clusters * classes);
  for (let i = 0; i < points.count; i++) counts[points.label[i] * classes + points.class[i]]++;
  return Array.from({ length: points.clusters }, (_, cluster) => {
    const own = counts.subarray(cluster * classes, (cluster + 1) * classes), most = own.indexOf(Math.max(...own));
    return { cluster, size: own.reduce((a, b) => a + b, 0), class: points.classes[most], class_number: most };
  });
}

/* The most frequent class of each cluster as a name, or null without classes. */
function clusterNames() {
  return points.class && clusterRows.length ? clusterRows.map((row) => row.class) : null;
}

/* Whether the refinement on the graph changed the label of point i. */
const isChanged = (i) => Boolean(points.before) && points.before[i] !== points.after[i];

/* Whether point i is not of its cluster's most frequent class. */
const isError = (i) => Boolean(points.class) && clusterRows.length > 0 && points.class[i] !== clusterRows[points.after[i]].class_number;

/* ---- what is shown ---- */

/* by: "cluster", "class" or the number of a feature. only: null, "changed" or "errors": all other
 * points are faded. point is pointed at, found is the answer of the search. held and hover are categories, selection marks the selected points. Plots
 * compare the version to see whether anything has changed. */
const look = { by: "cluster", only: null, held: -1, hover: -1, point: -1, found: -1, selection: null, selected: 0, version: 0, listeners: [] };
look.set = (changes) => {
  if (Object.entries(changes).every(([name, value]) => look[name] === value)) return;
  if (Object.keys(changes).some((name) => name !== "point" && name !== "found")) look.version++;
  Object.assign(look, changes);
  for (const listener of look.listeners) listener();
};
look.shown = () => (look.hover >= 0 ? look.hover : look.held);
look.select = (mask) => {
  let count = 0;
  if (mask) for (let i = 0; i < points.count; i++) count += mask[i];
  look.set({ selection: count ? mask : null, selected: count });
};

/* The colouring as {of, count, color, shape, name}, or {values, feature} for a feature. */
function category() {
  if (typeof look.by === "number") {
    const feature = page.shared.features[look.by];
    feature.values = feature.values || bytes(feature.data);
    return { feature, values: feature.values };
  }
  if (look.by === "class") {
    const place = classPlaces();
    return { of: points.class, count: points.classes.length, color: (k) => clusterColor(place[k]), shape: (k) => clusterShape(place[k]), name: (k) => points.classes[k] };
  }
  return { of: points.label, count: points.clusters, color: clusterColor, shape: clusterShape, name: String };
}

/* A class has the colour of the largest cluster in which it is the most frequent one, so that the
 * two colourings can be compared; the other classes have what is left. */
function classPlaces() {
  if (points.places) return points.places;
  const places = points.classes.map(() => -1), rows = clusterRows.map((row, k) => ({ ...row, k })).sort((a, b) => b.size - a.size);
  const free = new Set(Array.from({ length: Math.max(points.classes.length, points.clusters) }, (_, k) => k));
  for (const row of rows)
    if (row.class_number !== undefined && places[row.class_number] < 0) { places[row.class_number] = row.k; free.delete(row.k); }
  const left = [...free];
  points.places = places.map((place) => (place >= 0 ? place : left.shift()));
  return points.places;
}

/* 256 colours from dark blue to yellow that colour-blind readers can order (after cividis). */
const ramp = (() => {
  const stops = [[0, 34, 78], [43, 68, 110], [87, 93, 109], [124, 123, 120], [165, 155, 115], [210, 190, 94], [254, 232, 56]];
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (stops.length - 1), low = Math.min(stops.length - 2, Math.floor(at)), share = at - low;
    return stops[low].map((value, j) => Math.round((1 - share) * value + share * stops[low + 1][j]));
  });
})();

/* ---- text about points ---- */

/* The most frequent values of a list of points as "7: 120, 9: 3". */
function topCounts(list, of, name, most = 3) {
  const counts = new Map();
  for (const i of list) counts.set(of[i], (counts.get(of[i]) || 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]), rest = sorted.slice(most).reduce((sum, entry) => sum + entry[1], 0);
  return sorted.slice(0, most).map(([k, count]) => `${name(k)}: ${whole(count)}`).join(", ") + (rest ? `, others: ${whole(rest)}` : "");
}

/* The tooltip of point i of the sample. */
function pointTip(i) {
  const lines = element("div", {}, element("b", {}, `point ${whole(points.index[i])}`), element("br"));
  if (points.names) lines.append(points.names[i], element("br"));
  lines.append(`cluster ${points.after[i]}`);
  if (isChanged(i)) lines.append(` (${points.before[i]} before refinement)`);
  if (points.class) lines.append(element("br"), `class ${points.classes[points.class[i]]}${isError(i) ? ` (most of the cluster: ${clusterRows[points.after[i]].class})` : ""}`);
  const thumbs = points.thumbs;
  return thumbs && i < thumbs.count ? [image(thumbs, i), lines] : [lines];
}

/* The tooltip of points at one place. */
function groupTip(list) {
  if (list.length === 1) return pointTip(list[0]);
  const lines = element("div", {}, element("b", {}, `${whole(list.length)} points at one place`), element("br"), `cluster ${topCounts(list, points.after, String)}`);
  if (points.class) lines.append(element("br"), `class ${topCounts(list, points.class, (k) => points.classes[k])}`);
  const thumbs = points.thumbs, shown = thumbs ? Array.from(list).filter((i) => i < thumbs.count).slice(0, 3) : [];
  return [...shown.map((i) => image(thumbs, i)), lines];
}

function sampleNote() {
  return points.count < points.total ? `A random sample of ${whole(points.count)} of ${whole(points.total)} points is shown, with at least 8 per cluster.` : `All ${whole(points.total)} points are shown.`;
}

/* ---- legend ---- */

function swatchOf(paint, shape) {
  const mark = svg("path", { d: shapePath(shape, 5) }), show = () => mark.setAttribute("fill", paint());
  show();
  theme.listeners.push(show);
  return svg("svg", { class: "swatch", viewBox: "-7 -7 14 14", "aria-hidden": "true" }, mark);
}
const swatch = (k) => swatchOf(() => clusterColor(k), clusterShape(k));

/* Buttons that highlight a cluster or class, or the colours of a feature. It follows the colouring. */
function legend() {
  const root = element("div.legend", { role: "group", "aria-label": "Legend: click to highlight" });
  let by = null;
  const fill = () => {
    if (by === look.by) {
      if (typeof by !== "number") [...root.children].forEach((button, k) => button.setAttribute("aria-pressed", String(look.held === k)));
      return;
    }
    by = look.by;
    const shown = category();
    root.replaceChildren(...(shown.feature ? [featureKey(shown.feature)] : Array.from({ length: shown.count }, (_, k) => legendButton(shown, k))));
  };
  look.listeners.push(fill);
  fill();
  return root;
}

function legendButton(shown, k) {
  const names = look.by === "cluster" && clusterNames();
  const button = element("button", { type: "button", "aria-pressed": String(look.held === k) }, swatchOf(() => shown.color(k), shown.shape(k)),
    look.by === "class" ? `class ${shown.name(k)}` : shown.name(k));
  if (names && names[k] !== undefined) button.append(element("i", {}, `→ ${points.clusters > 16 ? "" : "class "}${names[k]}`));
  button.onpointerenter = (event) => { if (event.pointerType === "mouse") look.set({ hover: k }); };
  button.onpointerleave = () => look.set({ hover: -1 });
  button.onclick = () => look.set({ held: look.held === k ? -1 : k });
  return button;
}

function featureKey(feature) {
  const bar = element("canvas.ramp", { width: 256, height: 1, "aria-hidden": "true" }), pen = bar.getContext("2d"), line = pen.createImageData(256, 1);
  ramp.forEach((value, i) => line.data.set([...value, 255], 4 * i));
  pen.putImageData(line, 0, 0);
  const low = feature.least < feature.low ? "≤ " : "", high = feature.most > feature.high ? "≥ " : "";
  return element("div.rampkey", {}, element("b", {}, feature.name), element("span", {}, low + short(feature.low)), bar, element("span", {}, high + short(feature.high)));
}
