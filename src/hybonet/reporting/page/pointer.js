// Mouse, pen and fingers: drag, pinch, hover, click and wheel.

const DOUBLE_CLICK = 500; // milliseconds between its clicks, at most
const pointers = new Map();
let grip = null; // what a drag holds: the point of the disk, and the view when it was taken

function take(x, y) {
  stopTravelling();
  grip = {
    x, y, isometry: view.isometry, shiftX: view.shiftX, shiftY: view.shiftY, hasMoved: false,
    point: view.isOutside(x, y) ? null : view.diskPoint(x, y),
  };
}

const placeOf = (event) => {
  const box = ink.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function spread() {
  const [[ax, ay], [bx, by]] = [...pointers.values()];
  return { length: Math.hypot(ax - bx, ay - by), x: (ax + bx) / 2, y: (ay + by) / 2 };
}

/** The second half of a double click on a node: the first has sent the node on its way, and this must not stop it. */
function isSecondClick(event) {
  if (!grip?.hitAt || event.timeStamp - grip.hitAt > DOUBLE_CLICK) return false;
  const [x, y] = placeOf(event);
  return Math.hypot(x - grip.x, y - grip.y) < 8;
}

ink.addEventListener("pointerdown", (event) => {
  if (event.button !== 0 || isSecondClick(event)) return;
  ink.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, placeOf(event));
  take(...placeOf(event));
  grip.hasMoved = pointers.size > 1; // a pinch is no click
});

ink.addEventListener("pointermove", (event) => {
  const [x, y] = placeOf(event);
  if (!pointers.has(event.pointerId)) {
    if (event.pointerType !== "touch") hover(view.nodeAt(x, y), x, y);
    return;
  }
  if (pointers.size === 2) {
    const before = spread();
    pointers.set(event.pointerId, [x, y]);
    const now = spread();
    view.zoomAt(now.length / Math.max(1, before.length), now.x, now.y);
    return move();
  }
  pointers.set(event.pointerId, [x, y]);
  if (!grip.hasMoved && Math.hypot(x - grip.x, y - grip.y) < 5) return;
  grip.hasMoved = true;
  ink.classList.add("dragging");
  hover(-1);
  if (grip.point === null) { // beside the disk there is no plane to hold: the window moves over an enlarged disk
    view.shiftX = grip.shiftX + x - grip.x;
    view.shiftY = grip.shiftY + y - grip.y;
  } else {
    view.isometry = compose(dragging(grip.point, view.diskPoint(x, y)), grip.isometry);
  }
  move();
});

function release(event, isClick) {
  if (!pointers.delete(event.pointerId)) return;
  ink.classList.remove("dragging");
  if (pointers.size) { // one finger of a pinch stays: it goes on from where it is
    take(...pointers.values().next().value);
    grip.hasMoved = true;
    return;
  }
  if (!isClick || grip.hasMoved) return;
  const node = view.nodeAt(grip.x, grip.y, event.pointerType === "touch" ? 20 : 10);
  if (node >= 0) {
    grip.hitAt = event.timeStamp;
    goTo(node);
  } else if (state.selected >= 0) {
    select(-1);
  }
}

ink.addEventListener("pointerup", (event) => release(event, true));
ink.addEventListener("pointercancel", (event) => release(event, false));
ink.addEventListener("pointerleave", () => hover(-1));
ink.addEventListener("dblclick", (event) => {
  if (!grip.hitAt) bringToMiddle(view.diskPoint(...placeOf(event)), false);
});
ink.addEventListener("wheel", (event) => {
  event.preventDefault();
  const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1);
  hover(-1);
  view.zoomAt(Math.exp(-clamp(pixels, -300, 300) * 0.0018), ...placeOf(event));
  move();
}, { passive: false });
