// Drawing on the two canvases: edges and nodes on the ground, marks and labels in the ink above it.

const BATCH = 300; // pieces of a path stroked at once: one path of all edges is slow, one call an edge too
const MOST_MARKED = 300; // children of one node that get a dot or a label of their own
const EDGE_STYLES = [[0.5, 0.45], [0.7, 0.5], [1.0, 0.6], [1.5, 0.7], [2.1, 0.75]]; // width and opacity, from the rim in

/** Make canvases as large as the view and as sharp as the screen: bitmap, box and transform together, and all empty. */
function sizeCanvases(canvases, view, ratio) {
  for (const canvas of canvases) {
    Object.assign(canvas, { width: Math.round(view.width * ratio), height: Math.round(view.height * ratio) });
    Object.assign(canvas.style, { width: `${view.width}px`, height: `${view.height}px` });
    const ctx = canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.lineCap = "round";
  }
}

/** A canvas with nothing on it. */
function clearCanvas(canvas, view) {
  const ctx = canvas.getContext("2d");
  ctx.clearRect(0, 0, view.width, view.height);
  return ctx;
}

/** Add the geodesic between two nodes to the path; `bend` is how many pixels off a straight line may be. */
function traceEdge(ctx, view, from, to, bend) {
  const { moved, screen } = view;
  const x = screen.x[from], y = screen.y[from], toX = screen.x[to], toY = screen.y[to];
  ctx.moveTo(x, y);
  const circle = geodesicCircle(moved.x[from], moved.y[from], moved.x[to], moved.y[to]);
  const chord = Math.hypot(toX - x, toY - y);
  if (circle === null || chord * chord < 8 * bend * circle.radius * view.radius) {
    ctx.lineTo(toX, toY);
    return;
  }
  const cx = view.middleX + circle.x * view.radius, cy = view.middleY - circle.y * view.radius;
  const begin = Math.atan2(y - cy, x - cx), end = Math.atan2(toY - cy, toX - cx);
  const turn = end - begin;
  const isAnticlockwise = turn > Math.PI || (turn < 0 && turn >= -Math.PI); // the part inside the disk is the shorter one
  ctx.arc(cx, cy, circle.radius * view.radius, begin, end, isAnticlockwise);
}

/** All edges and all nodes; `hasTime` is false while the picture moves. */
function drawGround(ctx, graph, view, theme, mode, onlyBucket, hasTime) {
  drawEdges(ctx, graph, view, theme, hasTime);
  drawNodes(ctx, view, theme, mode, onlyBucket);
}

