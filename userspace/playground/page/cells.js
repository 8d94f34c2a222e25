// SPDX-License-Identifier: GPL-2.0-only
//
// The cells of a unit: distributions of their voltages, and cells that crossed a read reference.

const CELLS_WIDE = 256;
// Bins with a smaller part of a state's cells are not drawn.
const LEAST = 1e-9;
const AXIS = 14;
const STRONG = 3;

// The encoding is that of playground_get_cell_voltages().
function cellOf(word) {
	return {mv: (word & 0xffff) - 32768, state: word >> 16 & 0xff, crossed: Boolean(word >> 24)};
}

function readAs(cells, mv) {
	return cells.references_mv.filter((reference) => mv >= reference).length;
}

function rate(q40) {
	return (q40 / 2 ** 40).toExponential(1);
}

function tellCells(cells, page) {
	if (!cells.programmed)
		return `Erased: ${cells.states ? "all cells are in the lowest state, which only a block as a whole " +
			"returns to" : "this cell's model has no voltages to draw"}.`;
	const crossed = !cells.data ? "Nothing is known of their errors." :
		`${cells.raw} are read as another state than they were programmed to` +
		`${!page.class && cells.raw ? "; the code corrects that" : ""}` +
		`${cells.baked ? `; ${cells.baked} bits were wrong before they were copied here` : ""}.`;
	if (!cells.states)
		return `${crossed} The core has an error rate for such a program, and no voltages.`;
	const why = cells.constant ? "a constant, as its cell_model says" : cells.assigned ? "assigned by the paper" :
		"with its layer and reads";
	return `${crossed} After ${cells.cycles} erases, ${cells.hours} hours and ${cells.disturb_mv} mV from ` +
		`neighbours these states give ${rate(cells.states_q40)} wrong bits; the page's rate is ` +
		`${rate(cells.rber_q40)}, ${why}. How many cells have crossed, and which, is the device's; as ` +
		"simulated writes have no bytes, the state of each is drawn.";
}

function tellCell(cells, at) {
	const {mv, state, crossed} = cellOf(cells.words[at]);
	if (!cells.states)
		return `Cell ${at}${crossed ? ": it has crossed a reference" : ""}`;
	if (!cells.programmed)
		return `Cell ${at}: erased, at ${(mv / 1000).toFixed(2)} V`;
	return `Cell ${at}: programmed to state ${state}, now at ${(mv / 1000).toFixed(2)} V, read as ` +
		`${readAs(cells, mv)}${crossed ? ": it has crossed a reference" : ""}`;
}

// Get the lowest and the highest voltage in use, in millivolts.
function reach(cells) {
	const some = (spread) => spread.some((part) => part > LEAST);
	const seen = cells.spreads.filter(some);
	const first = Math.min(...seen.map((spread) => spread.findIndex((part) => part > LEAST)));
	const last = Math.max(...seen.map((spread) => spread.findLastIndex((part) => part > LEAST)));
	return [first, last].map((bin) => bin * cells.bin_mv - cells.below_zero_mv);
}

// Above: the distributions of the states, on a log scale. Below: each cell at its voltage.
function drawSpread(canvas, cells, chosen) {
	canvas.hidden = !cells.states;
	if (!cells.states)
		return;
	const scale = fitted(canvas);
	const context = canvas.getContext("2d");
	const [from, to] = reach(cells);
	const place = {x: (mv) => (mv - from) / (to - from) * canvas.width, from, to, scale,
		middle: canvas.height * 0.62, bottom: canvas.height - AXIS * scale};
	const shown = cells.programmed ? cells.spreads : cells.spreads.slice(0, 1);
	shown.forEach((spread, state) => drawState(context, cells, spread, STATES[state], place));
	drawDots(context, cells, place);
	drawReferences(context, cells, place);
	const {mv} = cellOf(cells.words[chosen]);
	context.strokeRect(place.x(mv) - 4 * scale, dotHeight(chosen, place) - 4 * scale, 8 * scale, 8 * scale);
}

