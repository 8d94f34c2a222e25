// SPDX-License-Identifier: GPL-2.0-only
//
// The page: connects controls, runs and drawings.

const FRAME_MS = 10;
const MARKED_PACE = 3000;
// Time limits of one step towards a distant request: the first step, and the following ones.
const STANDSTILL_MS = 4000;
const SEEK_MS = 40;
// Time limit of a step while the user drags a slider.
const DRAG_MS = 200;
// Least time between two address changes: the strictest browser allows a hundred in 30 s.
const TOLD_MS = 350;
const MOST_FRAMES = 10000;
// Maximum size of a dropped file.
const MOST_BYTES = 256e6;
const SIDES = ["a", "b"];

const $ = (name) => document.getElementById(name);

const app = {
	state: {...STANDARD}, module: null, files: [], runs: {}, samples: {}, pictures: {},
	playing: false, task: null, credit: 0, chosen: {block: 0, page: 0}, cell: {slot: 0, at: 0}, side: "a", frames: [], target: null, toldAt: -TOLD_MS,
};

// ---------------------------------------------------------------- small things

function element(name, attributes = {}, ...children) {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(attributes))
		if (key.startsWith("on"))
			made.addEventListener(key.slice(2), value);
		else
			made.setAttribute(key, value);
	made.append(...children);
	return made;
}

function fillSelect(select, values) {
	select.replaceChildren(...values.map(([value, text]) => element("option", {value}, text)));
}

// Show an error until the next action of the user.
function attempt(what) {
	try {
		what();
		return true;
	} catch (error) {
		tellTrouble(error);
		return false;
	}
}

function forgetTrouble() {
	$("trouble").hidden = true;
}

function tellTrouble(error) {
	if (app.playing)
		setPlaying(false);
	$("trouble").textContent = error.message;
	$("trouble").hidden = false;
}

function ground() {
	return getComputedStyle(document.documentElement).getPropertyValue("--ground").trim();
}

function sides() {
	return SIDES.filter((side) => app.runs[side]);
}

