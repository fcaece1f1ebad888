// Keys and buttons, and the first picture.

const HELP = "Drag to move through the plane, scroll or pinch to zoom, click a node to bring it to the middle. " +
  "Keys: arrows move, + and - zoom, 0 resets, / searches, Escape lets go.";

const zoomInMiddle = (factor) => {
  view.zoomAt(factor, view.width / 2, view.height / 2);
  move();
};
const step = (along) => {
  view.isometry = compose(translation(along), view.isometry);
  move();
};
const STEPS = { ArrowLeft: [0.12, 0], ArrowRight: [-0.12, 0], ArrowUp: [0, -0.12], ArrowDown: [0, 0.12] };

ink.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in STEPS) step(STEPS[event.key]);
  else if (event.key === "+" || event.key === "=") zoomInMiddle(1.3);
  else if (event.key === "-") zoomInMiddle(1 / 1.3);
  else if (event.key === "0" || event.key === "Home") resetView();
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    document.getElementById("search").focus();
  } else if (event.key === "Escape" && !isTyping) {
    hover(-1);
    select(-1);
  }
});

document.getElementById("closer").addEventListener("click", () => zoomInMiddle(1.5));
document.getElementById("wider").addEventListener("click", () => zoomInMiddle(1 / 1.5));
document.getElementById("reset").addEventListener("click", resetView);
window.addEventListener("hashchange", followAddress);
darkPage.addEventListener("change", () => {
  theme = readTheme();
  showLegend();
  redraw();
});
new ResizeObserver(drawNow).observe(stage); // told after layout and before painting: no frame shows the old size

document.getElementById("help").textContent = HELP;
document.getElementById("summary").textContent =
  `${plural(view.count, "node", "nodes")}, ${plural(graph.child.length, "edge", "edges")}`;
showLegend();
fillEdgeLegend(document.getElementById("edges"), graph);
connectSearch(graph, search, (node) => {
  goTo(node);
  ink.focus({ preventScroll: true });
});
fitStage();
followAddress();
drawNow();
