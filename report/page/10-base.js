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
  const raw = atob(text);
  const made = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) made[i] = raw.charCodeAt(i);
  return made;
}

function uint16(text) {
  const raw = bytes(text);
  const made = new Uint16Array(raw.length / 2);
  for (let i = 0; i < made.length; i++) made[i] = raw[2 * i] | (raw[2 * i + 1] << 8);
  return made;
}

function int32(text) {
  const raw = bytes(text);
  const made = new Int32Array(raw.length / 4);
  const view = new DataView(raw.buffer);
  for (let i = 0; i < made.length; i++) made[i] = view.getInt32(4 * i, true);
  return made;
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
