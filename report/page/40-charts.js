/* Line charts in SVG, with linear or logarithmic axes. */

/* Maps values to coordinates; ticks are round numbers. */
function scale(low, high, from, to, log) {
  if (log) { low = Math.log10(low); high = Math.log10(high); }
  if (!(high > low)) { low -= 0.5; high += 0.5; }
  const place = (value) => from + ((to - from) * ((log ? Math.log10(value) : value) - low)) / (high - low);
  place.value = (at) => { const v = low + ((high - low) * (at - from)) / (to - from); return log ? 10 ** v : v; };
  place.ticks = (count, isWhole) => (log ? logTicks(low, high, count) : plainTicks(low, high, count, isWhole));
  return place;
}

function plainTicks(low, high, count, isWhole) {
  const raw = Math.max((high - low) / Math.max(1, count), isWhole ? 1 : 0), base = 10 ** Math.floor(Math.log10(raw));
  const step = base * [1, 2, 5, 10].find((factor) => base * factor >= raw * 0.999);
  const ticks = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-9; v += step) ticks.push(Math.abs(v) < step / 1e6 ? 0 : v);
  return ticks.map((value) => ({ value, text: step >= 1 ? whole(value) : short(value, 6) }));
}

function logTicks(low, high, count) {
  if (high - low < 1.2) {
    const values = plainTicks(10 ** low, 10 ** high, count).filter((tick) => tick.value > 0);
    if (values.length > 1) return values;
  }
  const every = Math.max(1, Math.ceil((high - low) / count)), ticks = [];
  for (let e = Math.ceil(low - 1e-9); e <= high + 1e-9; e++)
    if (e % every === 0) ticks.push({ value: 10 ** e, text: e >= -3 && e <= 4 ? short(10 ** e) : `1e${e}` });
  return ticks;
}