function drawState(context, cells, spread, colour, place) {
	const height = (part) => place.middle * Math.max(0, Math.log10(part / LEAST) / -Math.log10(LEAST));
	context.fillStyle = colour;
	context.globalAlpha = 0.7;
	context.beginPath();
	context.moveTo(0, place.middle);
	spread.forEach((part, bin) => {
		const mv = bin * cells.bin_mv - cells.below_zero_mv;
		if (mv >= place.from && mv <= place.to)
			context.lineTo(place.x(mv), place.middle - height(part));
	});
	context.lineTo(context.canvas.width, place.middle);
	context.fill();
	context.globalAlpha = 1;
}

// Return a position within the cell's band; pseudorandom, but the same at each call.
function dotHeight(at, place) {
	return place.middle + 3 * place.scale + at * 0.6180339887 % 1 * (place.bottom - place.middle - 6 * place.scale);
}

function drawDots(context, cells, place) {
	const dots = (size, wanted) => cells.words.forEach((word, at) => {
		const {mv, state, crossed} = cellOf(word);
		if (crossed !== wanted)
			return;
		context.fillStyle = crossed ? CROSSED : STATES[state];
		context.fillRect(place.x(mv) - size / 2, dotHeight(at, place) - size / 2, size, size);
	});
	dots(place.scale, false);
	dots(STRONG * place.scale, true);
}

function drawReferences(context, cells, place) {
	const colour = getComputedStyle(context.canvas).color;
	context.strokeStyle = context.fillStyle = colour;
	context.lineWidth = place.scale;
	context.setLineDash([4 * place.scale, 3 * place.scale]);
	context.beginPath();
	for (const mv of cells.programmed ? cells.references_mv : []) {
		context.moveTo(place.x(mv), 0);
		context.lineTo(place.x(mv), place.bottom);
	}
	context.stroke();
	context.setLineDash([]);
	context.font = `${11 * place.scale}px system-ui, sans-serif`;
	context.textAlign = "center";
	for (let volt = Math.ceil(place.from / 1000); volt <= place.to / 1000; volt++)
		context.fillText(`${volt} V`, place.x(1000 * volt), context.canvas.height - 3 * place.scale);
}

// Draw all cells in rows, each in the colour of the state that it was programmed to.
function drawCells(canvas, cells, chosen) {
	const context = canvas.getContext("2d");
	canvas.width = CELLS_WIDE;
	canvas.height = Math.ceil(cells.bits / CELLS_WIDE);
	const pixels = new ImageData(canvas.width, canvas.height);
	const colours = cells.states ? STATES.map(word) : [word(PRECISE)];
	new Uint32Array(pixels.data.buffer).set(cells.words.map((one) => colours[cellOf(one).state]));
	context.putImageData(pixels, 0, 0);
	const spot = (at, colour, size) => {
		context.fillStyle = colour;
		context.fillRect(at % CELLS_WIDE - (size >> 1), Math.floor(at / CELLS_WIDE) - (size >> 1), size, size);
	};
	cells.words.forEach((one, at) => cellOf(one).crossed && spot(at, "#000000", STRONG + 2));
	cells.words.forEach((one, at) => cellOf(one).crossed && spot(at, CROSSED, STRONG));
	context.strokeStyle = "#ffffff";
	context.strokeRect(chosen % CELLS_WIDE - 2.5, Math.floor(chosen / CELLS_WIDE) - 2.5, 6, 6);
}

function cellAt(canvas, x, y) {
	const box = canvas.getBoundingClientRect();
	const inside = (at, from, size, count) => Math.min(Math.max(Math.floor((at - from) / size * count), 0),
		count - 1);
	return inside(y, box.top, box.height, canvas.height) * CELLS_WIDE +
		inside(x, box.left, box.width, CELLS_WIDE);
}
