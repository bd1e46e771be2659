/* General blocks: text, large numbers, tables, bars, commands, warnings. */

blocks.text = (root, block) => { root.append(Object.assign(element("div"), { innerHTML: block.html })); };

function facts(list) {
  return element("div.facts", {}, ...list.map((fact) =>
    element(fact.wide ? "div.fact.wide" : "div.fact", {}, element("b", {}, fact.value), element("span", {}, fact.label),
      fact.note && element("small", {}, fact.note))));
}
blocks.facts = (root, block) => root.append(facts(block.facts));

blocks.warnings = (root, block) => {
  root.append(element("div.warnings", { role: "note" }, element("b", {}, block.warnings.length === 1 ? "Warning" : "Warnings"),
    element("ul", {}, ...block.warnings.map((text) => element("li", {}, text)))));
};

/* ---- tables ---- */

/* The text of a cell by the type of its column. */
const cells = {
  number: (value) => short(value, 6),
  gap: (value) => `${(100 * value).toFixed(4)} %`,
  seconds,
};

function compare(a, b) {
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/* How the numbers of a column are written: with the same number of decimals, so that they can be
 * compared, unless they differ too much in size. */
function aligned(values) {
  const sizes = values.filter((value) => typeof value === "number" && value !== 0).map(Math.abs), least = Math.min(...sizes), most = Math.max(...sizes);
  if (!sizes.length || least < 1e-3 || most >= 1e3 * least || most >= 1e5) return cells.number;
  const digits = Math.min(Math.max(...sizes.map((value) => (short(value, 5).split(".")[1] || "").length)), Math.max(0, 4 - Math.floor(Math.log10(most))));
  const format = new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return (value) => format.format(value);
}

/* {columns: [{label, type}], rows: [[...]], caption, marked}. A cell is a value, or {value, text,
 * strong, note}: sorted by its value, shown as its text. */
function table(block) {
  const value = (cell) => (cell !== null && typeof cell === "object" ? cell.value : cell);
  const types = block.columns.map((column, j) => column.type ||
    (block.rows.some((row) => typeof value(row[j]) === "number") ? "number" : "plain"));
  const formats = types.map((type, j) => (type === "number" ? aligned(block.rows.map((row) => value(row[j]))) : cells[type]));
  const body = element("tbody"), lines = block.rows.map((row, i) => {
    const line = element(i === block.marked ? "tr.marked" : "tr");
    row.forEach((cell, j) => line.append(tableCell(cell, value(cell), types[j], row, formats[j])));
    return { row, line };
  });
  const heads = block.columns.map((column, j) => {
    const button = element("button", { type: "button" }, column.label);
    const head = element(cells[types[j]] ? "th.number" : "th", { scope: "col", "data-tip": column.title }, button);
    button.onclick = () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      lines.sort((a, b) => (down ? -1 : 1) * compare(value(a.row[j]), value(b.row[j])));
      body.append(...lines.map((entry) => entry.line));
    };
    return head;
  });
  body.append(...lines.map((entry) => entry.line));
  const made = element("table", {}, block.caption && element("caption", {}, block.caption),
    element("thead", {}, element("tr", {}, ...heads)), body);
  if (block.full || types.includes("text")) made.className = "full";
  return element("div.scroll", {}, made);
}

/* Whether two texts are equal, or equal as numbers. */
const same = (a, b) => a === b || (a !== "" && Number(a) === Number(b));

function tableCell(cell, value, type, row, format) {
  const shown = cell !== null && typeof cell === "object" && cell.text !== undefined ? cell.text
    : format && typeof value === "number" ? format(value) : value === null || value === undefined ? "–" : String(value);
  const made = element(cells[type] ? "td.number" : "td", { "data-tip": cell && cell.note });
  if (type === "changed") made.append(element(same(value, row[2]) ? "code" : "code.changed", {}, shown));
  else if (type === "code") made.append(element("code", {}, shown));
  else if (cell && cell.strong) made.append(element("b", {}, shown));
  else made.append(shown);
  if (type === "text") made.classList.add("meaning");
  return made;
}
/* Long tables are folded; a short caption becomes the title. */
blocks.table = (root, block) => {
  const { caption } = block, count = whole(block.rows.length), isTitle = caption && caption.length < 40;
  if (block.rows.length <= 12) root.append(table(block));
  else root.append(fold(isTitle ? `${caption} (${count})` : `All ${count} rows`, [table(isTitle ? { ...block, caption: null } : block)]));
};

/* Of many bars those that are hardly visible are folded. */
blocks.bars = (root, block) => {
  const most = Math.max(...block.bars.map((bar) => bar.value), 1e-300), isSmall = (bar) => block.bars.length > 8 && bar.value < 0.01 * most;
  const draw = (list) => element("div.bars", {}, ...list.flatMap((bar) => [element("span", {}, bar.label),
    element("span.bar", { style: `width:${Math.max(0.3, (100 * bar.value) / most)}%` }), element("span.right", {}, bar.text)]));
  const small = block.bars.filter(isSmall);
  root.append(draw(block.bars.filter((bar) => !isSmall(bar))));
  if (small.length) root.append(fold(`${small.length} below one per cent of the longest`, [draw(small)]));
};

/* Copies text to the clipboard, also where a page opened from a file has no clipboard interface. */
function copy(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text).catch(() => {});
  const area = element("textarea", { style: "position:fixed;opacity:0" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  return Promise.resolve();
}

blocks.command = (root, block) => {
  /* Break lines between options, not inside them. */
  const words = (text) => text.split(/ (?=--)/).flatMap((part, i) =>
    [i ? " " : "", part.length < 30 ? element("span", { style: "white-space:nowrap" }, part) : part]);
  for (const command of block.commands) {
    const button = element("button", { type: "button" }, "Copy");
    button.onclick = () => copy(command.text).then(() => {
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    root.append(element("div.command", {}, element("h3", {}, command.label), element("pre", {}, ...words(command.text)), button));
  }
};
