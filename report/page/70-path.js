/* The summary of a path. */

blocks.walk = (root, block) => {
  const r = block.report, worst = Math.max(...r.levels.map((level) => level.gap || 0)), list = [];
  list.push({ value: whole(r.levels.length), label: "levels of gamma", note: `${whole(r.levels[0].groups)} groups at the first, ${whole(r.levels[r.levels.length - 1].groups)} at the last` });
  if (r.choice) list.push(r.choice.level >= 0 ? { value: whole(r.n_clusters), label: "clusters found", note: `the ${r.choice.n_found > r.n_clusters ? `largest of ${whole(r.choice.n_found)} groups` : "groups"} at gamma ${short(r.choice.gamma, 4)}` } : { value: whole(r.choice.n_found), label: "large groups at most", note: `${whole(r.n_clusters)} were requested` });
  list.push(...scoreFacts(r));
  list.push({ wide: true, value: worst === 0 ? "every level proven optimal" : `every level proven within ${bound(worst)} of the optimum`, label: "shrink problem", note: "the largest gap of all levels" });
  list.push({ value: seconds(r.seconds.total), label: "total time", note: `${seconds(r.seconds.path)} for the path` });
  pictureBlock(root, facts(list), []);
};
