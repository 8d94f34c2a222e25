// SPDX-License-Identifier: GPL-2.0-only
//
// Charts of the device's cost over the number of requests.

const MOST_SAMPLES = 600;

const sum = (counters, pattern) => Object.entries(counters)
	.reduce((all, [name, value]) => (pattern.test(name) ? all + value : all), 0);
// Approximate rated erase cycles of TLC cells.
const RATED = 3000;
const FULL_WEAR = 10000;
const energy = (counters) => sum(counters, /_energy_pj$/);
const programmed = (counters) => sum(counters, /^programmed_\w+_units$/);

// Units that the host wrote in between, as bytes: a write may be smaller than a unit.
const written = (now, then) =>
	(now.counters.host_write_bytes - then.counters.host_write_bytes) / now.unit_bytes;

function ratio(above, below) {
	return below > 0 ? above / below : NaN;
}

const CHARTS = [
	{name: "write-response", title: "write response, mean", unit: "ms", of: (now, then) =>
		ratio(now.write_response.sum_ns - then.write_response.sum_ns,
			now.write_response.count - then.write_response.count) / 1e6},
	{name: "read-response", title: "read response, mean", unit: "ms", of: (now, then) =>
		ratio(now.read_response.sum_ns - then.read_response.sum_ns,
			now.read_response.count - then.read_response.count) / 1e6},
	{name: "amplification", title: "write amplification", unit: "×", of: (now, then) =>
		ratio(programmed(now.counters) - programmed(then.counters),
			written(now, then))},
	{name: "energy", title: "energy for a written unit", unit: "µJ", of: (now, then) =>
		ratio(energy(now.counters) - energy(then.counters),
			written(now, then)) / 1e6},
	{name: "lifetime", title: `drive writes until ${RATED} full erases of a block`, unit: "×",
		of: (now, then) => RATED * FULL_WEAR * now.blocks / now.units *
			ratio(written(now, then),
				now.wear - then.wear)},
	{name: "wear", title: "erases for 1000 written units", unit: "", of: (now, then) =>
		1000 * ratio(now.counters.array_erases - then.counters.array_erases,
			written(now, then))},
];

class Samples {
	constructor() {
		this.list = [];
		this.gap = 1;
	}

	// Skip samples of a part of the run that is replayed: they are in the list already.
	add(state) {
		const last = this.list[this.list.length - 1];
		if (last && state.requests < last.requests + this.gap)
			return;
		this.list.push(state);
		if (this.list.length > MOST_SAMPLES) {
			this.list = this.list.filter((_, i) => i % 2 === 0);
			this.gap *= 2;
		}
	}

	// Average over a tenth of the samples. A change of policy restarts the counters.
	points(chart) {
		const span = Math.max(1, Math.floor(this.list.length / 10));
		return this.list.slice(1).map((now, i) => {
			const then = this.list[Math.max(0, i + 1 - span)];
			return [now.requests, chart.of(now, now.since_ns > then.since_ns ? this.zero(now) : then)];
		}).filter(([, value]) => Number.isFinite(value));
	}

	zero(state) {
		const none = Object.fromEntries(Object.keys(state.counters).map((name) => [name, 0]));
		const no = {sum_ns: 0, count: 0};
		// The wear before the change of policy is unknown.
		return {counters: none, write_response: no, read_response: no, wear: NaN};
	}
}

const EMPTY = new Samples();

// Totals of the whole run, whose first state has the wear at the start.
function total(chart, state, first) {
	const zero = EMPTY.zero(state);
	return chart.of(state, first?.since_ns === state.since_ns ? {...zero, wear: first.wear} : zero);
}

function plain(value) {
	return !Number.isFinite(value) ? "–" : value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function colourOf(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Return a round number (1, 2 or 5 times a power of ten); value is 1 to 2.5 times as large.
function roundBelow(value) {
	const power = 10 ** Math.floor(Math.log10(value));
	return [5, 2, 1].find((one) => one * power <= value) * power;
}

// Draw the axis of values: a line at zero and at a round value.
function drawAxes(context, canvas, scale, {mark, y}) {
	context.strokeStyle = colourOf("--line");
	context.lineWidth = scale;
	for (const value of mark ? [0, mark] : [0]) {
		context.beginPath();
		context.moveTo(0, y(value));
		context.lineTo(canvas.width, y(value));
		context.stroke();
	}
}

// Write numbers and the unit at the axes, above the curves, in letters with an outline.
function writeAxes(context, canvas, scale, {mark, right, unit, y}) {
	context.font = `${11 * scale}px system-ui, sans-serif`;
	context.fillStyle = colourOf("--soft");
	context.strokeStyle = colourOf("--panel");
	context.lineWidth = 3 * scale;
	context.lineJoin = "round";
	const write = (text, at, value, align, baseline) => {
		context.textAlign = align;
		context.textBaseline = baseline;
		context.strokeText(text, at, y(value) + 2 * scale);
		context.fillText(text, at, y(value) + 2 * scale);
	};
	if (mark)
		write(`${plain(mark)} ${unit}`, 2 * scale, mark, "left",
			y(mark) > 14 * scale ? "bottom" : "top");
	write("0", 2 * scale, 0, "left", "top");
	write(`request ${Math.round(right)}`, canvas.width - 2 * scale, 0, "right", "top");
}

// lines: [{colour, points}]
function drawChart(canvas, lines, cursor, unit) {
	const scale = fitted(canvas);
	const context = canvas.getContext("2d");
	const all = lines.flatMap((line) => line.points);
	const right = Math.max(1, cursor, ...all.map(([at]) => at));
	const most = Math.max(0, ...all.map(([, value]) => value));
	if (!all.length)
		return;
	const top = 1.1 * (most || 1), mark = most && roundBelow(most);
	const floor = canvas.height - 16 * scale;
	const x = (at) => at / right * canvas.width;
	const y = (value) => floor - value / top * floor;
	drawAxes(context, canvas, scale, {mark, y});
	context.strokeStyle = "#7f7f7f";
	context.lineWidth = scale;
	context.beginPath();
	context.moveTo(x(cursor), 0);
	context.lineTo(x(cursor), floor);
	context.stroke();
	for (const line of lines) {
		context.strokeStyle = line.colour;
		context.lineWidth = 2 * scale;
		context.setLineDash(line.dashed ? [6 * scale, 4 * scale] : []);
		context.beginPath();
		line.points.forEach(([at, value], i) => context[i ? "lineTo" : "moveTo"](x(at), y(value)));
		context.stroke();
	}
	context.setLineDash([]);
	writeAxes(context, canvas, scale, {mark, right, unit, y});
}
