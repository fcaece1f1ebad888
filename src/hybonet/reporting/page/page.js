// The page: its state, how the view and the selection change, and when it is drawn again.

const TRAVEL = 650, SETTLE = 140; // milliseconds: of a journey to a node; of rest before everything is drawn

const data = JSON.parse(document.getElementById("data").textContent);
const graph = readGraph(data);
const ground = document.getElementById("ground"), ink = document.getElementById("ink");
const tip = document.getElementById("tip"), stage = document.getElementById("stage");
const widest = Math.log1p(graph.tree.below.reduce((most, b) => Math.max(most, b), 1));
const view = makeView(data, Float32Array.from(graph.tree.below, (b) => Math.log1p(b) / widest));
const modes = colourModes(graph, graph.depth);
const labels = makeLabels(graph.names, graph.tree, view);
const search = makeSearch(graph);

const state = { selected: -1, hovered: -1, mode: modes.group ? "group" : "depth", onlyBucket: null, journey: 0, isMoving: false };
let theme = readTheme();
let frame = 0, settling = 0, staleGround = true, sharpness = 0;

function readGraph(raw) {
  const child = Int32Array.from(raw.child), parent = Int32Array.from(raw.parent);
  const tree = buildTree(raw.names.length, child, parent);
  const depth = Int32Array.from(tree.depth, (counted, i) => raw.depths[i] ?? counted);
  const isNew = new Uint8Array(child.length);
  raw.predicted.forEach((edge) => { isNew[edge] = 1; });
  return { ...raw, child, parent, isNew, depth, tree };
}

// Drawing

function redraw({ all = true } = {}) {
  staleGround ||= all;
  frame ||= requestAnimationFrame(draw);
}

/** Follow the window's size. Nothing else sizes anything, and every frame begins here: its layers are always in step. */
function fitStage() {
  const width = stage.clientWidth, height = stage.clientHeight, ratio = window.devicePixelRatio || 1;
  if (width === view.width && height === view.height && ratio === sharpness) return;
  view.resize(width, height);
  sizeCanvases([ground, ink], view, ratio);
  [sharpness, staleGround] = [ratio, true];
}

/** Draw now, in the frame that is being made, and not once more in the next one. */
function drawNow() {
  cancelAnimationFrame(frame);
  draw();
}

function draw() {
  frame = 0;
  fitStage();
  const mode = modes[state.mode];
  const marked = state.hovered >= 0 ? state.hovered : state.selected;
  placeDisk();
  if (staleGround) drawGround(clearCanvas(ground, view), graph, view, theme, mode, state.onlyBucket, !state.isMoving);
  staleGround = false;
  ground.classList.toggle("dimmed", marked >= 0);
  const ctx = clearCanvas(ink, view);
  const first = [];
  if (marked >= 0) {
    drawMarks(ctx, graph, view, theme, mode, marked);
    first.push(marked, ...graph.tree.wayUp(marked).slice(0, MOST_MARKED).map((edge) => graph.parent[edge]));
    first.push(...graph.tree.childEdges(marked).slice(0, MOST_MARKED).map((edge) => graph.child[edge]));
  }
  const allowed = (i) => state.onlyBucket === null || mode.bucket[i] === state.onlyBucket;
  const count = labels.draw(ctx, theme, first, allowed);
  // For assistive tools and tests: what a picture cannot tell them.
  const middle = view.nodeInMiddle();
  Object.assign(ink.dataset, {
    selected: state.selected, hovered: state.hovered, middle, labels: count, zoom: view.zoom.toFixed(3),
    still: String(!state.isMoving),
  });
  ink.setAttribute("aria-label", `Poincaré disk of ${plural(view.count, "node", "nodes")}; ${graph.names[middle]} is in the middle`);
}

/** The disk itself is an element of the page: it stays as it is while what is drawn on it is dimmed. */
function placeDisk() {
  const disk = document.getElementById("disk");
  disk.style.width = disk.style.height = `${2 * view.radius}px`;
  disk.style.transform = `translate(${view.middleX - view.radius}px, ${view.middleY - view.radius}px)`;
}

