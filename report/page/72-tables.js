/* Blocks of the pages of experiments: heat maps, charts of grids, tables side by side, folded
 * tables, figures. */

/* ---- methods by data sets ---- */

/* {title, columns, names, rows}: a cell is {value, text, note, strong} or null. The shade is the
 * position of the value between the smallest and the largest of the map; it stays light enough for
 * the text. */
blocks.heat = (root, block) => {
  const values = block.rows.flat().filter((cell) => cell !== null).map((cell) => cell.value);
  const low = Math.min(...values), high = Math.max(...values), most = 45;
  const shade = (value) => `--heat:${(high > low ? (most * (value - low)) / (high - low) : most).toFixed(1)}%`;
  const line = (name, i) => element("tr", {}, element("th", { scope: "row" }, name), ...block.rows[i].map((cell) =>
    cell === null ? element("td.none", {}, "–") : element("td", { style: shade(cell.value), "data-tip": cell.note }, element(cell.strong ? "b" : "span", {}, cell.text))));
  const made = element("table.scores", {}, element("caption", {}, block.title),
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "method"), ...block.columns.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, ...block.names.map(line)));
  const holder = element("div", {}, element("div.scroll", {}, made));
  if (values.length) holder.append(element("div.scale", { role: "img", "aria-label": `colour scale from ${low} to ${high}` }, element("span", {}, low.toFixed(1)), element("i"), element("span", {}, high.toFixed(1))));
  /* Maps that follow each other are side by side where there is room. */
  if (!root.lastElementChild.matches(".maps")) root.append(element("div.maps"));
  root.lastElementChild.append(holder);
};

/* ---- charts of grids ---- */

/* Beyond six series the colours repeat, with dashes. */
blocks.charts = (root, block) => {
  const grid = element("div.pair.wide");
  root.append(grid);
  for (const chart of block.charts) {
    chart.series.forEach((series, k) => { if (k >= 6) series.dash = k >= 12 ? "2 3" : "6 4"; });
    const panel = element("div");
    grid.append(panel);
    blocks.lines(panel, chart);
    if (chart.series.length === 1) panel.append(element("div.key", {}, chart.series[0].label));
  }
};

/* ---- tables ---- */

/* {tables: [{title, columns, rows}]}: side by side where there is room, else below each other. */
blocks.beside = (root, block) => {
  const grid = element("div.beside");
  for (const part of block.tables) {
    const holder = element("div", {}, element("h3", {}, part.title), table(part));
    grid.append(holder);
  }
  root.append(grid);
};

/* {label, columns, rows}: a table that is drawn when it is unfolded. */
blocks.folded = (root, block) => {
  const made = element("details.folded", {}, element("summary", {}, block.label));
  const unfold = () => { if (made.children.length === 1) made.append(table(block)); };
  made.addEventListener("toggle", () => { if (made.open) unfold(); });
  addEventListener("beforeprint", unfold);
  folds(root, block).append(made);
};

/* Where a folded table of the section goes: many of them are folded together. */
function folds(root, block) {
  const all = page.sections.find((section) => section.blocks.includes(block)).blocks.filter((other) => other.kind === "folded");
  if (all.length <= 16) return root;
  if (all[0] === block) root.append(fold(`All ${all.length} tables`, [element("div")]));
  return root.querySelector("details > div");
}

/* ---- figures ---- */

/* [hue, saturation, lightness] of "rgb(...)", numbers or percentages, each 0 .. 1. */
function figureHsl(text) {
  const [r, g, b] = text.match(/[0-9.]+%?/g).map((part) => parseFloat(part) / (part.endsWith("%") ? 100 : 255));
  const high = Math.max(r, g, b), low = Math.min(r, g, b), spread = high - low, l = (high + low) / 2;
  if (spread === 0) return [0, 0, l];
  const hue = high === r ? ((g - b) / spread + 6) % 6 : high === g ? (b - r) / spread + 2 : (r - g) / spread + 4;
  return [hue / 6, spread / (1 - Math.abs(2 * l - 1)), l];
}

/* A colour of a figure on white, for the dark page: white becomes the background and black the text,
 * and colours become light enough to be seen. */
function darkened(text) {
  const [h, s, l] = figureHsl(text);
  if (s < 0.12) return `color-mix(in srgb, var(--back) ${(100 * l).toFixed(0)}%, var(--text))`;
  const light = l > 0.85 ? 1 - l + 0.1 : Math.max(l, 0.66);
  return `hsl(${(360 * h).toFixed(0)} ${(100 * Math.min(s, 0.75)).toFixed(0)}% ${(100 * light).toFixed(0)}%)`;
}

blocks.figure = (root, block) => {
  const holder = Object.assign(element("div.figure", { tabindex: 0 }), { innerHTML: block.svg }), painted = [];
  /* Versions of cairo differ in whether colours are attributes or styles. */
  for (const part of holder.querySelectorAll("svg *"))
    for (const name of ["fill", "stroke"]) {
      const text = part.style[name] || part.getAttribute(name) || "";
      if (text.startsWith("rgb(")) painted.push({ part, name, text });
    }
  const paint = () => painted.forEach(({ part, name, text }) => { part.style[name] = theme.dark() ? darkened(text) : text; });
  theme.listeners.push(paint);
  paint();
  root.append(holder);
  if (block.caption) root.append(element("p.caption", {}, block.caption));
};
