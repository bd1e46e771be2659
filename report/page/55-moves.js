/* The points of G at every level of gamma, or F and G (report/moves.c). Everything is decoded when it is first
 * needed. */
class Moves {
  constructor(data, gammas) {
    Object.assign(this, { data, count: data.count, n: data.nodes.length, gammas, which: 0 });
    this.layouts = [];
    this.nodes = [];
  }

  projection() {
    const own = this.data.projections[this.which];
    own.steps = own.steps || uint16(own.data);
    return own;
  }

  choose(which) {
    this.which = which;
    this.layouts = [];
    this.first = null;
  }

  /* Where the lists of each level begin: of places, of successors. */
  offsets() {
    if (this.at) return this.at;
    const { nodes } = this.data, places = [0], maps = [0];
    for (let l = 0; l < this.n; l++) {
      places.push(places[l] + nodes[l]);
      maps.push(maps[l] + (l === 0 ? this.count : nodes[l - 1]));
    }
    this.maps = uint16(this.data.maps);
    this.strays = uint16(this.data.strays);
    this.at = { places, maps };
    return this.at;
  }

  /* The successor at level l of each node of the level before. */
  successors(l) {
    const { maps } = this.offsets();
    return this.maps.subarray(maps[l], maps[l + 1]);
  }

  /* The node of each point at level l. */
  nodesAt(l) {
    if (this.nodes[l]) return this.nodes[l];
    const next = this.successors(l), made = new Uint16Array(this.count);
    if (l === 0) made.set(next);
    else {
      const before = this.nodesAt(l - 1), skip = this.data.stray_counts.slice(0, l).reduce((a, b) => a + b, 0);
      for (let i = 0; i < this.count; i++) made[i] = next[before[i]];
      for (let k = 0; k < this.data.stray_counts[l]; k++) made[this.strays[2 * (skip + k)]] = this.strays[2 * (skip + k) + 1];
    }
    this.nodes[l] = made;
    return made;
  }

  /* x and y of the nodes of level l, interleaved. */
  places(l) {
    const { places } = this.offsets();
    return this.projection().steps.subarray(2 * places[l], 2 * places[l + 1]);
  }

  /* The layout at a position among the levels: at a level, or between two of them. */
  layout(at) {
    const l = Math.min(this.n - 1, Math.floor(at)), share = at - l, from = this.places(l), size = this.data.nodes[l];
    if (!this.layouts[l]) this.layouts[l] = new Layout(new Float32Array(size), new Float32Array(size), this.nodesAt(l));
    const made = this.layouts[l], { x, y } = made;
    const to = share > 0 ? this.places(l + 1) : from, next = share > 0 ? this.successors(l + 1) : null;
    for (let k = 0; k < size; k++) {
      const other = next ? next[k] : k;
      x[k] = (1 - share) * from[2 * k] + share * to[2 * other];
      y[k] = (1 - share) * from[2 * k + 1] + share * to[2 * other + 1];
    }
    return made;
  }

  /* The box of the first level, which contains all others. */
  box() {
    this.first = this.first || this.layout(0).box();
    return this.first;
  }

  /* The position of gamma among the levels: an integer at a level, a fraction between two. */
  position(gamma) {
    const { gammas } = this;
    let l = 0;
    while (l + 2 < gammas.length && gammas[l + 1] <= gamma) l++;
    const share = Math.log(gamma / gammas[l]) / Math.log(gammas[l + 1] / gammas[l]), at = Math.max(0, Math.min(gammas.length - 1, l + share));
    /* A level itself, where rounding has left it. */
    return Math.abs(at - Math.round(at)) < 1e-9 ? Math.round(at) : at;
  }
}
