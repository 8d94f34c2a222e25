// SPDX-License-Identifier: GPL-2.0-only
//
// Fingers and mice on a picture: two zoom, one moves what is zoomed.

// More is no click.
const CLICK_PIXELS = 6;

// zoom(times, x, y, dx, dy): of the middle of all fingers, and how far it went
class Fingers {
	constructor(canvas, zoom) {
		this.down = new Map();
		this.far = 0;
		this.zoom = zoom;
		canvas.addEventListener("pointerdown", (event) => this.begin(event));
		canvas.addEventListener("pointermove", (event) => this.move(event));
		for (const name of ["pointerup", "pointercancel"])
			canvas.addEventListener(name, (event) => this.down.delete(event.pointerId));
		canvas.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
	}

	begin(event) {
		if (!this.down.size)
			this.far = 0;
		this.down.set(event.pointerId, [event.clientX, event.clientY]);
		event.target.setPointerCapture(event.pointerId);
	}

	// Middle of all, and how far they are from it.
	spread() {
		const all = [...this.down.values()];
		const [x, y] = [0, 1].map((i) => all.reduce((sum, one) => sum + one[i], 0) / all.length);
		return {x, y, far: all.reduce((sum, one) => sum + Math.hypot(one[0] - x, one[1] - y), 0)};
	}

	// What may be a click yet moves nothing, and is not lost if it is none.
	move(event) {
		const from = this.down.get(event.pointerId);
		if (!from)
			return;
		const before = this.spread();
		this.down.set(event.pointerId, [event.clientX, event.clientY]);
		const now = this.spread();
		const far = Math.hypot(now.x - before.x, now.y - before.y) + Math.abs(now.far - before.far);
		if (this.far + far <= CLICK_PIXELS) {
			this.down.set(event.pointerId, from);
			return;
		}
		this.far += far;
		this.zoom(before.far && now.far ? now.far / before.far : 1, before.x, before.y,
			now.x - before.x, now.y - before.y);
	}

	// Two fingers on a touch pad say that they are a wheel with the control key.
	wheel(event) {
		if (!event.ctrlKey)
			return;
		event.preventDefault();
		this.zoom(Math.exp(-event.deltaY / 100), event.clientX, event.clientY, 0, 0);
	}

	// Was that a click, not the end of a way?
	clicked() {
		return this.far <= CLICK_PIXELS;
	}
}