function duration(ns) {
	const units = [[3.6e12, "h"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
	const [size, name] = units.find(([least]) => ns >= least) || [1, "ns"];
	return `${plain(ns / size)} ${name}`;
}

// ---------------------------------------------------------------- runs

function restart(patience = STANDSTILL_MS) {
	app.runs = {};
	app.samples = {};
	forgetTrouble();
	if (attempt(() => begun("a", app.state.a)) && app.state.b)
		attempt(() => begun("b", app.state.b));
	lookAgain();
	$("side-b").hidden = !app.runs.b;
	goTo(Number(app.state.at), patience);
}

// Start a run. If its policy does not fit the device, the other run is unaffected.
function begun(side, policy) {
	app.runs[side] = new Run(app.module, argsOf(app.state, policy), app.files,
		actionsOf(app.state.do, side));
	app.samples[side] = new Samples();
	app.samples[side].add(app.runs[side].state);
}

// Select what the state says; reset a selection that the device does not have.
function lookAgain() {
	if (app.runs.a && !isThere(app.state.see))
		app.state.see = STANDARD.see;
	if (app.runs.a && app.state.zoom && !isZoom(app.state.zoom))
		app.state.zoom = STANDARD.zoom;
	const [side, ...numbers] = app.state.see.split(":");
	const [block, page, slot, at] = numbers.map(Number);
	Object.assign(app, {side, chosen: {block, page}, cell: {slot, at}});
}

function isThere(see) {
	const [side, ...numbers] = see.split(":");
	const {about} = app.runs.a.device;
	const ends = [blocks(), about.pages, about.page_units, 8 * about.unit_bytes];
	return side in app.runs && numbers.every((number, i) => Number(number) < ends[i]);
}

// Return true if the die or block exists, or the part has a size.
function isZoom(words) {
	const [number, , , wide = 1] = words.slice(1).split(":").map(Number);
	return number < (words[0] === "d" ? app.runs.a.device.about.luns : blocks()) && wide > 0;
}

function blocks() {
	const {about} = app.runs.a.device;
	return about.luns * about.blocks_per_lun;
}

// Take samples on the way, so that the charts do not depend on the speed.
function move(side, requests, ns, patience) {
	const run = app.runs[side];
	if (requests < run.at || ns < run.state.now_ns)
		run.go(Math.min(requests, run.at), ns);
	const end = performance.now() + patience;
	let there;
	do {
		there = run.go(Math.min(requests, run.at + app.samples[side].gap + 31), ns, patience);
		app.samples[side].add(run.state);
		there = run.over || run.at >= requests || run.state.now_ns >= ns;
	} while (!there && performance.now() < end);
	return there;
}

function goTo(requests, patience = STANDSTILL_MS) {
	const at = Math.min(Math.max(Math.round(requests) || 0, 0), MOST_REQUESTS);
	let there = true;
	attempt(() => {
		if (app.runs.a)
			there = move("a", at, FOREVER, patience);
		there = follow(patience) && there;
	});
	app.target = there ? null : at;
	cancelAnimationFrame(app.seeking);
	if (!there)
		app.seeking = requestAnimationFrame(() => app.target === at && goTo(at, SEEK_MS));
	settle();
}

// Return true if device b has reached its target.
function follow(patience) {
	if (!app.runs.b)
		return true;
	return app.state.sync === "time" ?
		move("b", MOST_REQUESTS, app.runs.a.state.now_ns, patience) :
		move("b", app.runs.a.at, FOREVER, patience);
}

// Update everything that shows the current position.
function settle() {
	if (app.runs.a)
		app.state.at = String(app.target === null ? app.runs.a.at : app.target);
	draw(true);
	checkTask();
	if (!app.playing && app.target === null)
		tellAddress();
}

// Replace the address at a limited rate, but not after the user has navigated elsewhere.
function replaceAddress() {
	clearTimeout(app.telling);
	const wait = app.toldAt + TOLD_MS - performance.now();
	if (wait > 0) {
		app.telling = setTimeout(replaceAddress, wait);
		return;
	}
	const address = addressOf(app.state);
	if (location.hash !== app.told || address === app.told)
		return;
	history.replaceState(null, "", address);
	app.told = location.hash;
	app.toldAt = performance.now();
}

// The command names a dropped file by its own name.
function tellAddress() {
	replaceAddress();
	const other = String(app.runs.b ? app.runs.b.at : app.state.at);
	const trace = app.state.trace && (/^-/.test(app.trace) ? `./${app.trace}` : app.trace);
	$("command").textContent = commandsOf({...app.state, trace}, other).join("\n");
	$("digest").textContent = sides().map((side) => app.runs[side].device.digest()).join(" ");
}

// ---------------------------------------------------------------- drawing

function draw(everything) {
	const place = app.state.place;
	if (place !== "device" || !app.runs.a)
		return;
	const colours = coloursOf(app.state.view, ground());
	for (const side of sides())
		drawSide(side, colours);
	if (everything || !(app.turn++ % 6))
		drawRest();
}

function drawSide(side, colours) {
	const run = app.runs[side];
	const picture = app.pictures[side];
	const {about} = run.device;
	picture.blocks = about.blocks_per_lun;
	picture.chosen = app.chosen;
	picture.wanted = app.state.zoom;
	picture.draw(run.device, app.state.view, colours);
	$(`name-${side}`).textContent = about.policy;
	$(`fact-${side}`).textContent = `request ${run.at}, ${duration(run.state.now_ns)}; ` +
		`write ${plain(total(CHARTS[0], run.state))} ms, one in a thousand ` +
		`${plain(run.state.write_response.p99_9_ns / 1e6)} ms, amplification ` +
		`${plain(total(CHARTS[2], run.state))}${run.over ? "; the trace is over" : ""}` +
		`${run.state.read_only ? "; worn out: read-only" : ""}${app.target === null ? "" : `; on the way to ${app.target}`}`;
}

function drawRest() {
	const run = app.runs.a;
	$("scrub").max = Math.max(1000, run.at, Number($("scrub").max) || 0);
	$("scrub").value = run.at;
	if (document.activeElement !== $("at"))
		$("at").value = run.at;
	for (const side of sides())
		$(`picture-${side}`).setAttribute("aria-label", describe(side));
	drawLegend();
	drawCharts();
	drawDetails();
}

function describe(side) {
	const {device, state} = app.runs[side];
	return `${device.about.policy}: ${device.about.luns} dies of ${device.about.blocks_per_lun} blocks, ` +
		`${state.free_blocks} blocks free, ${state.valid_units} of ${device.about.units} units valid. ` +
		"Arrow keys choose a block, Enter zooms.";
}

function drawLegend() {
	const legend = legendOf(app.state.view, app.runs[app.side in app.runs ? app.side : "a"].device.about,
		ground());
	$("legend").replaceChildren(...legend.map(([colour, text]) => {
		const spot = element("i");
		spot.style.background = colour;
		return element("span", {}, spot, text);
	}));
}

function lineColour(side) {
	return side === "a" ? PRECISE : APPROXIMATE;
}

function drawCharts() {
	for (const chart of CHARTS) {
		const lines = sides().map((side) => ({colour: lineColour(side), dashed: side === "b",
			points: app.samples[side].points(chart)}));
		drawChart($(`chart-${chart.name}`), lines, app.runs.a.at, chart.unit);
		$(`value-${chart.name}`).textContent = sides().map((side) =>
			`${app.runs[side].device.about.policy} ${plain(total(chart, app.runs[side].state,
				app.samples[side].list[0]))}`).join(", ") +
			` ${chart.unit}`;
	}
}

// ---------------------------------------------------------------- a block and a page

function drawDetails() {
	const run = app.runs[app.side] || app.runs.a;
	const {about} = run.device;
	const block = run.device.json("playground_describe_block", app.chosen.block);
	$("block-title").textContent = `Block ${app.chosen.block} of die ` +
		`${Math.floor(app.chosen.block / about.blocks_per_lun)}, ${about.policy}`;
	$("block-text").textContent = `${block.state}${block.kind ? `, ${block.kind}` : ""}, programmed ` +
		`${block.order}; ${block.programmed} of ${about.pages} pages, ${block.valid} valid units ` +
		`(${block.valid_approx} approximate), ${block.erases} erases, ${block.reads} reads`;
	app.blockShape = drawBlock($("block"), about, block, app.chosen.page, ground());
	drawPage(run);
}

function drawPage(run) {
	const page = run.device.json("playground_describe_page", app.chosen.block, app.chosen.page);
	const {about} = run.device;
	$("page-title").textContent = `Page ${app.chosen.page}: layer ${page.layer}, word line ` +
		`${page.word_line}, page ${page.bit} of it`;
	$("page-text").textContent = page.programmed ? `${page.class ? "approximate" : "precise"}, programmed ` +
		`${about.modes[page.mode]}, ${page.hours} h old, shifted ${page.disturb_mv} mV by neighbours, ` +
		`raw error rate ${(page.rber_q40 / 2 ** 40).toExponential(1)}. ${page.slots.map(tellSlot)
			.join("; ")}` : "erased: nothing is in it";
	drawUnit(run, page);
	$("history").replaceChildren(...page.history.map((event) => element("li", {},
		`${event.erase ? "erased" : `programmed ${about.modes[event.mode]}, ${event.cause}`} ` +
		`at request ${event.request}, ${duration(event.ns)}`)),
	...page.history.length ? [] : [element("li", {}, page.history_complete ?
		"nothing since the device began" : "nothing in the last 16384 programs and erases")]);
}

function tellSlot(slot) {
	const errors = slot.raw_errors === undefined ? "" : slot.lost ? ", lost" :
		`, ${slot.raw_errors} raw errors, ${slot.flips} flipped bits`;
	return slot.valid ? `unit ${slot.unit}${errors}` : slot.unit === undefined ? "padding" :
		`garbage, once unit ${slot.unit}`;
}

// Redraw the cells only if they have changed.
function drawUnit(run, page) {
	const {about} = run.device;
	const slot = Math.min(app.cell.slot, about.page_units - 1);
	if ($("slot").length !== about.page_units)
		fillSelect($("slot"), Array.from({length: about.page_units}, (_, i) => [i, String(i)]));
	$("slot").value = slot;
	const cells = run.device.cells(app.chosen.block, app.chosen.page, slot);
	const said = `${run.device.told()}${JSON.stringify([page.slots && page.slots[slot], app.chosen, app.cell,
		app.side, ground(), $("spread").getBoundingClientRect().width])}`;
	if (said === app.saidOfCells)
		return;
	app.saidOfCells = said;
	$("cells-title").textContent = `${cells.bits} cells${page.slots ? ` of ${tellSlot(page.slots[slot])
		.split(",")[0]}` : ""}`;
	$("cells-text").textContent = tellCells(cells, page);
	$("cell-text").textContent = tellCell(cells, app.cell.at);
	drawSpread($("spread"), cells, app.cell.at);
	drawCells($("cells"), cells, app.cell.at);
}

function choose(side, block, page) {
	if (!app.runs[side])
		return;
	app.side = side;
	app.chosen = {block, page};
	chooseCell({slot: 0, at: 0});
}

function chooseCell(cell) {
	app.cell = cell;
	app.state.see = [app.side, app.chosen.block, app.chosen.page, cell.slot, cell.at].join(":");
	replaceAddress();
	draw(true);
	checkTask();
}

function zoomInto(side) {
	const picture = app.pictures[side];
	if (!app.runs[side])
		return;
	const die = `d${Math.floor(app.chosen.block / picture.blocks)}`;
	zoomTo(app.state.zoom === die || app.runs.a.device.about.luns === 1 ? `b${app.chosen.block}` : die);
}

// Zoom to a part, with "words" as in the address; without words show everything.
function zoomTo(words, part) {
	app.state.zoom = words;
	for (const side of sides()) {
		app.pictures[side].look(words, part);
		app.pictures[side].show();
	}
	replaceAddress();
}

function zoomOut() {
	zoomTo("");
}

// While nothing is zoomed, a single finger scrolls the page.
function fingered(side, times, ...way) {
	const picture = app.pictures[side];
	if (!app.runs[side] || (times === 1 && !picture.zoom))
		return;
	const part = picture.grow(times, ...way);
	zoomTo(picture.wordsOf(part), part);
}

function clicked(side, event) {
	const found = app.runs[side] && app.pictures[side].fingers.clicked() &&
		app.pictures[side].find(event.clientX, event.clientY);
	if (found)
		choose(side, found.block, found.page);
}

// Enter goes one level deeper: die, block, pages of the block.
function arrowed(side, event) {
	if (!app.runs[side])
		return;
	const block = moved(event.key, app.chosen.block, app.pictures[side].layout.columns, blocks());
	if (block !== null)
		choose(side, block, app.chosen.page);
	else if (event.key === "Enter" && app.pictures[side].shows(app.chosen.block))
		$("block").focus();
	else if (event.key === "Enter")
		zoomInto(side);
	else
		return;
	event.preventDefault();
}

// Return the index that an arrow key leads to among "count" in rows of "width"; or null.
function moved(key, from, width, count) {
	const steps = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width};
	return key in steps ? Math.min(Math.max(from + steps[key], 0), count - 1) : null;
}

// Enter continues to the cells, Escape returns to the blocks.
function pageArrowed(event) {
	if (!app.runs.a)
		return;
	const page = moved(event.key, app.chosen.page, app.blockShape.width, app.runs.a.device.about.pages);
	if (page !== null)
		choose(app.side, app.chosen.block, page);
	else if (event.key === "Enter")
		$("cells").focus();
	else if (event.key === "Escape")
		app.pictures[app.side].canvas.focus();
	else
		return;
	event.preventDefault();
	event.stopPropagation();
}

function cellArrowed(event) {
	if (!app.runs.a)
		return;
	const at = moved(event.key, app.cell.at, CELLS_WIDE, $("cells").height * CELLS_WIDE);
	if (at !== null)
		chooseCell({...app.cell, at});
	else if (event.key === "Escape")
		$("block").focus();
	else
		return;
	event.preventDefault();
	event.stopPropagation();
}

function cellClicked(event) {
	if (app.runs.a)
		chooseCell({...app.cell, at: cellAt($("cells"), event.clientX, event.clientY)});
}

function pageClicked(event) {
	if (!app.runs.a)
		return;
	const box = $("block").getBoundingClientRect();
	const {width, rows} = app.blockShape;
	const page = Math.floor((event.clientY - box.top) / box.height * rows) * width +
		Math.floor((event.clientX - box.left) / box.width * width);
	choose(app.side, app.chosen.block, Math.min(page, app.runs.a.device.about.pages - 1));
}

// ---------------------------------------------------------------- time

function pace() {
	return 10 ** Number($("speed").value);
}

function setPlaying(playing) {
	app.playing = playing && Boolean(app.runs.a);
	app.target = null;
	app.credit = 0;
	app.then = performance.now();
	$("play").setAttribute("aria-pressed", String(app.playing));
	$("play").textContent = app.playing ? "❚❚ Pause" : "▶ Play";
	if (!app.playing && app.runs.a)
		tellAddress();
	cancelAnimationFrame(app.loop);
	app.loop = requestAnimationFrame(frame);
}

function frame(now) {
	if (!app.playing) {
		draw(true);
		return;
	}
	app.frames.push(now);
	app.frames.splice(0, app.frames.length - MOST_FRAMES);
	app.credit += pace() * Math.min(now - app.then, 100) / 1000;
	app.then = now;
	const whole = Math.floor(app.credit);
	app.credit -= whole;
	const before = Object.fromEntries(sides().map((side) => [side, app.runs[side].state.events]));
	attempt(() => {
		move("a", app.runs.a.at + whole, FOREVER, FRAME_MS);
		follow(FRAME_MS);
	});
	if (pace() <= MARKED_PACE)
		for (const side of sides())
			app.pictures[side].flash(app.runs[side].device.json("playground_list_events", before[side]).events);
	app.state.at = String(app.runs.a.at);
	draw(false);
	checkTask();
	if (app.runs.a.over)
		setPlaying(false);
	else if (app.playing)
		app.loop = requestAnimationFrame(frame);
}

// Move by a number of requests; flashes fade while the run stands still, too.
function stepBy(requests) {
	setPlaying(false);
	if (!app.runs.a)
		return;
	const before = app.runs.a.state.events;
	goTo(app.runs.a.at + requests);
	if (requests > 0)
		app.pictures.a.flash(app.runs.a.device.json("playground_list_events", before).events);
	const fade = () => {
		for (const side of sides())
			app.pictures[side].show();
		if (sides().some((side) => app.pictures[side].flashes.length))
			requestAnimationFrame(fade);
	};
	fade();
}

// ---------------------------------------------------------------- changes

function setState(changes, patience = STANDSTILL_MS) {
	Object.assign(app.state, changes);
	showControls();
	restart(patience);
}

function addAction(whose, what, value) {
	setPlaying(false);
	if (!app.runs.a)
		return;
	const before = app.state.do;
	const action = `${app.runs.a.at}:${whose}:${what}:${value}`;
	setState({do: [...before.split(";").filter(Boolean), action].join(";")});
	if ($("trouble").hidden)
		return;
	const {textContent} = $("trouble");
	setState({do: before});
	tellTrouble(new Error(textContent));
}

// Parse KEY=VALUE, which saves a slider for each parameter.
function addParameter() {
	const [, what, value] = /^\s*([a-z_]+)\s*=\s*([\w.%]+)\s*$/.exec($("parameter").value) || [];
	$("parameter").value = "";
	forgetTrouble();
	if (what && RIGHT.do(`0:*:${what}:${value}`))
		addAction("*", what, value);
	else
		tellTrouble(new Error("a parameter is changed by its name and value, such as gc=8"));
}

function showControls() {
	for (const input of $("controls").elements)
		if (input.name) {
			input.value = input.name === "op" && !app.state.op ? "15" : app.state[input.name];
			const output = input.parentNode.querySelector(".value");
			if (output)
				output.textContent = input.name === "op" && !app.state.op ? "as the profile" :
					`${input.value}${output.dataset.unit || ""}`;
		}
	$("view").value = app.state.view;
	$("sync").value = app.state.sync;
	$("changes").textContent = app.state.do.split(";").filter(Boolean).map((word) => {
		const [at, , what, value] = word.split(":");
		return `at ${at}: ${what === "age" ? `${value} h pass` : `${what} ${value}`}`;
	}).join("; ");
}

function controlled(event) {
	const {name, value} = event.target;
	if (!name)
		return;
	setPlaying(false);
	const worn = ["pe", "months"].includes(name) && app.state.view === "use" ? {view: "errors"} : {};
	setState({[name]: value, ...worn, ...name === "profile" ? {whole: ""} : {}},
		event.type === "input" ? DRAG_MS : STANDSTILL_MS);
}

// ---------------------------------------------------------------- places

const started = {};

function showPlace(place) {
	setPlaying(false);
	app.state.place = place;
	for (const button of document.querySelectorAll("[data-place]")) {
		const here = button.dataset.place === app.state.place;
		button.toggleAttribute("aria-current", here);
		$(button.dataset.place).hidden = !here;
	}
	if (app.state.place !== "device" && !started[app.state.place]) {
		started[app.state.place] = true;
		({content: startContent, course: startCourse, files: startFiles})[app.state.place]();
	}
	if (app.state.place === "content")
		enterContent();
	if (app.state.place === "course")
		showTour(Number(app.state.tour) - 1, app.part);
	tellAddress();
	draw(true);
}

// ---------------------------------------------------------------- approximate

const KINDS = [
	{name: "picture", title: "A picture", make: () => withoutAlpha(testPicture()), show: showPicture},
	{name: "sound", title: "A tune", make: testSound, show: showSound},
	{name: "numbers", title: "2048 numbers of 32 bits",
		make: () => new Uint8Array(testNumbers().buffer)},
];

function startContent() {
	const form = $("content-controls");
	fillSelect(form.policy, ["approxftl", "vth_b", "delta_b", "baseline"].map((name) => [name, name]));
	form.addEventListener("input", showContent);
	$("own").addEventListener("change", () => takePicture($("own").files[0]));
	for (const kind of KINDS) {
		kind.bytes = kind.make();
		$("samples").append(element("div", {class: "sample", id: `sample-${kind.name}`}));
	}
}

function enterContent() {
	const form = $("content-controls");
	[form.policy.value, form.pe.value, form.months.value] = app.state.rot.split(":");
	showContent();
}

// Load the picture that was chosen last, whichever file is decoded first.
async function takePicture(file) {
	app.picture = file || app.picture;
	try {
		const bytes = file && await pictureOf(file);
		if (!file || file !== app.picture)
			return;
		KINDS[0].bytes = bytes;
		showContent();
	} catch {
		tellTrouble(new Error(`${file.name}: this is no picture that the browser can read`));
	}
}

function showContent() {
	forgetTrouble();
	const form = $("content-controls");
	for (const input of [form.pe, form.months])
		input.parentNode.querySelector(".value").textContent = input.value;
	attempt(() => KINDS.forEach(showSample));
	app.state.rot = [form.policy.value, form.pe.value, form.months.value].join(":");
	tellAddress();
}

function showSample(kind) {
	const form = $("content-controls");
	const place = $(`sample-${kind.name}`);
	place.replaceChildren(element("h2", {}, kind.title));
	for (const approximate of [true, false]) {
		const found = throughDevice(app.module, kind.bytes, {approximate, policy: form.policy.value,
			pe: Number(form.pe.value), months: Number(form.months.value), seed: app.state.seed});
		place.append(sampleOf(kind, approximate, found));
	}
}

function sampleOf(kind, approximate, {bytes, flipped, bits, counted, lost}) {
	const part = element("div", {class: approximate ? "approximate" : "precise"},
		element("b", {}, approximate ? "approximate" : "precise"));
	if (kind.show) {
		const canvas = element("canvas", {role: "img",
			"aria-label": `${kind.title}, ${approximate ? "approximate" : "precise"}`});
		kind.show(canvas, bytes);
		part.append(canvas);
	} else {
		part.append(numbersTable(kind.bytes, bytes));
	}
	const quality = psnr(kind.bytes, bytes);
	part.append(element("p", {}, `${flipped} of ${bits} bits have flipped, the device ` +
		`counted ${counted}${lost ? `; ${lost} units are lost` : ""}. ` +
		`${kind.show ? `PSNR ${Number.isFinite(quality) ? `${quality.toFixed(1)} dB` : "∞: the same"}.` : ""}`));
	if (kind.name === "sound")
		part.append(element("button", {type: "button", onclick: () => playSound(bytes)}, "Listen"));
	return part;
}

function numbersTable(before, after) {
	const worst = worstNumbers(new Float32Array(before.slice().buffer),
		new Float32Array(after.slice().buffer), 6);
	const rows = worst.map(({i, value, now}) => element("tr", {}, element("td", {}, String(i)),
		element("td", {}, value.toFixed(2)), element("td", {}, Number(now).toPrecision(6))));
	return worst.length ? element("table", {}, element("tr", {}, ...["number", "written", "read"]
		.map((name) => element("th", {scope: "col"}, name))), ...rows) :
		element("p", {}, "All numbers come back as they were written.");
}

// ---------------------------------------------------------------- course

function startCourse() {
	$("tours").append(...TOURS.map((tour, i) => element("li", {},
		element("button", {onclick: () => { showTour(i); $("tour").focus(); }}, tour.title))));
}

// Show a tour, from part "from" on if the user returns from the device to it.
function showTour(number, from = 0) {
	const tour = TOURS[number];
	[...$("tours").querySelectorAll("button")].forEach((button, i) =>
		button.toggleAttribute("aria-current", i === number));
	app.state.tour = String(number + 1);
	app.part = from;
	tellAddress();
	$("tour").replaceChildren(element("h2", {}, `${number + 1}. ${tour.title}`), element("p", {class: "length"},
		`About ${Math.round(minutesOf(tour))} minutes to read, to look, to answer and to do what is asked.`),
	...tour.parts.map((part, i) => element("div", {class: "part"}, ...showPart(tour, part, i))),
	element("button", {class: "all", onclick: () => { tour.all = true; unfold(tour); }}, "Show all of this tour"));
	unfold(tour);
	if (from)
		$("tour").querySelectorAll(".part")[from].scrollIntoView({block: "center"});
}

function showPart(tour, part, i) {
	if (part.question)
		return askQuestion(tour, part);
	const go = part.ask ? {class: "try", onclick: () => beginTask(part, i)} :
		{class: "show", onclick: () => showStep(part.state, i)};
	const name = part.ask ? "Try it" : part.state && part.state.place ? "Show it" : "Show this device";
	return [element("p", {}, part.ask || part.text), ...part.state ? [element("button", go, name)] : []];
}

// Hide the parts after the first question that the user has not answered.
function unfold(tour) {
	const open = tour.all ? -1 : tour.parts.findIndex((part) => part.question && part.given === undefined);
	[...$("tour").querySelectorAll(".part")].forEach((part, i) => { part.hidden = open >= 0 && i > open; });
	$("tour").querySelector(".all").hidden = open < 0 || open === tour.parts.length - 1;
}

function askQuestion(tour, question) {
	const verdict = element("p", {class: "verdict", role: "status", hidden: ""});
	const choices = question.choices.map((choice, i) => element("button", {class: "choice",
		onclick: () => { judge(question, i, verdict); unfold(tour); }}, choice));
	if (question.given !== undefined)
		tellVerdict(question, verdict);
	return [element("p", {}, element("b", {}, question.question)), ...choices, verdict];
}

function showStep(state, part) {
	app.task = null;
	app.part = part;
	setState({...STANDARD, tour: app.state.tour, rot: app.state.rot, ...state});
	showPlace(app.state.place);
}

// Start a task for the user; checkTask() detects when it is done.
function beginTask(task, part) {
	showStep(task.state, part);
	app.task = {...task, begun: null, over: false};
	tellTask(task.ask);
	checkTask();
}

// A task that was done once stays done.
function checkTask() {
	const {task, runs} = app;
	$("task").hidden = !task;
	if (!task || task.over || app.target !== null || !runs.a)
		return;
	task.begun = task.begun || runs.a.state;
	const states = [app.state, runs.a.state, runs.b && runs.b.state, task.begun, runs.a.device];
	task.over = Boolean(task.done(...states));
	if (task.over)
		tellTask(`Done. ${task.because(...states)}`);
}

function tellTask(text) {
	$("task-text").textContent = text;
	$("task").className = app.task.over ? "bar right" : "bar";
	$("task-way").hidden = app.task.over;
}

function endTask() {
	app.task = null;
	checkTask();
	showPlace("course");
}

function doTask() {
	const {way} = app.task;
	setState(typeof way === "function" ? way(app.runs.a.device) : way);
}

// The simulator computes the right answer, once: the result is always the same.
function judge(question, choice, verdict) {
	forgetTrouble();
	attempt(() => {
		question.found = question.found ||
			question.answer((...what) => measure(app.module, ...what));
		question.given = choice;
		tellVerdict(question, verdict);
	});
}

function tellVerdict({found: {right, because}, given}, verdict) {
	verdict.hidden = false;
	verdict.className = `verdict ${given === right ? "right" : "wrong"}`;
	verdict.textContent = `${given === right ? "Right." : "Not so."} ${because}`;
}

// ---------------------------------------------------------------- files

function startFiles() {
	$("file").addEventListener("change", () => takeFile($("file").files[0]));
}

async function bytesOf(file) {
	if (file.size > MOST_BYTES)
		throw new Error(`this file has ${Math.ceil(file.size / 1e6)} MB, and a page takes ${MOST_BYTES / 1e6}`);
	const bytes = new Uint8Array(await file.arrayBuffer());
	return bytes[0] === 0x1f && bytes[1] === 0x8b ? unpacked(bytes) : bytes;
}

// Load a file; if another one is dropped meanwhile, only that one counts.
async function takeFile(file) {
	if (!file)
		return;
	app.dropped = file;
	showPlace("files");
	forgetTrouble();
	try {
		const bytes = await bytesOf(file);
		if (file === app.dropped)
			takeBytes(file.name, bytes);
	} catch (error) {
		$("file-text").textContent = "";
		tellTrouble(new Error(`${file.name}: ${error.message}`));
	}
}

function takeBytes(name, bytes) {
	const first = new TextDecoder().decode(bytes.subarray(0, 200)).trimStart();
	if (first.startsWith("{") && first.includes("approxftl_json_format"))
		takeReport(reportOf(new TextDecoder().decode(bytes)));
	else
		takeTrace(name, bytes);
}

// Convert a trace of any format to a record file, like "approxftl trace convert".
function takeTrace(name, bytes) {
	const reader = new Device(app.module, null, [["dropped", bytes]]);
	reader.hand(["dropped", "dropped.aft"]);
	reader.call("playground_convert_trace");
	$("file-text").textContent = `${name}: ${reader.told()}${reader.files.said ?
		`; ${reader.files.said.trim()}` : ""}`;
	app.files = [["dropped.aft", reader.files.files.get("dropped.aft")]];
	app.trace = name;
	setState({trace: "dropped.aft", at: "0", do: ""});
}

// Parse a report and validate the fields that are used.
function reportOf(text) {
	let report;
	try {
		report = JSON.parse(text);
	} catch {
		throw new Error("this report is damaged, or not whole");
	}
	const argv = report.tool && report.tool.argv;
	const texts = (...all) => all.every((one) => typeof one === "string");
	if (!Array.isArray(argv) || !texts(...argv) || !argv.includes("sim") || !Array.isArray(report.runs) ||
	    !report.runs.every((run) => run && texts(run.policy, run.digest)))
		throw new Error("this is no report of approxftl sim");
	return report;
}

function takeReport(report) {
	const rows = report.runs.map((run) => element("tr", {}, element("th", {scope: "row"}, run.policy),
		element("td", {}, run.digest), element("td", {}, String(run.requests))));
	$("report").replaceChildren(element("table", {}, element("tr", {}, ...["policy", "digest", "requests"]
		.map((title) => element("th", {scope: "col"}, title))), ...rows));
	$("file-text").textContent = "The report's command, and its devices at the end:";
	app.files = [];
	setState(stateOfArgs(report.tool.argv.slice(report.tool.argv.indexOf("sim") + 1)));
}

// ---------------------------------------------------------------- begin

function prepareControls() {
	const form = $("controls");
	fillSelect(form.profile, Object.entries(PROFILES).map(([name, {about}]) => [name, `${name}: ${about}`]));
	fillSelect(form.a, POLICIES.map((name) => [name, name]));
	fillSelect(form.b, [["", "nothing"], ...POLICIES.map((name) => [name, name])]);
	fillSelect($("view"), VIEWS.map(({name, title}) => [name, title]));
	fillSelect($("change"), [["", "policy …"], ...POLICIES.map((name) => [name, name])]);
	$("charts").append(...CHARTS.map(({name, title, unit}) => element("div", {}, element("p", {}, title),
		element("canvas", {id: `chart-${name}`, role: "img", "aria-label": `${title}, ${unit}`}),
		element("p", {id: `value-${name}`}))));
	form.addEventListener("change", controlled);
	form.addEventListener("submit", (event) => event.preventDefault());
	form.addEventListener("input", (event) => event.target.type === "range" && controlled(event));
}

function prepareTime() {
	$("play").addEventListener("click", () => setPlaying(!app.playing));
	$("back").addEventListener("click", () => stepBy(-1));
	$("next").addEventListener("click", () => stepBy(1));
	$("scrub").addEventListener("input", () => { setPlaying(false); goTo(Number($("scrub").value)); });
	$("at").addEventListener("change", () => {
		setPlaying(false);
		goTo(RIGHT.at($("at").value) ? Number($("at").value) : Number(app.state.at));
		$("at").value = app.state.at;
	});
	const tellPace = () => { $("pace").textContent = `${plain(pace())} requests/s`; };
	$("speed").addEventListener("input", tellPace);
	tellPace();
}

function prepareChanges() {
	$("view").addEventListener("change", () => { app.state.view = $("view").value; settle(); });
	$("sync").addEventListener("change", () => setState({sync: $("sync").value}));
	$("out").addEventListener("click", zoomOut);
	$("change").addEventListener("change", () => {
		if ($("change").value)
			addAction("a", "policy", $("change").value);
		$("change").value = "";
	});
	$("parameter").addEventListener("change", addParameter);
	$("age").addEventListener("click", () => addAction("*", "age", HOURS_OF_MONTH));
	$("task-way").addEventListener("click", doTask);
	$("task-back").addEventListener("click", endTask);
	$("undo").addEventListener("click", () => setState({do: ""}));
	$("copy").addEventListener("click", copyCommand);
}

// If the browser denies clipboard access, select the command for Control C.
async function copyCommand() {
	try {
		await navigator.clipboard.writeText($("command").textContent);
	} catch {
		getSelection().selectAllChildren($("command"));
	}
}

function preparePictures() {
	for (const side of SIDES) {
		const canvas = $(`picture-${side}`);
		app.pictures[side] = new Picture(canvas);
		app.pictures[side].fingers = new Fingers(canvas, (...how) => fingered(side, ...how));
		canvas.addEventListener("click", (event) => clicked(side, event));
		canvas.addEventListener("dblclick", () => zoomInto(side));
		canvas.addEventListener("keydown", (event) => arrowed(side, event));
	}
	$("block").addEventListener("click", pageClicked);
	$("block").addEventListener("keydown", pageArrowed);
	$("cells").addEventListener("click", cellClicked);
	$("cells").addEventListener("keydown", cellArrowed);
	$("slot").addEventListener("change", () => chooseCell({slot: Number($("slot").value), at: 0}));
	new ResizeObserver(() => draw(true)).observe($("pictures"));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(true));
}

