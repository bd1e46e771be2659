/* Below the picture: the selected points, search, colouring and files. */

/* {text: value} pairs as a labelled list to choose from. */
function chooser(label, options, value, change) {
  const select = element("select", {}, ...options.map(([text, name]) => element("option", { value: String(name) }, text)));
  select.value = String(value);
  select.onchange = () => change(select.value);
  return element("label.chooser", {}, label, select);
}

/* Colour by cluster, class or a feature. */
function colourChooser() {
  const options = [["cluster", "cluster"]], features = page.shared.features || [];
  if (points.class) options.push(["known class", "class"]);
  features.forEach((feature, i) => options.push([feature.name, `f${i}`]));
  if (options.length < 2) return null;
  const made = chooser("Colour", options, "cluster", (value) => look.set({ by: value[0] === "f" ? Number(value.slice(1)) : value, held: -1, hover: -1 }));
  const total = (findBlock("features") || { total: 0 }).total;
  if (features.length && features.length < total)
    made.querySelector("select").append(element("option", { disabled: "" }, `(the best ${features.length} of ${whole(total)} features)`));
  look.listeners.push(() => { made.querySelector("select").value = typeof look.by === "number" ? `f${look.by}` : look.by; });
  return made;
}

/* Which points stand out, and which labels are shown: final ones or those before the refinement. */
function pointChooser() {
  const options = [["all points", "all"]];
  let errors = 0, changed = 0;
  for (let i = 0; i < points.count; i++) { errors += isError(i); changed += isChanged(i); }
  if (errors) options.push([`errors (${whole(errors)})`, "errors"]);
  if (changed) options.push([`changed by refinement (${whole(changed)})`, "changed"], ["labels before refinement", "before"]);
  if (options.length < 2) return null;
  return chooser("Show", options, "all", (value) => {
    points.label = value === "before" ? points.before : points.after;
    look.version++;
    look.set({ only: value === "errors" || value === "changed" ? value : null });
    for (const listener of look.listeners) listener();
  });
}

/* Finds a point by its index or name and marks it in all plots. */
function searchField() {
  const input = element("input", { type: "search", "aria-label": points.names ? "Find a point by index or name" : "Find a point by index", placeholder: points.names ? "index or name" : "index" });
  const answer = element("span.answer", { role: "status" });
  const find = () => {
    const text = input.value.trim();
    let at = /^\d+$/.test(text) ? points.index.indexOf(Number(text)) : -1;
    if (at < 0 && text && points.names) at = points.names.findIndex((name) => name.toLowerCase().includes(text.toLowerCase()));
    look.set({ found: at });
    if (!text) answer.replaceChildren();
    else if (at >= 0) {
      answer.replaceChildren(...pointTip(at));
      for (const end of answer.querySelectorAll("br")) end.replaceWith(" · ");
    }
    else answer.replaceChildren(/^\d+$/.test(text) && Number(text) < points.total ? "not among the points shown" : "no such point");
  };
  input.oninput = find;
  return element("span.search", {}, element("label.chooser", {}, "Find point", input), answer);
}

/* The selected points: numbers per cluster and class, their indices. */
function selectionPanel() {
  const root = element("div.selection", { role: "status" });
  let shown = null;
  look.listeners.push(() => {
    if (shown === look.selection) return;
    shown = look.selection;
    root.replaceChildren();
    if (shown) root.append(...selectionParts(shown));
  });
  return root;
}

function selectionParts(mask) {
  const list = [];
  for (let i = 0; i < points.count; i++) if (mask[i]) list.push(i);
  const index = list.map((i) => points.index[i]).sort((a, b) => a - b), text = index.join(", ");
  const button = (label, act) => { const made = element("button.small", { type: "button" }, label); made.onclick = () => act(made); return made; };
  const lines = [element("div", {}, element("b", {}, `${plural(list.length, "point")} selected`), " ",
    button("Copy indices", (made) => copy(text).then(() => { made.textContent = "Copied"; })), " ",
    button("Save as CSV", () => download(fileName("-selection.csv"), labelsCsv(list), "text/csv")), " ", button("Clear", () => look.select(null)))];
  lines.push(element("div", {}, `cluster ${topCounts(list, points.after, String, 8)}`));
  if (points.class) lines.push(element("div", {}, `class ${topCounts(list, points.class, (k) => points.classes[k], 8)}`));
  lines.push(element("div.indices", {}, index.length > 400 ? `${index.slice(0, 400).join(", ")}, …` : text));
  return lines;
}

/* ---- files ---- */

const csvText = (text) => (/[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

function labelsCsv(list) {
  const head = ["index", ...(points.names ? ["name"] : []), "cluster", ...(points.class ? ["class"] : [])];
  const lines = list.map((i) => [points.index[i], ...(points.names ? [csvText(points.names[i])] : []), points.after[i],
    ...(points.class ? [csvText(points.classes[points.class[i]])] : [])].join(","));
  return `${head.join(",")}\n${lines.join("\n")}\n`;
}

const allPoints = () => Array.from({ length: points.count }, (_, i) => i).sort((a, b) => points.index[a] - points.index[b]);

/* The picture as SVG: the same marks as on the screen. */
function plotSvg(plot) {
  const size = plot.size, parts = [], number = (value) => value.toFixed(1), { node, key, count, faded, order, shown } = plot.built;
  for (const fade of [1, 0])
    for (const i of order) {
      if (faded[i] !== fade) continue;
      const x = plot.px[node[i]], y = plot.py[node[i]];
      if (x < -20 || y < -20 || x > size + 20 || y > size + 20) continue;
      const fill = shown.of ? shown.color(key[i]) : `rgb(${ramp[key[i]].join(",")})`, r = plot.radius(count[i]);
      const how = `fill="${fill}" fill-opacity="${fade ? 0.08 : count[i] > 1 ? 0.86 : 0.76}"`;
      if (!shown.of || shown.shape(key[i]) === "circle") parts.push(`<circle cx="${number(x)}" cy="${number(y)}" r="${r.toFixed(2)}" ${how}/>`);
      else parts.push(`<path transform="translate(${number(x)} ${number(y)})" d="${shapePath(shown.shape(key[i]), Number(r.toFixed(2)))}" ${how}/>`);
    }
  const escape = (text) => text.replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`);
  for (const name of plot.names())
    if (name.moved <= 26)
      parts.push(`<text x="${number(name.x)}" y="${number(name.y + 4)}" text-anchor="middle" font-family="sans-serif" font-size="12" font-weight="600" fill="${color("--text")}" stroke="${color("--back")}" stroke-width="3" paint-order="stroke">${escape(name.text)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="${size}" height="${size}"><title>${escape(page.title)}</title><rect width="${size}" height="${size}" fill="${color("--back")}"/>${parts.join("\n")}</svg>\n`;
}

function downloadMenu(plot) {
  const sampled = points.count < points.total;
  const item = (text, act) => { const made = element("button.link", { type: "button" }, text); made.onclick = act; return made; };
  return element("span.downloads", {}, "Download ",
    item(sampled ? "labels of these points" : "labels", () => download(fileName("-labels.csv"), labelsCsv(allPoints()), "text/csv")),
    item("PNG", () => plot.canvas.toBlob((blob) => download(fileName(".png"), blob))),
    item("SVG", () => download(fileName(".svg"), plotSvg(plot), "image/svg+xml")));
}
