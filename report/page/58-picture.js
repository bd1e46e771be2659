/* The top of a page: the picture with its controls, and the facts and the path beside it. */

const sceneTexts = {
  X: ["Points", "The data that were clustered."],
  F: ["Embedding", "The leading eigenvectors of the graph: well-connected points are close to each other."],
  G: ["Shrunk", "F after shrinking: the points of a group coincide. Larger marks are more points."],
};

const projectionName = ({ kind, first }) => (kind === "circle" ? "clusters on a circle" : `components ${first + 1}–${first + 2}`);

/* The pairs of columns of a view. */
function viewPairs(view) {
  const pairs = [];
  for (let first = 0; first < Math.max(1, view.cols - 1); first += 2) pairs.push([view.share ? `components ${first + 1}–${first + 2}` : "original coordinates", first]);
  return pairs;
}

/* Buttons of which one is pressed: options are [text, value, title]. */
function choiceButtons(label, options, value, show) {
  const root = element("span.choice", { role: "group", "aria-label": label });
  options.forEach(([text, own, title]) => {
    const button = element("button", { type: "button", "aria-pressed": String(own === value), "data-tip": title }, ...[].concat(text));
    button.onclick = () => { root.press(own); show(own); };
    button.own = own;
    root.append(button);
  });
  root.press = (own) => { for (const other of root.children) other.setAttribute("aria-pressed", String(other.own === own)); };
  return root;
}

/* The picture of the points: X, F and G on one canvas. F and G are the ends of one movement, on the
 * same axes; with a path the slider is between them. */
class Picture {
  constructor(side) {
    const { views } = findBlock("views") || { views: [] }, path = findBlock("path"), { ends } = page.shared;
    this.path = path;
    this.x = views.find((view) => view.name === "X");
    this.root = element("div.picture");
    this.moves = path ? new Moves(path.moves, path.levels.map((level) => level.gamma)) : ends ? new Moves(ends) : null;
    this.scenes = [...(this.x ? ["X"] : []), ...(this.moves ? ["F"] : []), ...(this.moves && this.moves.n > 1 ? ["G"] : [])];
    /* Separate clusters of two-dimensional data are seen best as they are. */
    this.scene = this.x && !this.x.share && !path ? "X" : this.scenes[this.scenes.length - 1];
    if (!this.scene) return;
    this.plot = new Scatter(this.root, "Scatter plot of the points", true);
    this.plot.frame.append(this.plot.zoomButtons());
    /* The slider may have been moved while the points were on their way. */
    this.plot.onRest = () => this.plot.place(this.layout(), this.box());
    this.pair = 0;
    this.at = this.moves ? this.moves.n - 1 : 0;
    this.addControls();
    if (path) this.panel = pathPanel(side, path, this.moves, (gamma, at) => this.follow(at));
    this.offer();
    if (path) this.panel.start();
    else this.plot.place(this.layout(), this.box());
  }

  addControls() {
    this.buttons = choiceButtons("What is shown", this.scenes.map((name) => [[element("b", {}, name), ` ${sceneTexts[name][0]}`], name]), this.scene, (name) => this.show(name));
    this.projections = element("span");
    this.note = element("p.caption");
    this.root.prepend(element("div.tools.above", {}, this.scenes.length > 1 ? this.buttons : null, this.projections));
    this.controls = element("div.controls", {}, legend(), element("div.tools", {}, colourChooser(), pointChooser(), searchField(), downloadMenu(this.plot)), this.note);
    this.root.append(selectionPanel());
  }

  layout() { return this.scene === "X" ? viewLayout(this.x, this.pair, Math.min(this.pair + 1, this.x.cols - 1)) : this.moves.layout(this.at); }

  box() { return this.scene === "X" ? undefined : this.moves.box(); }

  /* The last position that shows F: the first level, unless the run's own G is there. */
  last() { return this.path && this.path.used > 0 && this.moves.position(this.path.used) <= 0 ? -1 : 0; }

