/* Blocks of a clustering. */

/* The certificate of the shrink step as a phrase. */
function certificate(shrink) {
  if (shrink.gap <= 1e-12) return "proven optimal";
  if (shrink.gap >= 1) return "no useful bound was found";
  return `proven within ${bound(shrink.gap)} of the optimum`;
}

/* A gap as a percentage of two digits, rounded up. */
function bound(gap) {
  if (!(gap > 0)) return "0 %";
  const unit = 10 ** (Math.floor(Math.log10(gap)) - 1);
  return percent(Math.ceil((gap / unit) * (1 - 1e-12)) * unit);
}

function scoreFacts(report) {
  const made = [], s = report.scores;
  if (s)
    made.push({ value: s.acc.toFixed(3), label: "accuracy", note: "clusters mapped one to one to classes" },
      { value: s.nmi.toFixed(3), label: "NMI", note: `ARI ${s.ari.toFixed(3)}, purity ${s.purity.toFixed(3)}` });
  return made;
}

blocks.summary = (root, block) => {
  const r = block.report, list = [{ value: whole(r.n_clusters), label: "clusters", note: sizesNote(r.sizes) }, ...scoreFacts(r)];
  if (r.shrink) list.push({ wide: true, value: certificate(r.shrink), label: shrinkLabel(r), note: `objective ${short(r.shrink.objective, 6)}, lower bound ${short(r.shrink.dual, 6)}` });
  else if (r.embed) list.push({ wide: true, value: verified(r.embed), label: "spectral embedding", note: `largest residual ${short(r.embed.residual, 2)}` });
  if (r.internal) list.push({ value: short(r.internal.silhouette, 3), label: "silhouette", note: r.internal.stability !== null ? `stability ${short(r.internal.stability, 3)}${r.refine && r.refine.trials ? " before refinement" : ""}` : "" });
  list.push({ value: seconds(r.seconds.total), label: "total time", note: `peak memory ${Math.round(r.peak_bytes / 1048576)} MB` });
  pictureBlock(root, facts(list), [stages(r, block.method_title, block.start)]);
};

/* What the certificate is about: the shrink step, never the labels. */
function shrinkLabel(r) {
  if (r.shrink.guarded) return "shrink step, discarded: the labels come from the embedding";
  if (r.refine && r.refine.from && !refinedOnGraph(r)) return "shrink step; the labels come from K-means instead";
  return refinedOnGraph(r) ? "shrink step; the labels were refined on the graph afterwards" : "shrink step";
}

const refinedOnGraph = (r) => Boolean(r.refine && r.refine.from === "graph");

/* `start` is the start that the labels come from, in words. */
function refineText(r, start) {
  const f = r.refine, changed = `${plural(f.n_changed, "label")} changed (${percent(f.n_changed / r.n)}).`;
  if (f.skipped) return `None: ${f.skipped}.`;
  if (f.from !== "graph") return `The labels come from K-means on ${f.from === "kmeans" ? "the points" : "commute rows"}, not from the refinement; ${changed}`;
  if (!f.trials.length) return `None: there is nothing to refine.`;
  const kept = f.start === f.trials[0].name;
  return `Points moved to the clusters of their neighbours in the graph, from ${plural(f.trials.length, "start")}; ${kept ? "none was clearly better than the method's own" : `the labels come from ${start}`}; ${changed}`;
}

const sizesNote = (sizes) => (sizes.length < 2 ? "" : Math.min(...sizes) === Math.max(...sizes) ? `${whole(sizes[0])} points each` : `${whole(Math.min(...sizes))} to ${whole(Math.max(...sizes))} points each`);

function verified(embed) {
  const how = { inertia: "proven complete: no eigenvector is missing", probe: "random probes found no missing eigenvector" };
  return how[embed.verified] || "eigenvectors computed";
}

