// The hierarchy: parents and children of every node, the shortest way up, and how many nodes are below.

/** Places in a list of keys, sorted by key: those of key k are items[start[k]] ... items[start[k + 1] - 1]. */
function groupBy(count, keys) {
  const start = new Int32Array(count + 1), items = new Int32Array(keys.length);
  for (const key of keys) start[key + 1]++;
  for (let k = 0; k < count; k++) start[k + 1] += start[k];
  const next = start.slice(0, count);
  keys.forEach((key, at) => { items[next[key]++] = at; });
  return { start, items, of: (key) => items.subarray(start[key], start[key + 1]) };
}

/**
 * A search by breadth from the nodes without parents (then from whatever a cycle keeps out of reach) makes a tree of the
 * graph: `via` is the edge to the parent on the shortest way up, or -1. `below` counts nodes in that tree.
 */
function buildTree(count, child, parent) {
  const up = groupBy(count, child), down = groupBy(count, parent);
  const via = new Int32Array(count).fill(-1), depth = new Int32Array(count).fill(-1);
  const order = new Int32Array(count);
  let read = 0, written = 0;
  const visit = (node, level) => { depth[node] = level; order[written++] = node; };
  const spread = () => {
    for (; read < written; read++) {
      for (const edge of down.of(order[read])) {
        if (depth[child[edge]] >= 0) continue;
        via[child[edge]] = edge;
        visit(child[edge], depth[order[read]] + 1);
      }
    }
  };
  for (let node = 0; node < count; node++) if (up.start[node] === up.start[node + 1]) visit(node, 0);
  spread();
  for (let node = 0; node < count; node++) {
    if (depth[node] >= 0) continue;
    visit(node, 0);
    spread();
  }
  const below = new Int32Array(count);
  for (let at = count - 1; at >= 0; at--) {
    const edge = via[order[at]];
    if (edge >= 0) below[parent[edge]] += below[order[at]] + 1;
  }
  /** Edges from a node up to its root. */
  const wayUp = (node) => {
    const way = [];
    for (let edge = via[node]; edge >= 0; edge = via[parent[edge]]) way.push(edge);
    return way;
  };
  /** Edges to the children, those with most nodes below them first. */
  const childEdges = (node) => Array.from(down.of(node)).sort((e, f) => below[child[f]] - below[child[e]] || e - f);
  return { up, down, depth, below, wayUp, childEdges };
}
