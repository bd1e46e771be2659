/* The number of clusters: the scores of every number that was tried. */

/* Numbers whose score is below the largest by more than `depth` are not shown: the few good ones
 * would all be at the top. All are shown if the chosen number is among those. */
const numberScores = [
  { member: "modularity", title: "Modularity Q", depth: 0.1 },
  { member: "divergence", title: "Divergence J" },
  { member: "relative_gap", title: "Relative eigengap" },
  { member: "stability", title: "Stability" },
  { member: "silhouette", title: "Silhouette" },
];

/* {list: [{n_clusters, ...}], n_clusters, runners_up: [...]}: one chart per score that at least three
 * entries have. */
blocks.numbers = (root, block) => {
  const list = [...block.list].sort((a, b) => a.n_clusters - b.n_clusters), grid = element("div.pair.wide");
  const marks = [{ x: block.n_clusters, label: `${block.n_clusters}, chosen`, strong: true },
    ...block.runners_up.map((c) => ({ x: c, label: String(c) }))];
  for (const { member, title, depth } of numberScores) {
    const scored = list.filter((entry) => typeof entry[member] === "number");
    const least = depth ? Math.max(...scored.map((entry) => entry[member])) - depth : -Infinity;
    const near = scored.filter((entry) => entry[member] >= least), isFar = (entry) => entry.n_clusters === block.n_clusters && entry[member] < least;
    const known = near.length < 3 || scored.some(isFar) ? scored : near;
    if (known.length < 3) continue;
    const series = [{ label: title, dots: true, x: known.map((entry) => entry.n_clusters), y: known.map((entry) => entry[member]) }];
    const inside = marks.filter((mark) => mark.x >= series[0].x[0] && mark.x <= series[0].x[known.length - 1]);
    grid.append(element("div", {}, element("h3", {}, title),
      lineChart({ title: `${title} against the number of clusters`, series, x: { label: "clusters", whole: true }, y: {}, marks: inside }),
      known.length < scored.length ? element("p.caption", {}, `Only numbers within ${depth} of the largest value are shown.`) : null));
  }
  if (!grid.children.length) return;
  root.append(grid);
  if (block.runners_up.length) root.append(element("p.caption", {}, "The chosen number is in bold; the other marks are the next best."));
};