/* What was done: one line per stage. */
function stages(r, title, start) {
  const o = r.options, lines = [];
  const add = (name, text) => lines.push(element("li", {}, element("b", {}, name), element("span", {}, text)));
  add("Method", `${title} (${r.method}), seed ${o.seed}.`);
  add("Points", `${plural(r.n, "point")}${r.d > 0 ? ` with ${plural(r.d, "feature")}` : ""}${r.n_classes ? `, ${plural(r.n_classes, "known class", "known classes")} (${r.n_clusters_from === "classes" ? "used for the number of clusters and for scoring" : "used for scoring only"})` : ""}; ${prepared(r)}.`);
  const columns = r.columns ? columnsText(r.columns) : "";
  if (columns) add("Columns", columns);
  if (r.reduce) add("Reduction", `To ${plural(r.reduce.dim, "dimension")}${r.reduce.variance_kept < 1 ? `, keeping ${percent(r.reduce.variance_kept)} of the variance` : ""}.`);
  if (r.graph) add("Graph A", graphText(r));
  if (r.embed) add("Embedding F", embedText(r));
  if (r.shrink) add("Shrinking G", shrinkText(r));
  if (r.kmeans && r.kmeans.inertia !== null) add("K-means", `Best of ${plural(r.kmeans.restarts, "restart")}, inertia ${short(r.kmeans.inertia, 5)}.`);
  if (r.refine) add("Refinement", refineText(r, start));
  if (r.decision) add("Decision", sentence(r.decision));
  return element("ol.stages", {}, ...lines);
}

/* A phrase of the library as a sentence. */
const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

/* The columns of a table that are not features. */
function columnsText(columns) {
  const named = (role) => columns.map((c, i) => ({ ...c, name: c.name || `column ${i + 1}` })).filter((c) => c.role === role);
  const listed = (list) => list.map((c) => `${c.name} (${c.reason})`).join(", ");
  const labels = named("label"), ignored = named("ignored"), lines = [];
  if (labels.length) lines.push(`Classes: ${listed(labels)}.`);
  if (ignored.length) lines.push(`Ignored: ${listed(ignored)}.`);
  return lines.join(" ");
}

function prepared(r) {
  const rule = r.prepare ? r.prepare.rule : "none";
  const how = { none: "not transformed", standard: "columns scaled to mean 0 and variance 1", clip: "columns scaled to mean 0 and variance 1, values limited to ±2", ranks: "values replaced by their ranks in the column", unit: "rows scaled to length 1", "center-rows": "rows centred and scaled to length 1", "center-columns": "columns centred, rows scaled to length 1" };
  const chosen = r.options.prepare === "auto" ? " (chosen without labels)" : "";
  if (how[rule]) return how[rule] + chosen;
  const [name, dim] = rule.split(":");
  return `${name === "whiten" ? "whitened" : "projected"} to ${dim} principal components (${percent(r.prepare.variance_kept)} of the variance), rows scaled to length 1${chosen}`;
}

function graphText(r) {
  const g = r.graph, o = r.options;
  let text = o.n_neighbors ? `Each point is connected to its ${o.n_neighbors} nearest neighbours: ` : "";
  text += `${plural(g.edges, "edge")}, ${g.components === 1 ? "connected" : plural(g.components, "component")}`;
  if (g.bridges > 0) text += ` after adding ${plural(g.bridges, "bridge")} between ${plural(g.components_before, "component")}`;
  if (g.recall_low < 1) text += `; approximate neighbours, recall ${g.recall.toFixed(4)} (95 % interval ${g.recall_low.toFixed(4)} to ${g.recall_high.toFixed(4)})`;
  return text + ".";
}

function embedText(r) {
  const e = r.embed;
  let text = `The ${plural(r.n_clusters, "leading eigenvector")} of the normalised graph, residual ${short(e.residual, 2)}`;
  if (e.gap !== null && e.gap !== undefined) text += `, eigengap ${short(e.gap, 3)}`;
  if (e.verified === "inertia") text += "; proven complete by an inertia count";
  if (e.verified === "probe") text += "; checked for completeness by random probes";
  return text + (e.stop === "max_iter" ? "; stopped at the iteration limit." : ".");
}