const KEYS = {" ": () => setPlaying(!app.playing), ",": () => stepBy(-1), ".": () => stepBy(1),
	Escape: zoomOut};

function prepareKeys() {
	document.addEventListener("keydown", (event) => {
		const busy = /^(INPUT|SELECT|BUTTON|TEXTAREA)$/.test(event.target.tagName);
		if (KEYS[event.key] && !busy && !event.ctrlKey && !event.metaKey && app.state.place === "device") {
			KEYS[event.key]();
			event.preventDefault();
		}
	});
	for (const button of document.querySelectorAll("[data-place]"))
		button.addEventListener("click", () => showPlace(button.dataset.place));
	window.addEventListener("hashchange", arrive);
	document.addEventListener("dragover", (event) => event.preventDefault());
	document.addEventListener("drop", (event) => {
		event.preventDefault();
		const [file] = event.dataTransfer.files;
		if (app.state.place === "content")
			takePicture(file);
		else
			takeFile(file);
	});
}

// Decompress up to the maximum size of a file, however small the compressed file is.
async function unpacked(bytes) {
	const parts = [];
	let length = 0;
	const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
	try {
		for (let part = await reader.read(); !part.done; part = await reader.read()) {
			parts.push(part.value);
			length += part.value.length;
			if (length > MOST_BYTES)
				throw new Error("enough");
		}
	} catch {
		throw new Error(length > MOST_BYTES ? `expanded it has more than ${MOST_BYTES / 1e6} MB, and a page ` +
			"takes no more" : "the packed file is damaged, or not whole");
	}
	return new Uint8Array(await new Blob(parts).arrayBuffer());
}

