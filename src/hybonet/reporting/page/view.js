// Where everything is on the screen: an isometry of the plane, then an ordinary zoom of the disk it is shown in.

const MARGIN = 0.028, MOST_ZOOM = 60; // beside the disk, of the window's smaller side

function makeView(data, importance) {
  const count = data.x.length;
  const points = { x: Float64Array.from(data.x), y: Float64Array.from(data.y), rest: new Float64Array(count) };
  for (let i = 0; i < count; i++) {
    const length = Math.hypot(points.x[i], points.y[i]);
    points.rest[i] = (1 - length) * (1 + length);
  }
  const moved = { x: new Float64Array(count), y: new Float64Array(count), shrink: new Float64Array(count) };
  const screen = { x: new Float32Array(count), y: new Float32Array(count), radius: new Float32Array(count) };
  const digits = Math.log10(count + 1);
  const dot = { least: clamp(3.6 - 0.6 * digits, 0.8, 2.4), base: clamp(0.026 - 0.003 * digits, 0.013, 0.02), most: 16 };

  const view = {
    count, points, moved, screen, isometry: IDENTITY, zoom: 1, shiftX: 0, shiftY: 0, width: 1, height: 1, radius: 1,
    middleX: 0, middleY: 0,

    resize(width, height) {
      Object.assign(view, { width, height });
      view.update();
    },
    /** After a change of the isometry, the zoom or the size. */
    update() {
      const whole = Math.max(20, Math.min(view.width, view.height) * (0.5 - MARGIN));
      // The disk cannot leave the window, and stands in its middle when it is not enlarged.
      const room = whole * (view.zoom - 1);
      view.shiftX = clamp(view.shiftX, -room, room);
      view.shiftY = clamp(view.shiftY, -room, room);
      view.radius = whole * view.zoom;
      view.middleX = view.width / 2 + view.shiftX;
      view.middleY = view.height / 2 + view.shiftY;
      moveAll(view.isometry, points, moved);
      for (let i = 0; i < count; i++) {
        screen.x[i] = view.middleX + moved.x[i] * view.radius;
        screen.y[i] = view.middleY - moved.y[i] * view.radius;
        const size = dot.base * view.radius * moved.shrink[i] * (0.65 + 0.6 * importance[i]);
        screen.radius[i] = clamp(size, dot.least, dot.most);
      }
      view.grid = null;
    },
    /** The point of the disk under a place on the screen; places outside belong to the rim. */
    diskPoint(x, y) {
      const [u, v] = [(x - view.middleX) / view.radius, (view.middleY - y) / view.radius];
      const length = Math.hypot(u, v), most = 1 - 1 / view.radius;
      return length <= most ? [u, v] : [(u / length) * most, (v / length) * most];
    },
    isOutside: (x, y) => Math.hypot(x - view.middleX, y - view.middleY) > view.radius,
    zoomAt(factor, x, y) {
      const zoom = clamp(view.zoom * factor, 1, MOST_ZOOM), ratio = zoom / view.zoom;
      view.shiftX = x - view.width / 2 - (x - view.middleX) * ratio;
      view.shiftY = y - view.height / 2 - (y - view.middleY) * ratio;
      view.zoom = zoom;
      view.update();
    },
    isVisible(i, margin = 0) {
      const x = screen.x[i], y = screen.y[i];
      return x > -margin && x < view.width + margin && y > -margin && y < view.height + margin;
    },
    /** The node under a place, or -1. Of near ones, the edge of the dot counts. */
    nodeAt(x, y, reach = 10) {
      view.grid ??= buildGrid(view);
      let best = -1, least = reach;
      view.grid.near(x, y, (i) => {
        const distance = Math.hypot(screen.x[i] - x, screen.y[i] - y) - screen.radius[i];
        if (distance < least) [best, least] = [i, distance];
      });
      return best;
    },
    /** The node nearest to the middle of the disk. */
    nodeInMiddle() {
      let best = -1;
      for (let i = 0; i < count; i++) if (best < 0 || moved.shrink[i] > moved.shrink[best]) best = i;
      return best;
    },
  };
  return view;
}

const CELL = 28; // pixels; more than a dot and the pointer's reach together

/** Visible nodes sorted into square cells of the window. */
function buildGrid(view) {
  const columns = Math.ceil(view.width / CELL) + 2, rows = Math.ceil(view.height / CELL) + 2;
  const place = (x, size) => clamp(Math.floor(x / CELL) + 1, 0, size - 1);
  const visible = [], cells = [];
  for (let i = 0; i < view.count; i++) {
    if (!view.isVisible(i, CELL)) continue;
    visible.push(i);
    cells.push(place(view.screen.y[i], rows) * columns + place(view.screen.x[i], columns));
  }
  const byCell = groupBy(columns * rows, cells);
  return {
    near(x, y, look) {
      const column = place(x, columns), row = place(y, rows);
      for (let r = Math.max(0, row - 1); r <= Math.min(rows - 1, row + 1); r++) {
        for (let c = Math.max(0, column - 1); c <= Math.min(columns - 1, column + 1); c++) {
          for (const at of byCell.of(r * columns + c)) look(visible[at]);
        }
      }
    },
  };
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
