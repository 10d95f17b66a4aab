/** Mouse, pen and touch on the canvas: pan on empty ground, drag pieces, turn by the handle, wheel and pinch zoom. */
import { isOnHandle, pick } from "./picking.js";

const CLICK_PX = 4;
const WHEEL_TURN = Math.PI / 36;

export class Pointer {
  #down = new Map(); // pointer id → [x, y]
  #gesture = null; // {kind, start, last, ...}

  constructor(canvas, { store, camera, carry, actions, tip }) {
    Object.assign(this, { canvas, store, camera, carry, actions, tip });
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#moveTo(event));
    canvas.addEventListener("pointerup", (event) => this.#release(event));
    canvas.addEventListener("pointercancel", (event) => this.#release(event, true));
    canvas.addEventListener("pointerleave", () => this.#hover(null));
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  /** Begin dragging a piece that came out of the tray; the canvas takes the pointer over. */
  adopt(event, idx) {
    if (!this.carry.begin(idx, false, this.camera.toWorld(this.at(event)))) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.#down.set(event.pointerId, this.at(event));
    this.actions.select({ kind: "piece", idx }, false);
    this.#gesture = { kind: "drag", start: this.at(event), last: this.at(event), idx, far: true, fromTray: true };
  }

  #press(event) {
    if (event.button > 1) return;
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.at(event);
    this.#down.set(event.pointerId, at);
    if (this.#down.size === 2) return this.#beginPinch();
    if (this.#down.size > 2) return;
    const hit = event.button === 0 && !isOnHandle(this.store, this.camera, at) ? pick(this.store, this.camera, at) : null;
    const base = { start: at, last: at, far: false, hit };
    if (event.button === 0 && isOnHandle(this.store, this.camera, at)) this.#gesture = { ...base, kind: "turn" };
    else if (hit?.kind === "piece" && !this.store.view.compare) this.#gesture = { ...base, kind: "drag", idx: hit.idx };
    else this.#gesture = { ...base, kind: "pan" };
  }

  #moveTo(event) {
    const at = this.at(event);
    if (this.#down.has(event.pointerId)) this.#down.set(event.pointerId, at);
    const gesture = this.#gesture;
    if (!gesture) return this.#hover(event.pointerType === "touch" ? null : at);
    this.#hover(null);
    if (gesture.kind === "pinch") return this.#pinch();
    gesture.far ||= Math.hypot(at[0] - gesture.start[0], at[1] - gesture.start[1]) > CLICK_PX;
    if (!gesture.far) return;
    const [dx, dy] = [at[0] - gesture.last[0], at[1] - gesture.last[1]];
    if (gesture.kind === "pan") this.camera.pan(dx, dy);
    else if (gesture.kind !== "refused") this.#carryOn(gesture, event, at, dx, dy);
    gesture.last = at;
  }

  #carryOn(gesture, event, at, dx, dy) {
    const wholeComponent = this.store.view.wholeComponent || event.altKey;
    if (!this.carry.holds) {
      const idx = gesture.kind === "drag" ? gesture.idx : this.store.selection?.idx;
      if (idx === undefined || !this.carry.begin(idx, wholeComponent)) return void (gesture.kind = "refused");
      if (gesture.kind === "drag") this.actions.select({ kind: "piece", idx }, false);
    }
    this.carry.setFree(event.ctrlKey || event.metaKey);
    if (gesture.kind === "drag") return this.carry.move(dx / this.camera.scale, dy / this.camera.scale);
    const [cx, cy] = this.camera.toScreen(this.carry.middle());
    const angle = Math.atan2(at[1] - cy, at[0] - cx) - Math.atan2(gesture.last[1] - cy, gesture.last[0] - cx);
    return this.carry.turn(angle);
  }

  #release(event, cancelled = false) {
    this.#down.delete(event.pointerId);
    const gesture = this.#gesture;
    if (!gesture || (gesture.kind === "pinch" && this.#down.size)) return;
    this.#gesture = null;
    if (this.carry.holds && gesture.kind !== "pinch") {
      const outside = gesture.fromTray && !this.#isOver(event);
      if (cancelled || outside) this.carry.cancel();
      else this.carry.drop();
    } else if (!gesture.far && !cancelled && gesture.kind !== "turn") {
      const marks = gesture.hit?.kind === "piece" && (event.ctrlKey || event.metaKey || event.shiftKey);
      if (marks) this.actions.mark(gesture.hit.idx);
      else this.actions.select(gesture.hit);
    }
  }

  #isOver(event) {
    const [x, y] = this.at(event);
    return x >= 0 && y >= 0 && x <= this.camera.width && y <= this.camera.height;
  }

  #beginPinch() {
    if (this.carry.holds) this.carry.cancel();
    this.#gesture = { kind: "pinch", ...this.#span() };
  }

  #pinch() {
    if (this.#down.size < 2) return;
    const { middle, length } = this.#span();
    this.camera.pan(middle[0] - this.#gesture.middle[0], middle[1] - this.#gesture.middle[1]);
    this.camera.zoom(length / this.#gesture.length, middle);
    this.#gesture = { kind: "pinch", middle, length };
  }

  #span() {
    const [a, b] = [...this.#down.values()];
    return { middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], length: Math.max(8, Math.hypot(a[0] - b[0], a[1] - b[1])) };
  }

  #wheel(event) {
    event.preventDefault();
    const delta = event.deltaY || event.deltaX; // with Shift, some systems scroll sideways
    const chosen = this.store.selection;
    if (event.shiftKey && chosen?.kind === "piece" && this.store.pieces[chosen.idx].pose) {
      if (delta) this.carry.nudge(chosen.idx, this.store.view.wholeComponent || event.altKey, Math.sign(delta) * WHEEL_TURN);
      return;
    }
    const pixels = delta * (event.deltaMode === 1 ? 20 : 1);
    this.camera.zoom(Math.exp(-Math.min(Math.max(pixels, -200), 200) * (event.ctrlKey ? 0.01 : 0.002)), this.at(event));
  }

  /** What lies under the pointer may have changed: nothing is told of it until the pointer moves. */
  hideTip() {
    this.tip.hidden = true;
  }

  #hover(at) {
    if (!this.store.state) return;
    const hit = at && (isOnHandle(this.store, this.camera, at) ? null : pick(this.store, this.camera, at));
    this.store.setHover(hit ?? null);
    this.canvas.dataset.over = hit ? hit.kind : at && isOnHandle(this.store, this.camera, at) ? "handle" : "ground";
    this.tip.hidden = !hit;
    if (!hit) return;
    this.tip.textContent = this.actions.describe(hit);
    const left = Math.min(at[0] + 14, this.camera.width - this.tip.offsetWidth - 8);
    this.tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.min(at[1] + 18, this.camera.height - 40)}px)`;
  }
}