function drawEdges(ctx, graph, view, theme, hasTime) {
  const { child, parent, isNew } = graph;
  const { screen, moved } = view;
  const least = hasTime ? 1 : 3;
  const bins = [...EDGE_STYLES, ...EDGE_STYLES].map(() => []);
  for (let edge = 0; edge < child.length; edge++) {
    const i = child[edge], j = parent[edge];
    const chord = Math.hypot(screen.x[i] - screen.x[j], screen.y[i] - screen.y[j]);
    if (chord < least) continue;
    if (view.zoom > 1 && misses(screen, i, j, chord / 2, view)) continue;
    const width = 0.006 * view.radius * Math.sqrt(moved.shrink[i] * moved.shrink[j]);
    const style = clamp(Math.floor(2 + Math.log2(width)), 0, EDGE_STYLES.length - 1);
    bins[style + (isNew[edge] ? EDGE_STYLES.length : 0)].push(edge);
  }
  bins.forEach((edges, bin) => {
    const predicted = bin >= EDGE_STYLES.length;
    const [width, opacity] = EDGE_STYLES[bin % EDGE_STYLES.length];
    ctx.strokeStyle = predicted ? theme.new : theme.edge;
    ctx.lineWidth = predicted ? Math.max(1.1, width) : width;
    ctx.globalAlpha = predicted ? 0.95 : opacity;
    ctx.setLineDash(predicted ? [5, 4] : []);
    strokeEdges(ctx, graph, view, edges, hasTime ? 0.3 : 1);
  });
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

function strokeEdges(ctx, { child, parent }, view, edges, bend) {
  for (let at = 0; at < edges.length; at += BATCH) {
    ctx.beginPath();
    for (const edge of edges.slice(at, at + BATCH)) traceEdge(ctx, view, child[edge], parent[edge], bend);
    ctx.stroke();
  }
}

/** Whether the arc between two nodes is surely outside the window; it bulges by at most half its chord. */
function misses(screen, i, j, bulge, view) {
  return (
    Math.max(screen.x[i], screen.x[j]) + bulge < 0 || Math.min(screen.x[i], screen.x[j]) - bulge > view.width ||
    Math.max(screen.y[i], screen.y[j]) + bulge < 0 || Math.min(screen.y[i], screen.y[j]) - bulge > view.height
  );
}

function drawNodes(ctx, view, theme, mode, onlyBucket) {
  const { screen } = view;
  const square = view.count > 10000 ? 1.8 : 1.1; // dots up to this radius are squares: quicker, and hardly seen
  ctx.strokeStyle = theme.disk;
  ctx.lineWidth = 1;
  let bucket = null, pieces = 0, dots = new Path2D(), rings = new Path2D();
  const finish = () => {
    ctx.fill(dots);
    ctx.fill(rings);
    ctx.stroke(rings);
    [dots, rings, pieces] = [new Path2D(), new Path2D(), 0];
  };
  for (const i of mode.order) {
    if (!view.isVisible(i, 20)) continue;
    if (mode.bucket[i] !== bucket || pieces > BATCH) {
      finish();
      bucket = mode.bucket[i];
      ctx.fillStyle = mode.colour(bucket);
      ctx.globalAlpha = onlyBucket === null || onlyBucket === bucket ? 1 : 0.12;
    }
    const radius = screen.radius[i];
    if (radius < square) {
      ctx.fillRect(screen.x[i] - radius, screen.y[i] - radius, 2 * radius, 2 * radius);
    } else {
      const path = radius > 3 ? rings : dots; // large dots stand out from edges and each other
      path.moveTo(screen.x[i] + radius, screen.y[i]);
      path.arc(screen.x[i], screen.y[i], radius, 0, 2 * Math.PI);
      pieces++;
    }
  }
  finish();
  ctx.globalAlpha = 1;
}

/** A node with its way to the root and its children. */
function drawMarks(ctx, graph, view, theme, mode, node) {
  const { child, parent, isNew, tree } = graph;
  const children = tree.childEdges(node), way = tree.wayUp(node);
  const lines = (edges, width, opacity) => {
    for (const predicted of [0, 1]) {
      ctx.strokeStyle = predicted ? theme.new : theme.mark;
      ctx.setLineDash(predicted ? [6, 5] : []);
      ctx.lineWidth = width;
      ctx.globalAlpha = predicted ? 1 : opacity;
      strokeEdges(ctx, graph, view, edges.filter((edge) => isNew[edge] === predicted), 0.3);
    }
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  };
  const isFew = children.length < 20; // many strong lines would be one blot
  lines(children, isFew ? 1.4 : 0.9, isFew ? 0.9 : 0.5);
  lines(way, 3, 1);
  const dot = (i, ring) => {
    ctx.beginPath();
    ctx.arc(view.screen.x[i], view.screen.y[i], view.screen.radius[i] + ring / 2, 0, 2 * Math.PI);
    ctx.fillStyle = mode.colour(mode.bucket[i]);
    ctx.fill();
    ctx.strokeStyle = i === node ? theme.mark : theme.disk;
    ctx.lineWidth = ring;
    ctx.stroke();
  };
  for (const edge of children.slice(0, MOST_MARKED)) dot(child[edge], 1);
  for (const edge of way) dot(parent[edge], 1);
  dot(node, 3);
}
