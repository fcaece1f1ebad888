// Colours of the nodes, by depth or by group, for light and dark pages.

// Viridis at equal steps: it grows lighter evenly and survives colour blindness and grey printing.
const VIRIDIS = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37],
];
// No orange, which means a predicted edge.
const GROUP_COLOURS = {
  light: ["#2f6fd0", "#c8374a", "#1f8f4d", "#8346c9", "#0d8f9c", "#8a5a2b", "#d1479b", "#6f7d10", "#3d3f9e", "#b59500"],
  dark: ["#6ba6ff", "#ff7484", "#4fd08a", "#b98bff", "#3ecfda", "#c79a6a", "#ff8fd0", "#b9c94a", "#8f93ff", "#e8cd4d"],
};
const OTHER_COLOUR = { light: "#9aa3b1", dark: "#66728a" };
const SHOWN_GROUPS = 10;
const SHARE_IN_COLOUR = 0.95; // of the nodes: a few very deep ones would leave the others a part of the colours

const darkPage = window.matchMedia("(prefers-color-scheme: dark)");

/** The colours of the style sheet, for the canvas. */
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const names = ["paper", "disk", "rim", "ink", "soft", "edge", "new", "mark"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** Roots stand out most against the page: dark on a light one, bright on a dark one. */
function depthColour(share) {
  const at = (darkPage.matches ? 1 - 0.72 * share : 0.86 * share) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(at), VIRIDIS.length - 2);
  const mixed = VIRIDIS[low].map((value, k) => Math.round(value + (at - low) * (VIRIDIS[low + 1][k] - value)));
  return `rgb(${mixed.join(" ")})`;
}

/** The largest groups, each with a colour, and last what is in none of them. */
function listGroups(names, groupOf) {
  const sizes = names.map(() => 0);
  groupOf.forEach((group) => { if (group >= 0) sizes[group]++; });
  const bySize = names.map((_, group) => group).sort((a, b) => sizes[b] - sizes[a] || a - b);
  const shown = bySize.slice(0, SHOWN_GROUPS);
  const bucketOf = new Map(shown.map((group, bucket) => [group, bucket]));
  const bucket = Int32Array.from(groupOf, (group) => bucketOf.get(group) ?? shown.length);
  const entries = shown.map((group) => ({ name: names[group], size: sizes[group] }));
  const rest = bucket.reduce((sum, b) => sum + (b === shown.length), 0);
  if (rest) entries.push({ name: "other", size: rest });
  const colour = (b) => {
    const page = darkPage.matches ? "dark" : "light";
    return b < shown.length ? GROUP_COLOURS[page][b] : OTHER_COLOUR[page];
  };
  return { entries, bucket, colour, drawFirst: shown.length };
}

/** How nodes are coloured: node -> bucket, bucket -> colour, and the nodes in the order to draw them in. */
function colourModes(data, depth) {
  const sorted = Int32Array.from(depth).sort();
  const deepest = Math.max(1, sorted[Math.ceil(SHARE_IN_COLOUR * (sorted.length - 1))]);
  const isClipped = sorted[sorted.length - 1] > deepest;
  const modes = { depth: { bucket: depth, colour: (d) => depthColour(Math.min(1, d / deepest)), deepest, isClipped } };
  if (data.groups.length) modes.group = listGroups(data.groups, data.group);
  for (const mode of Object.values(modes)) {
    // What should lie on top comes last: small depths, and groups that have a colour of their own.
    const rank = (node) => (mode.drawFirst === mode.bucket[node] ? Infinity : mode.bucket[node]);
    mode.order = Int32Array.from(depth.keys()).sort((a, b) => rank(b) - rank(a) || depth[b] - depth[a] || a - b);
  }
  return modes;
}