/* The frame of a chart: {svg, x, y, box}. */
function frame(width, height, spec) {
  const box = { left: spec.left || 58, right: width - 12, top: spec.top || 12, bottom: height - (spec.bottom || 42) };
  const x = scale(spec.x.low, spec.x.high, box.left, box.right, spec.x.log);
  const y = scale(spec.y.low, spec.y.high, box.bottom, box.top, spec.y.log);
  const root = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spec.title || "" });
  for (const tick of spec.y.hidden ? [] : y.ticks(Math.max(2, (box.bottom - box.top) / 44))) {
    root.append(svg("path", { class: "grid", d: `M${box.left} ${y(tick.value)}H${box.right}` }));
    root.append(svg("text", { x: box.left - 7, y: y(tick.value) + 4, "text-anchor": "end" }, tick.text));
  }
  for (const tick of x.ticks(Math.max(2, (box.right - box.left) / 70), spec.x.whole))
    root.append(svg("path", { class: "axis", d: `M${x(tick.value)} ${box.bottom}v5` }),
      svg("text", { x: x(tick.value), y: box.bottom + 19, "text-anchor": "middle" }, tick.text));
  root.append(svg("path", { class: "axis", d: `M${box.left} ${box.bottom}H${box.right}` }));
  root.append(svg("text", { x: (box.left + box.right) / 2, y: height - 5, "text-anchor": "middle" }, spec.x.label));
  if (spec.y.label)
    root.append(svg("text", { transform: `translate(11 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, spec.y.label));
  return { svg: root, x, y, box };
}

/* Places the labels of marks above the chart, on as many lines as needed to avoid overlap. */
function layMarks(chart, marks) {
  const ends = [];
  return marks.filter((mark) => isFinite(mark.x)).sort((a, b) => a.x - b.x).map((mark) => {
    const at = chart.x(mark.x), width = 6.6 * mark.label.length;
    const right = at + width / 2 > chart.box.right, left = at - width / 2 < chart.box.left;
    const start = right ? chart.box.right - width : left ? chart.box.left : at - width / 2;
    let line = 0;
    while (ends[line] !== undefined && ends[line] > start - 8) line++;
    ends[line] = start + width;
    return { ...mark, at, line, middle: start + width / 2 };
  });
}

/* Vertical marks with labels. */
function drawMarks(chart, marks) {
  layMarks(chart, marks).forEach((mark) => {
    const y = chart.box.top - 8 - 15 * mark.line;
    chart.svg.append(svg("path", { class: mark.strong ? "mark strong" : "mark", d: `M${mark.at} ${chart.box.bottom}V${y + 4}` }));
    chart.svg.append(svg("text", { x: mark.middle, y, "text-anchor": "middle", class: mark.strong ? "strong-text" : "" }, mark.label));
  });
}

function seriesPath(chart, xs, ys, step) {
  let d = "", open = false, last = 0;
  xs.forEach((x, i) => {
    if (ys[i] === null || !isFinite(chart.y(ys[i]))) { open = false; return; }
    const px = chart.x(x).toFixed(2), py = chart.y(ys[i]).toFixed(2);
    if (!open) d += `M${px} ${py}`;
    else d += step ? `H${px}V${py}` : `L${px} ${py}`;
    open = true;
    last = py;
  });
  return d;
}

const seriesColors = ["var(--accent)", "var(--bad)", "#8d7ae6", "#c79021", "#3d9b5a", "var(--soft)"];

/* {title, series: [{label, x, y, color, step, dash, dots}], x: {label, log}, y: {label, log}, marks} */
function lineChart(block) {
  const root = element("div");
  const xs = block.series.flatMap((s) => s.x).filter((v) => v !== null && (!block.x.log || v > 0));
  const ys = block.series.flatMap((s) => s.y).filter((v) => v !== null && (!block.y.log || v > 0));
  const xSpan = [Math.min(...xs), Math.max(...xs)];
  let ySpan = [Math.min(...ys), Math.max(...ys)];
  if (!block.y.log) { const pad = 0.05 * (ySpan[1] - ySpan[0]); ySpan = [ySpan[0] - pad, ySpan[1] + pad]; }
  else ySpan = [ySpan[0] / 1.3, ySpan[1] * 1.3];
  onWidth(root, (width) => {
    const height = Math.round(Math.min(290, Math.max(220, width * 0.56)));
    const chart = frame(width, height, {
      title: block.title, top: block.marks && block.marks.length ? 40 : 12,
      x: { ...block.x, low: xSpan[0], high: xSpan[1] }, y: { ...block.y, low: ySpan[0], high: ySpan[1] },
    });
    drawMarks(chart, block.marks || []);
    block.series.forEach((s, k) => {
      chart.svg.append(svg("path", { class: "series", style: `stroke:${s.color || seriesColors[k % 6]}`, "stroke-dasharray": s.dash || "none", d: seriesPath(chart, s.x, s.y, s.step) }));
      if (s.dots)
        s.x.forEach((x, i) => chart.svg.append(svg("circle", { cx: chart.x(x), cy: chart.y(s.y[i]), r: 2.6, style: `fill:${s.color || seriesColors[k % 6]}` })));
    });
    hoverLines(chart, block);
    root.replaceChildren(chart.svg);
  });
  return root;
}

function hoverLines(chart, block) {
  const cursor = svg("path", { class: "grid", visibility: "hidden" });
  chart.svg.append(cursor);
  chart.svg.onpointermove = chart.svg.onpointerdown = (event) => {
    const rect = chart.svg.getBoundingClientRect(), ratio = chart.svg.viewBox.baseVal.width / rect.width;
    const at = chart.x.value((event.clientX - rect.left) * ratio), first = block.series[0];
    let best = 0;
    first.x.forEach((x, i) => { if (Math.abs(chart.x(x) - chart.x(at)) < Math.abs(chart.x(first.x[best]) - chart.x(at))) best = i; });
    cursor.setAttribute("d", `M${chart.x(first.x[best])} ${chart.box.bottom}V${chart.box.top}`);
    cursor.setAttribute("visibility", "visible");
    const text = element("div", {}, `${block.x.label} ${short(first.x[best])}`);
    for (const s of block.series) text.append(element("br"), `${s.label}: ${short(s.y[s.x.indexOf(first.x[best])], 6)}`);
    tip.show(event.clientX, event.clientY, text);
  };
  chart.svg.style.touchAction = "pan-y";
  chart.svg.onpointerleave = () => { cursor.setAttribute("visibility", "hidden"); tip.hide(); };
}

function lineKey(series) {
  return element("div.key", {}, ...series.map((s, k) =>
    element("span", {}, element("i", { style: `border-top-color:${s.color || seriesColors[k % 6]};border-top-style:${s.dash ? "dashed" : "solid"}` }), s.label)));
}

blocks.lines = (root, block) => {
  if (block.title) root.append(element("h3", {}, block.title));
  root.append(lineChart(block), block.series.length > 1 ? lineKey(block.series) : "");
  if (block.caption) root.append(element("p.caption", {}, block.caption));
};