// Set the state from the address. It contains no trace: without the file use the generator.
function arrive() {
	const wrong = wrongIn(location.hash);
	app.state = stateOf(location.hash);
	app.told = location.hash;
	const sight = ["see", "zoom"].map((key) => [key, app.state[key]]);
	const missing = app.state.trace && !app.files.length;
	if (missing)
		app.state.trace = "";
	app.target = null;
	app.task = null;
	app.part = 0;
	showControls();
	restart();
	showPlace(app.state.place);
	wrong.push(...sight.filter(([key, text]) => text !== app.state[key]));
	if (wrong.length)
		tellTrouble(new Error("this address says what means nothing here: " +
			wrong.map(([key, text]) => `${key}=${text}`).join(", ").slice(0, 300)));
	else if (missing)
		tellTrouble(new Error("this address is of a dropped trace: drop it again; until then requests are made up"));
}

// Without an address the page starts playing, unless the user prefers reduced motion.
function open() {
	const first = !location.hash;
	if (first)
		history.replaceState(null, "", addressOf(OPENING));
	arrive();
	if (first && !matchMedia("(prefers-reduced-motion: reduce)").matches)
		setPlaying(true);
}

async function begin() {
	app.turn = 0;
	app.module = await WebAssembly.compile(await unpacked(
		Uint8Array.from(atob(WASM), (letter) => letter.charCodeAt(0))));
	prepareControls();
	prepareTime();
	prepareChanges();
	preparePictures();
	prepareKeys();
	open();
	document.body.dataset.ready = "yes";
}

begin().catch(tellTrouble);
