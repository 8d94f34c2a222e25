// SPDX-License-Identifier: GPL-2.0-only
//
// Draws the device on a canvas, from all dies down to one block.

const FLASH_MS = 500;
// Largest size of a device page on the screen, in pixels, at the highest zoom.
const MOST_PIXELS = 64;
const LETTERS = "NRBACFLMSTGPWU";

// Give the canvas as many pixels as the screen has; return the pixels per CSS pixel.
function fitted(canvas) {
	const box = canvas.getBoundingClientRect();
	const scale = window.devicePixelRatio || 1;
	canvas.width = Math.max(Math.round(box.width * scale), 1);
	canvas.height = Math.max(Math.round(box.height * scale), 1);
	return scale;
}

// Arrange dies and blocks so that the picture has the aspect ratio of the canvas.
function layoutOf(about, form) {
	const row = about.word_lines * about.word_line_pages;
	const width = about.layers > 1 ? row : Math.ceil(Math.sqrt(row));
	const high = Math.ceil(about.pages / width) + 1;
	let best = null;
	for (let across = 1; across <= about.luns; across++) {
		if (about.luns % across)
			continue;
		for (let columns = 1; columns <= about.blocks_per_lun; columns++) {
			const wide = across * (columns * (width + 1) + 1);
			const tall = about.luns / across * (Math.ceil(about.blocks_per_lun / columns) * high + 1);
			const miss = Math.abs(Math.log(wide / tall / form)) + wide * tall / 1e9;
			if (!best || miss < best.miss)
				best = {across, columns, width, high, wide, tall, miss};
		}
	}
	return {...best, lunWide: best.columns * (width + 1) + 1,
		lunTall: Math.ceil(about.blocks_per_lun / best.columns) * high + 1};
}

class Picture {
	constructor(canvas) {
		this.canvas = canvas;
		this.hidden = document.createElement("canvas");
		this.flashes = [];
		this.zoom = null;
		this.words = "";
		this.key = "";
	}

	fit(about) {
		const box = this.canvas.getBoundingClientRect();
		const scale = window.devicePixelRatio || 1;
		const wide = Math.max(Math.round(box.width * scale), 1);
		const tall = Math.max(Math.round(box.height * scale), 1);
		const key = `${wide} ${tall} ${about.luns} ${about.blocks_per_lun} ${about.pages} ${about.layers}`;
		if (key === this.key)
			return;
		this.key = key;
		this.canvas.width = wide;
		this.canvas.height = tall;
		this.layout = layoutOf(about, wide / tall);
		this.hidden.width = this.layout.wide;
		this.hidden.height = this.layout.tall;
		this.look(this.words);
	}

	// Show a part (or everything): "words" as in the address, "part" in exact coordinates.
	look(words, part = this.partOf(words)) {
		this.words = words;
		this.zoom = part;
		this.canvas.classList.toggle("zoomed", part !== null);
	}

	// Parse the format of ZOOM in state.js.
	partOf(words) {
		const [block, x, y, wide] = words.slice(1).split(":").map(Number);
		if (!words)
			return null;
		if (words[0] === "d")
			return this.lunPlace(block);
		const place = this.placeOf(block);
		return words[0] === "b" ? {x: place.x - 1, y: place.y - 1, wide: place.wide + 2, tall: place.tall + 2} :
			this.within(this.canvas.width / wide, () => [place.x + x, place.y + y]);
	}

	// Position the part relative to the block at its middle, or to the nearest block.
	wordsOf(part) {
		if (!part)
			return "";
		const {across, columns, width, high, lunWide, lunTall} = this.layout;
		const [x, y] = [part.x + part.wide / 2, part.y + part.tall / 2];
		const [die, row] = [Math.floor(y / lunTall) * across + Math.floor(x / lunWide), Math.floor(y % lunTall / high)];
		const column = Math.min(Math.floor(x % lunWide / (width + 1)), columns - 1);
		const block = die * this.blocks + Math.min(row * columns + column, this.blocks - 1);
		const place = this.placeOf(block);
		return `p${[block, ...[x - place.x, y - place.y, part.wide].map((one) => Number(one.toFixed(2)))].join(":")}`;
	}

