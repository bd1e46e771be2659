/* Colours and shapes of clusters. Ten colours that colour-blind readers can distinguish (Paul Tol's
 * muted scheme and a grey, lighter on a dark page); from the eleventh cluster on the shape changes
 * as well. */
const palette = {
  light: ["#cc6677", "#332288", "#117733", "#d9a521", "#4aa8d8", "#882255", "#2f9e8f", "#8a8a1f", "#aa4499", "#7d858f"],
  dark: ["#ea8794", "#9b8ff2", "#43b56f", "#ecd06a", "#88ccee", "#d9609a", "#4fc9b5", "#c3c34f", "#d783cc", "#aeb6c0"],
};
const shapes = ["circle", "square", "triangle", "diamond", "cross", "ring", "down", "bar"];
const clusterColor = (k) => palette[theme.dark() ? "dark" : "light"][k % 10];
const clusterShape = (k) => shapes[Math.floor(k / 10) % shapes.length];

/* The outline of a shape of radius r around the origin, as SVG path data. */
function shapePath(shape, r) {
  const a = r * 0.9, t = r * 0.4;
  switch (shape) {
    case "square": return `M${-a} ${-a}H${a}V${a}H${-a}Z`;
    case "triangle": return `M0 ${-1.25 * r}L${1.15 * r} ${0.8 * r}H${-1.15 * r}Z`;
    case "down": return `M0 ${1.25 * r}L${1.15 * r} ${-0.8 * r}H${-1.15 * r}Z`;
    case "diamond": return `M0 ${-1.35 * r}L${1.35 * r} 0L0 ${1.35 * r}L${-1.35 * r} 0Z`;
    case "cross": return `M${-t} ${-1.2 * r}H${t}V${-t}H${1.2 * r}V${t}H${t}V${1.2 * r}H${-t}V${t}H${-1.2 * r}V${-t}H${-t}Z`;
    case "bar": return `M${-1.3 * r} ${-t}H${1.3 * r}V${t}H${-1.3 * r}Z`;
    case "ring": return `M${-1.1 * r} 0A${1.1 * r} ${1.1 * r} 0 1 1 ${1.1 * r} 0A${1.1 * r} ${1.1 * r} 0 1 1 ${-1.1 * r} 0ZM${-t} 0A${t} ${t} 0 1 0 ${t} 0A${t} ${t} 0 1 0 ${-t} 0Z`;
    default: return `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`;
  }
}

/* ---- images ---- */

/* Image i of a block {height, width, data} as a canvas; the data are decoded once. */
function image(block, i) {
  block.bytes = block.bytes || bytes(block.data);
  const { height, width, channels } = block, size = height * width;
  const canvas = element("canvas.thumb", { width, height });
  const pen = canvas.getContext("2d"), picture = pen.createImageData(width, height);
  for (let p = 0; p < size; p++) {
    for (let c = 0; c < 3; c++) picture.data[4 * p + c] = block.bytes[(i * size + p) * channels + (channels === 3 ? c : 0)];
    picture.data[4 * p + 3] = 255;
  }
  pen.putImageData(picture, 0, 0);
  if (Math.max(height, width) > 20) canvas.style.imageRendering = "auto";
  return canvas;
}