  /* F and G at a position among the levels; the button F is pressed at the first one. */
  follow(at) {
    const before = this.scene;
    this.scene = at <= this.last() ? "F" : "G";
    this.at = at;
    this.buttons.press(this.scene);
    if (before === "X") { this.offer(); this.plot.morph(this.layout(), this.box()); }
    else if (!this.plot.pixels) this.plot.place(this.layout(), this.box());
    if (before !== this.scene) this.describe();
  }

  /* Moves the points to X, F or G. */
  show(name) {
    const before = this.scene;
    if (name === "X") {
      this.scene = name;
      this.pair = 0;
      this.offer();
      this.plot.morph(this.layout());
    } else if (this.path) {
      const { levels, used } = this.path, target = name === "F" ? levels[0].gamma : used > 0 ? used : levels[levels.length >> 1].gamma;
      if (before === "X") this.panel.set(target);
      else this.panel.glide(target);
    } else if (before === "X") this.follow(name === "F" ? 0 : this.moves.n - 1);
    else if (this.moves.n > 1) animate(900, (share) => this.follow(name === "F" ? 1 - share : share));
  }

  /* The projections that the scene has. */
  offer() {
    const isX = this.scene === "X", list = isX ? viewPairs(this.x) : this.moves.data.projections.map((own, i) => [projectionName(own), i]);
    this.projections.replaceChildren();
    if (list.length > 1)
      this.projections.append(chooser("Projection", list, isX ? this.pair : this.moves.which, (value) => {
        if (isX) this.pair = Number(value);
        else this.moves.choose(Number(value));
        this.plot.morph(this.layout(), this.box());
        this.describe();
      }));
    this.describe();
  }

  describe() {
    const parts = [sceneTexts[this.scene][1]];
    if (this.scene !== "X") {
      const own = this.moves.data.projections[this.moves.which];
      parts.push(own.kind === "circle" ? "A linear projection of F that brings each cluster as near as possible to its own place on a circle, similar clusters side by side." : `The principal components ${own.first + 1} and ${own.first + 2} of F.`);
      if (this.scene === "F" && this.path) parts.push(this.path.gamma_fit > 0 ? "Up to gamma_fit G equals F." : "At the smallest gamma G is nearly F.");
    } else if (this.x.share) parts.push(`Principal components ${this.pair + 1} and ${this.pair + 2}: ${percent((this.x.share[this.pair] || 0) + (this.x.share[this.pair + 1] || 0))} of the variance.`);
    parts.push(sampleNote());
    this.note.textContent = parts.join(" ");
  }
}

/* Puts the picture beside the facts; without points there are only the facts. */
function pictureBlock(root, facts, rest) {
  const side = element("div.side", { id: "path" }), picture = points ? new Picture(side) : {};
  if (!picture.scene) { root.append(facts, ...rest); return; }
  if (!picture.path) side.append(...rest);
  root.append(element("div.top", {}, picture.root, side, picture.controls, element("div.first", {}, facts)));
  if (picture.path && rest.length) root.append(fold("How it was computed", rest));
}

/* ---- X, F and G side by side ---- */

blocks.views = (root, block) => {
  if (block.views.length < 2) return;
  const grid = element("div.views"), most = Math.max(...block.views.map((view) => view.cols));
  const panels = block.views.map((view) => {
    const panel = element("div.view", {}, element("h3", {}, element("b", {}, view.name), " ", view.title));
    grid.append(panel);
    const plot = new Scatter(panel, view.title), note = element("p.caption");
    panel.append(note);
    return { view, plot, note };
  });
  const show = (first) => panels.forEach(({ view, plot, note }) => {
    const a = first < view.cols ? first : 0, b = a + 1 < view.cols ? a + 1 : a;
    plot.place(() => viewLayout(view, a, b));
    note.textContent = view.share ? `Principal components ${a + 1} and ${b + 1}, ${percent((view.share[a] || 0) + (view.share[b] || 0))} of the variance.` : "The original coordinates.";
  });
  root.append(grid);
  if (most >= 4) root.append(element("div.tools", {}, element("span.pick", {}, "Components ", choiceButtons("Principal components shown", pairsOf(most), 0, show))));
  show(0);
};

function pairsOf(most) {
  const pairs = [];
  for (let first = 0; first + 1 < most; first += 2) pairs.push([`${first + 1}–${first + 2}`, first]);
  return pairs;
}
