/* A canvas whose pixels are computed here: 50,000 marks take a few milliseconds, which drawing them
 * one by one with the canvas functions does not. */

/* The pixels of a mark: their places relative to its centre and their coverage, 0 .. 256. */
const stamps = new Map();
function stamp(shape, r) {
  const size = Math.max(1, Math.round(2 * r)) / 2, key = `${shape} ${size}`;
  if (!stamps.has(key)) stamps.set(key, makeStamp(shape, size));
  return stamps.get(key);
}

function makeStamp(shape, r) {
  const half = Math.ceil(1.4 * r) + 1, side = 2 * half + 1, canvas = element("canvas", { width: side, height: side });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.translate(half + 0.5, half + 0.5);
  pen.fill(new Path2D(shapePath(shape, r)));
  const data = pen.getImageData(0, 0, side, side).data, dx = [], dy = [], cover = [];
  for (let i = 0; i < side * side; i++) {
    if (data[4 * i + 3] < 8) continue;
    dx.push((i % side) - half);
    dy.push(Math.floor(i / side) - half);
    cover.push(data[4 * i + 3] + 1);
  }
  return { half, dx: Int16Array.from(dx), dy: Int16Array.from(dy), cover: Int16Array.from(cover), width: 0, at: null };
}

/* "#rrggbb" or "rgb(r, g, b)" as [red, green, blue]. */
function rgb(text) {
  if (text[0] !== "#") return text.match(/[0-9.]+/g).slice(0, 3).map(Number);
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
}

class Raster {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d", { willReadFrequently: true });
  }

  resize(width, height) {
    this.canvas.width = width;
    this.canvas.height = height;
    this.image = this.pen.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  clear([r, g, b]) { this.pixels.fill(isLittle ? ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0 : ((r << 24) | (g << 16) | (b << 8) | 255) >>> 0); }

  /* Blends a mark at (x, y); alpha is 0 .. 256. */
  mark(mark, x, y, [r, g, b], alpha) {
    const { width, height } = this.canvas, pixels = this.pixels, { half, dx, dy, cover } = mark;
    const cx = Math.round(x - 0.5), cy = Math.round(y - 0.5);
    if (cx < -half || cy < -half || cx >= width + half || cy >= height + half) return;
    if (mark.width !== width) {
      mark.width = width;
      mark.at = Int32Array.from(dx, (step, i) => dy[i] * width + step);
    }
    const inside = cx >= half && cy >= half && cx + half < width && cy + half < height, centre = cy * width + cx, at = mark.at;
    const odd = isLittle ? (b << 16) | r : (r << 16) | b, even = g;
    for (let i = 0; i < cover.length; i++) {
      if (!inside && (cx + dx[i] < 0 || cx + dx[i] >= width || cy + dy[i] < 0 || cy + dy[i] >= height)) continue;
      const a = (cover[i] * alpha) >> 8, rest = 256 - a, p = centre + at[i], old = isLittle ? pixels[p] : pixels[p] >>> 8;
      const two = ((Math.imul(old & 0xff00ff, rest) + Math.imul(odd, a)) >>> 8) & 0xff00ff;
      const one = ((((old >>> 8) & 255) * rest + even * a) >>> 8) << 8;
      pixels[p] = isLittle ? (0xff000000 | two | one) >>> 0 : (((two | one) << 8) | 255) >>> 0;
    }
  }

  show() { this.pen.putImageData(this.image, 0, 0); }
}
