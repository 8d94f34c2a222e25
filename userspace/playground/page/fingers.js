// SPDX-License-Identifier: GPL-2.0-only
//
// Touch and mouse gestures on a picture: two fingers zoom, one finger moves the zoomed part.

// A gesture that moves farther is not a click.
const CLICK_PIXELS = 6;

// zoom(times, x, y, dx, dy): factor, middle of all fingers, and movement of that middle
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

	// Get the middle of all fingers, and the sum of their distances from it.
	spread() {
		const all = [...this.down.values()];
		const [x, y] = [0, 1].map((i) => all.reduce((sum, one) => sum + one[i], 0) / all.length);
		return {x, y, far: all.reduce((sum, one) => sum + Math.hypot(one[0] - x, one[1] - y), 0)};
	}

	// Movements that may still be a click have no effect; they count later if it was no click.
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

	// Browsers report a pinch on a touch pad as a wheel event with the control key.
	wheel(event) {
		if (!event.ctrlKey)
			return;
		event.preventDefault();
		this.zoom(Math.exp(-event.deltaY / 100), event.clientX, event.clientY, 0, 0);
	}

	// Return true if the gesture was a click, not the end of a movement.
	clicked() {
		return this.far <= CLICK_PIXELS;
	}
}
