/* Helpers for the other files: elements, number formats, decoding, themes, the tooltip. */
const page = JSON.parse(document.getElementById("data").textContent);
const points = page.shared.points;

/* A block of kind k is drawn by blocks[k](root, block). */
const blocks = {};

/* element("p.lead", {title: "..."}, child, "text", ...) */
function element(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/* ---- numbers ---- */

const whole = (value) => Math.round(value).toLocaleString("en-US");
const plural = (count, one, many) => `${whole(count)} ${count === 1 ? one : many || one + "s"}`;

/* A number with the given significant digits, without trailing zeros; exponents only where needed. */
function short(value, digits = 4) {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-3) return value.toExponential(Math.min(digits - 1, 2)).replace(/\.?0*e\+?/, "e");
  if (Number.isInteger(value) || size >= 10 ** (digits - 1)) return whole(value);
  return String(Number(value.toPrecision(digits)));
}

/* A percentage with two significant digits. */
function percent(share) {
  const value = 100 * share;
  if (!(value > 0)) return "0 %";
  if (value < 1e-6) return "0.000001 %"; /* rounding error; a bound may be rounded up */
  const digits = Math.max(value >= 10 ? 1 : 0, 1 - Math.floor(Math.log10(value)));
  return `${Number(value.toFixed(digits)).toFixed(digits).replace(/\.?0+$/, "")} %`;
}

const seconds = (value) => (value < 0.0995 ? `${Math.max(1, Math.round(1000 * value))} ms` : value < 60 ? `${value.toFixed(value < 10 ? 2 : 1)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`);

/* ---- bytes ---- */

function bytes(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const made = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) made[i] = raw.charCodeAt(i);
  return made;
}

/* Numbers are stored little-endian; nearly all machines can use them as they are. */
const isLittle = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function uint16(text) {
  const raw = bytes(text);
  if (isLittle) return new Uint16Array(raw.buffer, 0, raw.length >> 1);
  return Uint16Array.from({ length: raw.length >> 1 }, (_, i) => raw[2 * i] | (raw[2 * i + 1] << 8));
}

function int32(text) {
  const raw = bytes(text), view = new DataView(raw.buffer);
  if (isLittle) return new Int32Array(raw.buffer, 0, raw.length >> 2);
  return Int32Array.from({ length: raw.length >> 2 }, (_, i) => view.getInt32(4 * i, true));
}

/* The first block of a kind, or null. */
function findBlock(kind) {
  for (const section of page.sections) for (const block of section.blocks) if (block.kind === kind) return block;
  return null;
}

/* ---- motion ---- */

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/* Calls step(share) with a share that grows from 0 to 1, evenly in time; once with 1 if the reader
 * prefers no motion. Returns a function that stops it. */
function animate(milliseconds, step) {
  let begun = 0, running = true;
  const next = (now) => {
    if (!running) return;
    begun = begun || now;
    const share = Math.min(1, (now - begun) / milliseconds);
    step(share);
    if (share < 1) requestAnimationFrame(next);
  };
  if (calm.matches) step(1);
  else requestAnimationFrame(next);
  return () => { running = false; };
}

/* ---- light and dark ---- */

const theme = { choice: "auto", listeners: [], printing: false };
const system = matchMedia("(prefers-color-scheme: dark)");
theme.dark = () => !theme.printing && (theme.choice === "auto" ? system.matches : theme.choice === "dark");
theme.apply = () => {
  document.documentElement.dataset.theme = theme.dark() ? "dark" : "light";
  for (const listener of theme.listeners) listener();
};
system.addEventListener("change", theme.apply);
addEventListener("beforeprint", () => { theme.printing = true; theme.apply(); });
addEventListener("afterprint", () => { theme.printing = false; theme.apply(); });
document.documentElement.dataset.theme = theme.dark() ? "dark" : "light";

function themeButton() {
  const names = { auto: "Auto", light: "Light", dark: "Dark" };
  const next = { auto: "light", light: "dark", dark: "auto" };
  const button = element("button.theme", { type: "button", title: "Light, dark or system theme" });
  const show = () => { button.textContent = names[theme.choice]; };
  button.onclick = () => { theme.choice = next[theme.choice]; show(); theme.apply(); };
  show();
  return button;
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* Calls draw(width) now and whenever the width of the element changes. For printing it is drawn
 * again at its width on paper, so that text keeps its size; a bitmap is scaled instead. */
function onWidth(root, draw, bitmap) {
  let last = 0;
  const paper = 690;
  if (!bitmap)
    theme.listeners.push(() => {
      const whole = document.getElementById("page").clientWidth;
      if (last > 0) draw(theme.printing && whole > paper ? Math.round((last * paper) / whole) : last);
    });
  const again = () => {
    const width = Math.round(root.clientWidth);
    if (width > 0 && width !== last) { last = width; draw(width); }
  };
  new ResizeObserver(again).observe(root);
  again();
}

/* ---- the tooltip ---- */

const tip = element("div.tip", { hidden: "", role: "status" });
document.body.append(tip);
tip.show = (x, y, ...content) => {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const width = tip.offsetWidth, height = tip.offsetHeight;
  tip.style.left = `${Math.max(6, Math.min(x + 16, innerWidth - width - 6))}px`;
  tip.style.top = `${y + 18 + height > innerHeight ? Math.max(6, y - height - 14) : y + 18}px`;
};
tip.hide = () => { tip.hidden = true; };

/* An element with data-tip shows this text when it is pointed at, touched or focused. */
function showHint(event) {
  const from = event.target.closest && event.target.closest("[data-tip]");
  if (!from) { if (event.type === "pointerdown" && !event.target.closest(".plot, .chart")) tip.hide(); return; }
  const rect = from.getBoundingClientRect();
  const x = event.type === "focusin" ? rect.left : event.clientX, y = event.type === "focusin" ? rect.bottom - 12 : event.clientY;
  tip.show(x, y, element("div", {}, from.dataset.tip));
}
for (const kind of ["pointerover", "pointerdown", "focusin"]) document.addEventListener(kind, showHint);
for (const kind of ["pointerout", "focusout"])
  document.addEventListener(kind, (event) => {
    if (event.pointerType !== "touch" && event.target.closest && event.target.closest("[data-tip]")) tip.hide();
  });
addEventListener("scroll", () => tip.hide(), { passive: true });
addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hide(); });

/* ---- folding ---- */

/* A part that is closed until it is asked for; printing opens it. */
function fold(title, content, open) {
  return element("details", { open: open ? "" : null }, element("summary", {}, title), ...content);
}
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not([open], .menu)")) { part.open = true; part.dataset.printed = ""; }
});
addEventListener("afterprint", () => {
  for (const part of document.querySelectorAll("details[data-printed]")) { part.open = false; delete part.dataset.printed; }
});

/* ---- files ---- */

/* Saves content under a name. */
function download(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/* The title as the beginning of a file name. */
const fileName = (ending) => `${page.title.replace(/\.[A-Za-z0-9]{1,5}$/, "").replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "") || "huddle"}${ending}`;