	// Get a part at a scale, limited to valid scales and to the rim of the picture.
	// middleOf(scale) is the preferred middle.
	within(scale, middleOf) {
		const ratio = this.canvas.width / this.canvas.getBoundingClientRect().width;
		const least = Math.min(this.canvas.width / this.layout.wide, this.canvas.height / this.layout.tall);
		const next = Math.min(Math.max(scale, least), Math.max(least, MOST_PIXELS * ratio));
		const [wide, tall] = [this.canvas.width / next, this.canvas.height / next];
		const inside = (at, size, all) => Math.min(Math.max(0, all - size), Math.max(0, at - size / 2));
		const [x, y] = middleOf(next);
		return {wide, tall, x: inside(x, wide, this.layout.wide), y: inside(y, tall, this.layout.tall)};
	}

	// Get the visible part of the picture.
	window() {
		return this.zoom || {x: 0, y: 0, wide: this.layout.wide, tall: this.layout.tall};
	}

	scale() {
		const part = this.window();
		return Math.min(this.canvas.width / part.wide, this.canvas.height / part.tall);
	}

	draw(device, view, colours) {
		this.fit(device.about);
		if (this.words !== this.wanted)
			this.look(this.wanted);
		const pixels = device.paint(VIEWS.findIndex((one) => one.name === view), this.layout, colours);
		this.hidden.getContext("2d").putImageData(
			new ImageData(pixels, this.layout.wide, this.layout.tall), 0, 0);
		this.show();
	}

	show() {
		const context = this.canvas.getContext("2d");
		const part = this.window();
		const scale = this.scale();
		context.imageSmoothingEnabled = scale < 1;
		context.clearRect(0, 0, this.canvas.width, this.canvas.height);
		context.drawImage(this.hidden, part.x, part.y, part.wide, part.tall, 0, 0,
			part.wide * scale, part.tall * scale);
		this.showFlashes(context, part, scale);
		this.frame(context, part, scale, this.placeOf(this.chosen.block), "#d55e00", 2);
	}

	frame(context, part, scale, place, colour, thick) {
		const extra = Math.max(1, scale / 2);
		context.strokeStyle = colour;
		context.lineWidth = thick * (window.devicePixelRatio || 1);
		context.strokeRect((place.x - part.x) * scale - extra, (place.y - part.y) * scale - extra,
			place.wide * scale + 2 * extra, place.tall * scale + 2 * extra);
	}

	// Highlight the latest programs and erases, unless the user prefers reduced motion.
	flash(events) {
		if (matchMedia("(prefers-reduced-motion: reduce)").matches)
			return;
		const now = performance.now();
		this.flashes.push(...events.map((event) => ({...event, seen: now})));
		this.flashes = this.flashes.slice(-400);
	}

	showFlashes(context, part, scale) {
		const now = performance.now();
		this.flashes = this.flashes.filter((event) => now - event.seen < FLASH_MS);
		for (const event of this.flashes) {
			context.globalAlpha = 1 - (now - event.seen) / FLASH_MS;
			const colour = event.erase ? "#d55e00" : event.cause === "host write" ? "#ffffff" : "#cc79a7";
			if (event.erase)
				this.frame(context, part, scale, this.placeOf(event.block), colour, 3);
			else
				this.spot(context, part, scale, event, colour);
		}
		context.globalAlpha = 1;
	}

	spot(context, part, scale, event, colour) {
		const place = this.placeOf(event.block);
		const size = Math.max(scale, 3);
		context.fillStyle = colour;
		for (let page = event.page; page < event.page + event.pages; page++)
			context.fillRect((place.x + page % this.layout.width - part.x) * scale,
				(place.y + Math.floor(page / this.layout.width) - part.y) * scale, size, size);
	}