function shrinkText(r) {
  const s = r.shrink;
  let text = `gamma = ${short(s.gamma, 5)}${r.options.gamma === "auto" ? " (automatic)" : ""}: ${plural(r.n, "point")} fused into ${plural(s.groups, "group")}, ${certificate(s)} after ${plural(s.n_iter, "iteration")}`;
  if (s.stop === "max_iter") text += " (the iteration limit)";
  if (s.stop === "stalled") text += " (no further progress)";
  if (s.stop === "rounding") text += " (the limit of double precision)";
  return text + (s.guarded ? ". It unbalanced the cluster sizes and was discarded: the labels come from the embedding F." : ".");
}

/* ---- clusters ---- */

blocks.clusters = (root, block) => {
  const most = Math.max(...block.rows.map((row) => row.size), 1), head = element("tr");
  const add = (label, number) => head.append(element(number ? "th.number" : "th", { scope: "col" }, label));
  add("cluster");
  if (block.images) add("medoid");
  add("size", true);
  head.append(element("th.size", { "aria-label": "size" }));
  if (block.classes) { add("class"); add("share", true); }
  if (!block.images) add("medoid", true);
  if (typicalFeatures(0)) add("typical");
  const body = element("tbody", {}, ...block.rows.map((row) => clusterRow(row, block, most)));
  const made = element("div.scroll", {}, element(block.rows.length > 16 ? "table.clusters.full.many" : "table.clusters.full", {}, element("thead", {}, head), body));
  root.append(block.rows.length > 20 ? fold(`All ${whole(block.rows.length)} clusters`, [made]) : made, element("p.caption", {}, clusterCaption(block)));
};

function clusterRow(row, block, most) {
  const bar = element("span.bar", { style: `width:${(100 * row.size) / most}%` });
  const paint = () => { bar.style.background = clusterColor(row.cluster); };
  paint();
  theme.listeners.push(paint);
  const line = element("tr", {}, element("td", {}, swatch(row.cluster), String(row.cluster)));
  if (block.images) line.append(element("td", {}, medoidImage(row)));
  line.append(element("td.number", {}, whole(row.size)), element("td.size", {}, bar));
  if (block.classes)
    line.append(element("td", {}, row.class === undefined ? "–" : row.class), element("td.number", {}, row.share === undefined ? "–" : `${(100 * row.share).toFixed(1)} %`));
  if (!block.images) line.append(element("td.number", {}, row.medoid === null ? "–" : `point ${whole(row.medoid)}`));
  const typical = typicalFeatures(row.cluster);
  if (typical) line.append(element("td.meaning", {}, typical));
  return line;
}

/* The images of the medoids are in the sheet, which is a later block of the page. */
function medoidImage(row) {
  for (const section of page.sections)
    for (const sheet of section.blocks) {
      if (sheet.kind !== "sheet") continue;
      let at = 0;
      for (const other of sheet.rows) {
        if (other.cluster === row.cluster && other.index[0] === row.medoid)
          return Object.assign(image(sheet, at), { ariaLabel: `point ${row.medoid}` });
        at += other.index.length;
      }
    }
  return row.medoid === null ? "–" : whole(row.medoid);
}

function clusterCaption(block) {
  let text = "The medoid is the point nearest to the centre of its cluster";
  text += block.fused ? "; among points that were fused, the one nearest to their mean." : ".";
  if (block.classes) text += " Class is the most frequent class in the cluster, share the fraction of its points in that class.";
  return text;
}

/* ---- confusion ---- */

