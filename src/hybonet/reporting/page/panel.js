// The text beside the disk: what is selected, what the colours mean. Names are users' text, so never markup.

const MOST_LINKS = 30, MOST_PARENTS = 5;

/** An element with attributes and text or elements in it. */
function element(tag, attributes, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

const plural = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** What is known of a node in a few words. */
function facts(graph, node) {
  const children = graph.tree.down.of(node).length, below = graph.tree.below[node];
  const parts = [`depth ${graph.depth[node]}`, plural(children, "child", "children")];
  if (below > children) parts.push(`${below.toLocaleString("en")} below`);
  if (graph.group[node] >= 0) parts.push(`group ${graph.groups[graph.group[node]]}`);
  return parts.join(" · ");
}

function parentNames(graph, node) {
  const edges = graph.tree.up.of(node);
  if (!edges.length) return "no parent: a root";
  const names = Array.from(edges.subarray(0, MOST_PARENTS), (edge) => {
    return graph.names[graph.parent[edge]] + (graph.isNew[edge] ? " (predicted)" : "");
  });
  if (edges.length > MOST_PARENTS) names.push(`and ${edges.length - MOST_PARENTS} more`);
  return `${edges.length > 1 ? "parents" : "parent"}: ${names.join(", ")}`;
}

function fillTip(tip, graph, node) {
  const lines = [element("b", {}, graph.names[node])];
  if (graph.labels[node]) lines.push(element("div", { class: "label" }, graph.labels[node]));
  if (graph.details[node]) lines.push(element("div", {}, graph.details[node]));
  lines.push(element("div", { class: "facts" }, parentNames(graph, node)));
  lines.push(element("div", { class: "facts" }, facts(graph, node)));
  tip.replaceChildren(...lines);
}

/** The selected node, with buttons for its parents, its way up and its children. */
function fillNode(section, graph, node, go) {
  if (node < 0) return section.replaceChildren();
  const link = (target, edge) => {
    const made = element("button", { type: "button" }, graph.names[target]);
    if (graph.isNew[edge]) {
      made.className = "new";
      made.title = "predicted, not in the training data";
    }
    made.addEventListener("click", () => go(target));
    return made;
  };
  const parts = [element("h2", {}, graph.names[node])];
  if (graph.labels[node]) parts.push(element("p", { class: "label" }, graph.labels[node]));
  if (graph.details[node]) parts.push(element("p", {}, graph.details[node]));
  parts.push(element("p", { class: "facts" }, facts(graph, node)));

  const list = (heading, edges, end, between) => {
    if (!edges.length) return;
    const links = edges.slice(0, MOST_LINKS).flatMap((edge, at) => [...(at ? between : []), link(end[edge], edge)]);
    if (edges.length > MOST_LINKS) links.push(element("span", {}, `and ${edges.length - MOST_LINKS} more`));
    parts.push(element("h3", {}, heading), element("div", { class: "links" }, ...links));
  };
  const way = graph.tree.wayUp(node);
  list("Way to the root", way, graph.parent, ["›"]);
  list("Further parents", Array.from(graph.tree.up.of(node)).filter((edge) => edge !== way[0]), graph.parent, []);
  list("Children", graph.tree.childEdges(node), graph.child, []);
  section.replaceChildren(...parts);
}

/** Which colour means what; a click on a group leaves only its nodes in full colour. */
function fillColours(section, mode, onlyBucket, choose) {
  if (mode.entries) {
    const keys = mode.entries.map(({ name, size }, bucket) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = mode.colour(bucket);
      const key = element("button", { type: "button", "aria-pressed": String(onlyBucket === bucket) }, swatch);
      key.append(element("span", {}, name));
      key.title = `${name}: ${plural(size, "node", "nodes")}`;
      key.addEventListener("click", () => choose(onlyBucket === bucket ? null : bucket));
      return key;
    });
    section.replaceChildren(element("div", { class: "keys" }, ...keys));
  } else {
    const bar = element("canvas", { id: "bar", width: "256", height: "1", "aria-hidden": "true" });
    const ctx = bar.getContext("2d");
    for (let at = 0; at < 256; at++) {
      ctx.fillStyle = mode.colour((at / 255) * mode.deepest);
      ctx.fillRect(at, 0, 1, 1);
    }
    const last = `depth ${mode.deepest}${mode.isClipped ? " or more" : ""}`;
    section.replaceChildren(bar, element("div", { class: "ends" }, element("span", {}, "root"), element("span", {}, last)));
  }
}

/** What the two kinds of edges are; nothing if there is only one. */
function fillEdgeLegend(section, graph) {
  const predicted = graph.isNew.reduce((sum, flag) => sum + flag, 0);
  if (!predicted) return;
  const count = (number) => number.toLocaleString("en");
  section.replaceChildren(
    element("div", {}, element("i", {}), `in the training data (${count(graph.child.length - predicted)})`),
    element("div", { class: "new" }, element("i", {}), `predicted, not in the training data (${count(predicted)})`),
  );
}