	// Zoom by a factor around a point of the canvas, and shift by (dx, dy).
	grow(times, x, y, dx = 0, dy = 0) {
		const box = this.canvas.getBoundingClientRect();
		const ratio = this.canvas.width / box.width;
		const [part, scale] = [this.window(), this.scale()];
		const middle = (from, at, by, size, next) => from + at * ratio / scale + (size / 2 - (at + by) * ratio) / next;
		const grown = this.within(scale * times, (next) => [
			middle(part.x, x - box.left, dx, this.canvas.width, next),
			middle(part.y, y - box.top, dy, this.canvas.height, next)]);
		const all = grown.wide >= this.layout.wide && grown.tall >= this.layout.tall;
		return all && times !== 1 ? null : grown;
	}

	// Get the rectangle of a block in the picture.
	placeOf(block) {
		const {across, columns, width, high, lunWide, lunTall} = this.layout;
		const lun = Math.floor(block / this.blocks);
		const inside = block % this.blocks;
		return {x: lun % across * lunWide + inside % columns * (width + 1),
			y: Math.floor(lun / across) * lunTall + Math.floor(inside / columns) * high,
			wide: width, tall: high - 1};
	}

	lunPlace(lun) {
		const {across, lunWide, lunTall} = this.layout;
		return {x: lun % across * lunWide, y: Math.floor(lun / across) * lunTall, wide: lunWide,
			tall: lunTall};
	}

	// Return true if the view shows one block and its margin.
	shows(block) {
		const {x, y} = this.placeOf(block);
		return this.zoom !== null && this.zoom.x === x - 1 && this.zoom.y === y - 1;
	}

	// Get block and page at a point of the canvas, or null.
	find(x, y) {
		const box = this.canvas.getBoundingClientRect();
		const part = this.window();
		const scale = this.scale() * box.width / this.canvas.width;
		const px = part.x + (x - box.left) / scale;
		const py = part.y + (y - box.top) / scale;
		const {across, columns, width, high, lunWide, lunTall} = this.layout;
		const lun = Math.floor(py / lunTall) * across + Math.floor(px / lunWide);
		const column = Math.floor(px % lunWide / (width + 1));
		const row = Math.floor(py % lunTall / high);
		const block = row * columns + column;
		if (px < 0 || py < 0 || px >= this.layout.wide || py >= this.layout.tall ||
		    column >= columns || block >= this.blocks)
			return null;
		return {lun, block: lun * this.blocks + block,
			page: Math.min(Math.floor(py % lunTall % high), high - 2) * width +
				Math.min(Math.floor(px % lunWide % (width + 1)), width - 1)};
	}
}

// Draw one block: layers from top to bottom, with their word lines and pages.
function drawBlock(canvas, about, block, chosen, ground) {
	const scale = fitted(canvas);
	const row = about.word_lines * about.word_line_pages;
	const width = about.layers > 1 ? row : Math.ceil(Math.sqrt(row));
	const rows = Math.ceil(about.pages / width);
	const wide = canvas.width / width;
	const tall = canvas.height / rows;
	const context = canvas.getContext("2d");
	context.font = `${Math.min(wide, tall) * 0.6}px system-ui, sans-serif`;
	context.textAlign = "center";
	context.textBaseline = "middle";
	block.pages.forEach((said, page) => {
		const [x, y] = [page % width * wide, Math.floor(page / width) * tall];
		const {mode, approximate, valid} = pageOf(said);
		const strong = said ? mixed(ground, approximate ? APPROXIMATE : PRECISE, valid ? 1 : 0.25) :
			ground;
		context.fillStyle = strong;
		context.fillRect(x, y, wide - 1, tall - 1);
		if (said && Math.min(wide, tall) > 9 * scale) {
			const letter = LETTERS[mode];
			context.fillStyle = valid ? approximate ? "#000000" : "#ffffff" : mixed(strong,
				approximate ? APPROXIMATE : PRECISE, 0.8);
			context.fillText(valid ? letter : letter.toLowerCase(), x + wide / 2, y + tall / 2);
		}
		if (page === chosen) {
			context.strokeStyle = "#d55e00";
			context.lineWidth = 2 * scale;
			context.strokeRect(x + scale, y + scale, wide - 2 * scale - 1, tall - 2 * scale - 1);
		}
	});
	return {width, rows};
}

// The encoding is that of playground_describe_block().
function pageOf(said) {
	return {mode: said - 1 >> 6, approximate: Boolean(said - 1 & 32), valid: said - 1 & 31};
}