/** The view changed: draw roughly now, and in full once it rests. */
function move() {
  view.update();
  state.isMoving = true;
  clearTimeout(settling);
  settling = setTimeout(() => {
    state.isMoving = state.journey !== 0; // a slow frame is no rest
    redraw();
  }, SETTLE);
  redraw();
}

// Journeys

/** Change the view little by little; `step` gets the share of the way that is done. */
function travel(step, isInstant) {
  stopTravelling();
  if (isInstant || window.matchMedia("(prefers-reduced-motion: reduce)").matches) {
    step(1);
    return move();
  }
  let begin = null;
  const advance = (now) => {
    begin ??= now;
    const share = Math.min(1, (now - begin) / TRAVEL);
    step(share < 0.5 ? 4 * share ** 3 : 1 - 4 * (1 - share) ** 3);
    state.journey = share < 1 ? requestAnimationFrame(advance) : 0;
    move();
  };
  state.journey = requestAnimationFrame(advance);
}

function stopTravelling() {
  cancelAnimationFrame(state.journey);
  state.journey = 0;
}

/** Bring a point of the disk to the middle of the window. */
function bringToMiddle([x, y], isInstant) {
  const { isometry, shiftX, shiftY } = view;
  travel((share) => {
    view.isometry = compose(translation(partWay([-x, -y], share)), isometry);
    view.shiftX = shiftX * (1 - share);
    view.shiftY = shiftY * (1 - share);
  }, isInstant);
}

function resetView() {
  const { from, turn } = decompose(view.isometry), { shiftX, shiftY, zoom } = view;
  travel((share) => {
    const [x, y] = partWay(from, 1 - share);
    view.isometry = share < 1 ? compose(turning(turn * (1 - share)), translation([-x, -y])) : IDENTITY;
    view.zoom = zoom ** (1 - share);
    view.shiftX = shiftX * (1 - share);
    view.shiftY = shiftY * (1 - share);
  });
  select(-1);
}

// Selection

function select(node) {
  state.selected = node;
  fillNode(document.getElementById("node"), graph, node, goTo);
  document.getElementById("status").textContent = node < 0 ? "" : `${graph.names[node]}: ${facts(graph, node)}`;
  const name = node < 0 ? "" : `#search=${encodeURIComponent(graph.labels[node] || graph.names[node])}`;
  history.replaceState(null, "", name || location.pathname + location.search);
  redraw({ all: false });
}

function goTo(node, { isInstant = false } = {}) {
  hover(-1);
  select(node);
  bringToMiddle([view.moved.x[node], view.moved.y[node]], isInstant);
}

function hover(node, x = 0, y = 0) {
  ink.classList.toggle("over", node >= 0);
  tip.hidden = node < 0;
  if (node >= 0) {
    if (node !== state.hovered) fillTip(tip, graph, node);
    const left = x + 18 + tip.offsetWidth > view.width ? x - 18 - tip.offsetWidth : x + 18;
    const top = y + 18 + tip.offsetHeight > view.height ? y - 12 - tip.offsetHeight : y + 18;
    tip.style.transform = `translate(${Math.round(Math.max(4, left))}px, ${Math.round(Math.max(4, top))}px)`;
  }
  if (node === state.hovered) return;
  state.hovered = node;
  redraw({ all: false });
}

/** An address that ends in #search=NAME opens with that node in the middle. */
function followAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1)).get("search");
  const [node] = wanted ? search.find(wanted, 1) : [];
  if (node !== undefined && node !== state.selected) goTo(node, { isInstant: true });
}

function setMode(name) {
  state.mode = name;
  state.onlyBucket = null;
  showLegend();
  redraw();
}

function showLegend() {
  const buttons = Object.keys(modes).map((name) => {
    const button = element("button", { type: "button", "aria-pressed": String(name === state.mode) }, `by ${name}`);
    button.addEventListener("click", () => setMode(name));
    return button;
  });
  const box = document.getElementById("modes");
  box.hidden = buttons.length < 2;
  box.replaceChildren(...buttons);
  fillColours(document.getElementById("colours"), modes[state.mode], state.onlyBucket, (bucket) => {
    state.onlyBucket = bucket;
    showLegend();
    redraw();
  });
}
