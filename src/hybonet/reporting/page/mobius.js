// Isometries of the unit disk, z -> (a z + b) / (conj(b) z + conj(a)) with |a|^2 - |b|^2 = 1. Points are [x, y].

const IDENTITY = { ar: 1, ai: 0, br: 0, bi: 0 };

/** First `first`, then `second`. */
function compose(second, first) {
  const s = second, f = first;
  const ar = s.ar * f.ar - s.ai * f.ai + s.br * f.br + s.bi * f.bi;
  const ai = s.ar * f.ai + s.ai * f.ar + s.bi * f.br - s.br * f.bi;
  const br = s.ar * f.br - s.ai * f.bi + s.br * f.ar + s.bi * f.ai;
  const bi = s.ar * f.bi + s.ai * f.br + s.bi * f.ar - s.br * f.ai;
  const norm = ar * ar + ai * ai - br * br - bi * bi;
  const scale = norm > 0 ? 1 / Math.sqrt(norm) : 1;
  return { ar: ar * scale, ai: ai * scale, br: br * scale, bi: bi * scale };
}

/** The translation that takes the middle to c. */
function translation([x, y]) {
  const scale = 1 / Math.sqrt((1 - Math.hypot(x, y)) * (1 + Math.hypot(x, y)));
  return { ar: scale, ai: 0, br: x * scale, bi: y * scale };
}

/** The translation of the middle that takes p to q: what a hand does that drags p to q. */
function dragging([px, py], [qx, qy]) {
  // (p + c) / (1 + conj(c) p) = q is linear in c and conj(c): c - pq conj(c) = q - p.
  const re = px * qx - py * qy, im = px * qy + py * qx;
  const dx = qx - px, dy = qy - py;
  const divisor = 1 - re * re - im * im;
  return translation([(dx + re * dx + im * dy) / divisor, (dy + im * dx - re * dy) / divisor]);
}

/** The part of the way from the middle to c that has `share` of its hyperbolic length. */
function partWay([x, y], share) {
  const length = Math.hypot(x, y);
  if (length === 0) return [0, 0];
  const factor = Math.tanh(share * Math.atanh(Math.min(length, 1 - 1e-15))) / length;
  return [x * factor, y * factor];
}

/** An isometry as a translation of the point `from` to the middle, followed by a turn. */
function decompose(m) {
  const norm = m.ar * m.ar + m.ai * m.ai;
  const from = [-(m.br * m.ar + m.bi * m.ai) / norm, -(m.bi * m.ar - m.br * m.ai) / norm]; // -b / a
  return { from, turn: 2 * Math.atan(m.ai / m.ar) };
}

function turning(angle) {
  return { ar: Math.cos(angle / 2), ai: Math.sin(angle / 2), br: 0, bi: 0 };
}

/** Move all points; `shrink` becomes 1 - |z|^2, the factor by which the disk shows lengths smaller than its middle does. */
function moveAll(m, points, moved) {
  const { x, y, rest } = points;
  for (let i = 0; i < x.length; i++) {
    const nx = m.ar * x[i] - m.ai * y[i] + m.br, ny = m.ar * y[i] + m.ai * x[i] + m.bi;
    const dx = m.br * x[i] + m.bi * y[i] + m.ar, dy = m.br * y[i] - m.bi * x[i] - m.ai;
    const norm = dx * dx + dy * dy;
    moved.x[i] = (nx * dx + ny * dy) / norm;
    moved.y[i] = (ny * dx - nx * dy) / norm;
    moved.shrink[i] = rest[i] / norm;
  }
}

/** Middle and radius of the circle of the geodesic through p and q; null if it is a diameter. */
function geodesicCircle(px, py, qx, qy) {
  const cross = px * qy - py * qx;
  if (Math.abs(cross) < 1e-9) return null;
  const a = (1 + px * px + py * py) / 2, b = (1 + qx * qx + qy * qy) / 2;
  const x = (a * qy - b * py) / cross, y = (b * px - a * qx) / cross;
  return { x, y, radius: Math.hypot(x - px, y - py) };
}