blocks.confusion = (root, block) => {
  const dense = block.clusters.length > 30, heads = element("tr", {}, element("th", { scope: "col" }, dense ? "" : "class"));
  for (const k of block.clusters) heads.append(element("th", { scope: "col" }, dense ? "" : swatch(k), dense ? "" : String(k)));
  if (!dense) heads.append(element("th", { scope: "col" }, "recall"));
  const body = block.classes.map((name, i) => confusionRow(block, i, name, dense));
  root.append(element("div.scroll", {}, element(dense ? "table.confusion.dense" : "table.confusion", { style: `--cell:${Math.max(8, Math.min(17, Math.floor(900 / block.clusters.length)))}px` }, element("thead", {}, heads), element("tbody", {}, ...body))));
  root.append(element("p.caption", {}, "Rows are known classes, columns are clusters, ordered so that matched pairs (outlined) are on the diagonal. Cells show numbers of points, their shade the fraction of the class. Points outside the outlined cells are the errors of the accuracy."));
};

/* Shades a cell by a share, 0 .. 1. Middle shades are left out: neither dark nor light text is
 * readable on them. */
function heat(cell, share, from) {
  const hot = share > from;
  cell.style.setProperty("--heat", `${Math.round(hot ? 90 + (10 * (share - from)) / (1 - from) : (44 * share) / from)}%`);
  if (hot) cell.classList.add("hot");
}

function confusionRow(block, i, name, dense) {
  const row = block.counts[i], total = row.reduce((a, b) => a + b, 0) || 1;
  const line = element("tr", {}, element("th", { scope: "row", title: name }, name));
  row.forEach((count, j) => {
    const share = count / total, matched = i === j;
    const cell = element("td", { "data-tip": `class ${name}, cluster ${block.clusters[j]}: ${whole(count)} of ${whole(total)}` }, dense ? "" : count === 0 ? "·" : whole(count));
    heat(cell, share, 0.6);
    if (count === 0) cell.classList.add("zero");
    if (matched) cell.classList.add("match");
    line.append(cell);
  });
  if (!dense) line.append(element("td.zero", { style: "background:none" }, i < row.length ? `${((100 * row[i]) / total).toFixed(1)} %` : "–"));
  return line;
}

/* ---- images ---- */

blocks.sheet = (root, block) => {
  const made = element(block.rows.length > 12 && block.rows.every((row) => row.index.length < 10) ? "div.sheet.two" : "div.sheet");
  let at = 0;
  for (const row of block.rows) {
    const images = element("div.images");
    row.index.forEach((index, i) => {
      const canvas = image(block, at++);
      if (i === 0 && block.medoids) canvas.classList.add("medoid");
      if (row.odd[i]) canvas.classList.add("odd");
      canvas.dataset.tip = `point ${index}${points.classes && row.class.length ? `, class ${points.classes[row.class[i]]}` : ""}`;
      images.append(canvas);
    });
    const names = clusterNames();
    made.append(element("div.row", {}, element("div", {}, swatch(row.cluster), String(row.cluster), names && names[row.cluster] !== undefined && element("small", {}, `→ class ${names[row.cluster]}`)), images));
  }
  root.append(made);
  let text = block.medoids ? "The framed first image of each row is the medoid; the others are chosen at random." : "Images chosen at random.";
  if (block.rows.some((row) => row.odd.some((odd) => odd))) text += " A red frame marks a point whose class is not the most frequent one of its cluster.";
  if (block.rows.length < points.clusters) text += ` The first ${block.rows.length} of ${points.clusters} clusters are shown.`;
  root.append(element("p.caption", {}, text));
};

/* ---- spectrum ---- */

