// Labels: the most important first, each where it covers no other, and as many as there is room for.

const MOST_LABELS = 160, MOST_TRIES = 2500, LONGEST = 34;
const LEAST_SPACE = 6; // pixels that a unit of length near the node measures; below, labels say nothing
const TITLE_SHARE = 0.02; // of all nodes: branches from this size on have their labels in bold

function makeLabels(names, tree, view) {
  const widths = new Map(), score = new Float64Array(view.count);
  let shown = new Set();

  const text = (i) => (names[i].length > LONGEST ? `${names[i].slice(0, LONGEST - 1)}…` : names[i]);
  const fontOf = (i) => {
    const scale = view.moved.shrink[i] * view.zoom;
    const size = scale > 0.5 ? 14 : scale > 0.15 ? 13 : scale > 0.04 ? 12 : 11;
    const weight = tree.below[i] > TITLE_SHARE * view.count ? 600 : 400;
    return { size, css: `${weight} ${size}px system-ui, -apple-system, "Segoe UI", sans-serif` };
  };
  const widthOf = (ctx, i, font) => {
    const key = `${font.css}|${i}`;
    if (!widths.has(key)) {
      ctx.font = font.css;
      widths.set(key, ctx.measureText(text(i)).width);
    }
    return widths.get(key);
  };

  /** Nodes worth a label where they stand now; a label that is there stays rather than flickers. */
  const candidates = (allowed) => {
    const found = [];
    for (let i = 0; i < view.count; i++) {
      const space = view.moved.shrink[i] * view.radius;
      if (space < LEAST_SPACE || !view.isVisible(i) || !allowed(i)) continue;
      found.push(i);
      score[i] = (1 + tree.below[i]) * space ** 1.5 * (shown.has(i) ? 1.5 : 1);
    }
    return found.sort((a, b) => score[b] - score[a] || a - b);
  };

  /** Boxes around a dot in which its label may stand: outwards, inwards, above, below. */
  const places = (i, width, height) => {
    const x = view.screen.x[i], y = view.screen.y[i], gap = view.screen.radius[i] + 3;
    const right = [x + gap, y - height / 2], left = [x - gap - width, y - height / 2];
    const above = [x - width / 2, y - gap - height], beneath = [x - width / 2, y + gap];
    const sides = view.moved.x[i] >= 0 ? [right, left] : [left, right];
    const ends = view.moved.y[i] >= 0 ? [above, beneath] : [beneath, above];
    return Math.abs(view.moved.y[i]) > 2 * Math.abs(view.moved.x[i]) ? [...ends, ...sides] : [...sides, ...ends];
  };

  return {
    /** Place and draw; `first` are nodes whose labels come before all others. Returns how many there are. */
    draw(ctx, theme, first, allowed) {
      const chosen = new Set(first.filter((i) => view.isVisible(i)));
      const others = candidates(allowed);
      const boxes = [];
      const isFree = (x, y, width, height) => boxes.every(
        (b) => x >= b.x + b.width || b.x >= x + width || y >= b.y + b.height || b.y >= y + height,
      );
      for (const i of [...chosen, ...others.slice(0, 200)]) {
        const r = view.screen.radius[i];
        if (r > 2) boxes.push({ x: view.screen.x[i] - r, y: view.screen.y[i] - r, width: 2 * r, height: 2 * r });
      }
      const placed = [];
      for (const i of [...chosen, ...others.slice(0, MOST_TRIES).filter((i) => !chosen.has(i))]) {
        if (placed.length >= MOST_LABELS) break;
        const font = fontOf(i), width = widthOf(ctx, i, font) + 4, height = font.size + 3;
        const place = places(i, width, height).find(
          ([x, y]) => x >= 2 && y >= 2 && x + width <= view.width - 2 && y + height <= view.height - 2 &&
            isFree(x, y, width, height),
        );
        if (!place) continue;
        boxes.push({ x: place[0], y: place[1], width, height });
        placed.push({ i, font, x: place[0] + 2, y: place[1] + height / 2 });
      }
      shown = new Set(placed.map((label) => label.i));
      ctx.textBaseline = "middle";
      ctx.lineJoin = "round";
      ctx.lineWidth = 3.5;
      for (const { i, font, x, y } of placed) {
        ctx.font = font.css;
        ctx.strokeStyle = view.isOutside(x, y) ? theme.paper : theme.disk;
        ctx.globalAlpha = 0.85;
        ctx.strokeText(text(i), x, y);
        ctx.globalAlpha = 1;
        ctx.fillStyle = chosen.size === 0 || chosen.has(i) ? theme.ink : theme.soft;
        ctx.fillText(text(i), x, y);
      }
      return placed.length;
    },
  };
}