blocks.spectrum = (root, block) => {
  const values = block.eigenvalues.filter((v) => v !== null), c = block.n_clusters, holder = element("div");
  const gaps = block.relative_gaps || [], gap = gaps[c - 1] === undefined ? null : gaps[c - 1];
  root.append(holder);
  onWidth(holder, (width) => {
    const high = Math.max(...values) * 1.06 || 1;
    const chart = frame(width, Math.min(300, Math.max(230, width * 0.4)), {
      title: "Eigenvalues", top: 30, x: { label: "k", whole: true, low: 0.5, high: values.length + 0.5 }, y: { label: "eigenvalue", low: 0, high },
    });
    if (gap !== null) {
      const left = chart.x(c), right = chart.x(c + 1), y1 = chart.y(values[c - 1]), y2 = chart.y(values[c]);
      chart.svg.append(svg("rect", { x: left, width: right - left, y: Math.min(y1, y2), height: Math.abs(y1 - y2), style: "fill:var(--bad)", "fill-opacity": 0.16 }));
      drawMarks(chart, [{ x: c + 0.5, label: `relative gap ${gap.toFixed(2)}`, strong: true }]);
    }
    values.forEach((value, k) => {
      const x = chart.x(k + 1), y = chart.y(value), mark = svg("circle", { cx: x, cy: y, r: values.length > 60 ? 2.5 : 4, style: `fill:${k < c ? "var(--accent)" : "var(--faint)"}` });
      mark.setAttribute("data-tip", `eigenvalue ${k + 1}: ${short(value, 5)}`);
      chart.svg.append(svg("path", { class: "stem", d: `M${x} ${chart.box.bottom}V${y}` }), mark);
    });
    holder.replaceChildren(chart.svg);
  });
  root.append(element("p.caption", {}, spectrumCaption(gaps, c, gap, block)));
};

/* The relative gaps come from the library, which chooses the number of clusters by them. */
function spectrumCaption(gaps, c, gap, { choice, chosen_by }) {
  let text = `The smallest eigenvalues of the normalised Laplacian. The first ${c} (coloured) belong to the embedding. Well-separated clusters show one eigenvalue near zero per cluster, then a wide gap.`;
  const best = choice && choice[0];
  const byGap = chosen_by === undefined ? best && best.relative_gap !== undefined : chosen_by === "eigengap";
  if (best && byGap) {
    text += ` ${c} was chosen by the relative eigengap (${best.relative_gap.toFixed(2)})`;
    if (best.small_components > 0) text += `, including ${plural(best.small_components, "small component")}`;
    return text + (choice.length > 1 ? `; next best: ${choice.slice(1).map((other) => `${other.n_clusters} (${other.relative_gap.toFixed(2)})`).join(", ")}.` : ".");
  }
  if (gap === null) return text;
  const widest = gaps.reduce((most, value, k) => (value !== null && (most < 0 || value > gaps[most]) ? k : most), -1) + 1;
  return text + ` The relative gap after ${c} is ${gap.toFixed(2)}${widest === c ? ", the widest." : `; the widest, ${gaps[widest - 1].toFixed(2)}, is after ${widest}.`}`;
}

/* ---- convergence ---- */

blocks.convergence = (root, block) => {
  const steps = block.objective.map((_, i) => i + 1);
  const gap = block.objective.map((value, i) => (value > 0 && block.dual[i] !== null ? Math.max((value - block.dual[i]) / value, 1e-16) : null));
  const both = [{ label: "objective", x: steps, y: block.objective }, { label: "proven lower bound", x: steps, y: block.dual.map((v) => (v > 0 ? v : null)), dash: "5 4" }];
  const log = Math.max(...block.objective) > 20 * Math.min(...both.flatMap((s) => s.y).filter((v) => v > 0));
  const bounds = [{ label: "relative gap", x: steps, y: gap }];
  if (block.target > 0) bounds.push({ label: `target: ${percent(block.target)}`, x: [1, steps.length], y: [block.target, block.target], color: "var(--soft)", dash: "3 4" });
  root.append(element("div.pair", {},
    element("div", {}, element("h3", {}, "Objective and bound"), lineChart({ title: "Objective and lower bound", series: both, x: { label: "iteration", whole: true }, y: { log } }), lineKey(both)),
    element("div", {}, element("h3", {}, "Gap"), lineChart({ title: "Relative gap", series: bounds, x: { label: "iteration", whole: true }, y: { log: true } }), lineKey(bounds))));
  root.append(element("p.caption", {}, "The best objective so far and a proven lower bound of the optimum, after each iteration. Their relative difference is the gap: the problem is solved where the two meet."));
};
