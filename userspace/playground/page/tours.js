// SPDX-License-Identifier: GPL-2.0-only
//
// The course. Each tour asks questions before it shows the answers, sets tasks on the page, and has
// the simulator compute the answers.

// One die with small blocks, as in docs/tutorial.md.
const TINY = "--channels 1 --chips 1 --blocks 64 --layers 4 --word_lines 4 --page 4KiB";
const SMALL = "--blocks 64 --op 40%";
// A full die with garbage collection in its steady state.
const FULL = "--channels 1 --chips 1 --blocks 64";
const QLC = "--profile qlc --blocks 64 --op 25% --write-share 100% --size 16KiB";
const WORN = "--bits 2 --blocks 32 --op 60% --cell_model voltage --fill sequential --write-share 0";

// Return the state after warmup and requests, with the state after warmup as "before". The device
// begins empty unless the text has --fill.
function measure(module, text, requests, warmup = 0) {
	const device = new Device(module, ["--fill", "none", ...text.split(/\s+/).filter(Boolean)]);
	device.call("playground_run_to_request_or_time", warmup, FOREVER);
	const before = device.state();
	device.call("playground_run_to_request_or_time", warmup + requests, FOREVER);
	device.call("playground_complete_all_requests");
	return {...device.state(), before};
}

const chartOf = (name) => CHARTS.find((chart) => chart.name === name);
const writeMs = (state) => total(chartOf("write-response"), state);
const readMs = (state) => total(chartOf("read-response"), state);
const amplified = (state) => total(chartOf("amplification"), state);
const tailMs = ({p99_9_ns: ns}) => ns / 1e6;
const sumOf = (list) => list.reduce((all, one) => all + one, 0);
const percent = (share) => `${(100 * share).toFixed(0)} %`;

function amplification(run, options) {
	const state = run(`${FULL} --fill random --write-share 100% --size 8KiB ${options}`, 8000, 16000);
	return chartOf("amplification").of(state, state.before);
}

// Return the mean program time in µs.
function programTime(run, policy, share) {
	const {counters} = run(`--policy ${policy} --write-share 100% --approx-share ${share} ${SMALL}`, 4000);
	return counters.array_program_ns / counters.array_programs / 1000;
}

function largest(values) {
	return values.indexOf(Math.max(...values));
}

function smallest(values) {
	return values.indexOf(Math.min(...values));
}

// Return the number of edges that a value has reached: the index of a choice that is a range.
function rangeOf(value, ...edges) {
	return edges.filter((edge) => value >= edge).length;
}

// Indices of program modes; see core/base/mode-list.h.
const [NORMAL, BETWEEN, AFTER] = [0, 2, 3];
const partOf = (pages, ...modes) => sumOf(modes.map((mode) => pages[mode])) / sumOf(pages);

const chosenPage = (device) => device.json("playground_describe_page", app.chosen.block, app.chosen.page);
const rawErrors = (page) => sumOf((page.slots || []).map((slot) => slot.raw_errors || 0));
const allBlocks = (device) => Array.from({length: device.about.luns * device.about.blocks_per_lun},
	(_, block) => device.json("playground_describe_block", block));
// The least number of valid units of a closed block: the victim of greedy selection.
const emptiest = (device) => Math.min(...allBlocks(device).filter(({state}) => state === "closed")
	.map(({valid}) => valid));

// Assumptions, not measurements: a person reads at this speed, looks at a device for 30 s and plays
// it from its beginning at the speed of the page, thinks about a question for 30 s, and completes
// a task after 90 s.
const WORDS_A_MINUTE = 200;
const REQUESTS_A_MINUTE = 60 * 10 ** 2.5;
const LOOK_MINUTES = 0.5;
const QUESTION_MINUTES = 0.5;
const TASK_MINUTES = 1.5;

function minutesOf({parts}) {
	const words = parts.flatMap(({text, ask, question, choices = []}) => [text, ask, question, ...choices])
		.filter(Boolean).join(" ").split(/\s+/).length;
	const requests = sumOf(parts.map(({state}) => Number((state || {at: 0}).at)));
	const count = (key) => parts.filter((part) => part[key]).length;
	return words / WORDS_A_MINUTE + requests / REQUESTS_A_MINUTE + QUESTION_MINUTES * count("question") +
		LOOK_MINUTES * (count("state") - count("ask")) + TASK_MINUTES * count("ask");
}

// parts, in their order; parts after a question are shown once it is answered:
// {text} to read, with {state} a device to look at;
// {question, choices, answer(run)}: {right: index of the choice, because: the measured values};
// {ask, state, done, because, way}: a task on the page. Arguments of done and because: state of the
// page, device now, the other one, device at the begin, and the library; way changes the state of
// the page so that the task is done, or takes the library and returns such a state.
const WRITTEN_AGAIN = {a: "baseline", b: "", x: "0", fill: "none", size: "4KiB",
	more: `${TINY} --op 50% --footprint 1%`, at: "60"};
const TINY_FILLS = {a: "approxftl", b: "", fill: "none", size: "4KiB", view: "mode",
	more: `${TINY} --op 50%`, at: "64"};
const TWO_POLICIES = {a: "baseline", b: "approxftl", view: "mode", at: "3000", more: SMALL};
const SHARES = {a: "approxftl", b: "", x: "50", view: "kind", at: "4000", more: SMALL};
const FULL_DIE = {a: "baseline", b: "", x: "0", fill: "random", size: "8KiB", more: FULL, at: "12000"};
const SKEWED = {...FULL_DIE, skew: "1", more: `${FULL} --op 20%`, view: "valid"};
const OLD = {a: "baseline", b: "", x: "0", fill: "sequential", months: "12", view: "errors", w: "0",
	at: "1000", more: "--bits 2 --blocks 32 --op 40%"};
const CACHED = {profile: "qlc", a: "baseline", b: "", x: "0", op: "25", fill: "none", size: "16KiB",
	view: "mode", more: "--slc_static 10%", at: "2000"};
const QUEUED = {a: "baseline", b: "", x: "0", w: "50", load: "30", fill: "sequential", more: SMALL,
	at: "5000"};

const TOURS = [
	{
		title: "Why can't a page be overwritten?",
		parts: [
			{text: "A NAND cell stores a number as charge. Programming adds charge to the cells of one page. " +
			"Taking charge away again works only for a whole block of pages at once: that is an erase. So " +
			"flash cannot do what a disk does all the time, replace some bytes where they are. A new version " +
			"of some data goes to a new page, and the old one becomes garbage. On the device below the host " +
			"writes the same five units again and again. Strong fields hold what is valid, faint ones garbage."},
			{question: "512 writes go to these five units of an empty device. How many units of its flash are " +
				"valid in the end?",
			choices: ["512", "5", "0"],
			answer: (run) => {
				const {valid_units: valid} = run(`${TINY} --op 50% --footprint 1% --size 4KiB ` +
					"--write-share 100%", 512);
				return {right: ["512", "5", "0"].indexOf(String(valid)),
					because: `The device says: ${valid} valid units. All other pages are garbage, or free.`};
			}},
			{text: "Look at it after 60 writes. The pages fill from the first block on, one after the other, " +
			"although the host has never written to more than five places. Click on a faint page: the page " +
			"says which unit it once held. Then go back and forth with the buttons −1 and +1, and see one " +
			"field pale each time another one becomes strong.", state: WRITTEN_AGAIN},
			{text: "The drive keeps a table, the map, that says for each unit of the host where its newest " +
			"version is. It makes flash look like a disk. This is what a flash translation layer is: a map, a " +
			"choice of the next page, and a way to win garbage back. Play on from here.",
			state: {...WRITTEN_AGAIN, at: "300"}},
			{question: "These five units are written for ever. When is flash erased?",
			choices: ["at each write", "when free blocks run out", "never"],
			answer: (run) => {
				const [few, many] = [512, 5000].map((requests) => run(`${TINY} --op 50% --footprint 1% ` +
					"--size 4KiB --write-share 100%", requests).counters.array_erases);
				return {right: few ? 0 : many ? 1 : 2,
					because: `After 512 writes ${few} blocks had been erased, after 5000 ${many}. ` +
						"An erase needs a block without anything valid."};
			}},
			{ask: "Step or play until the die has erased a block: then garbage has become room again.",
				state: {...WRITTEN_AGAIN, at: "300"},
				done: (state, now) => now.counters.array_erases > 0,
				because: (state, now) => `${now.requests} requests, ${now.counters.array_erases} erases.`,
				way: {at: "2000"}},
			{text: "A block may be erased when nothing in it is valid. Whatever still is has to be copied " +
			"elsewhere before. With five units that is rare: each block is garbage through and through by the " +
			"time that it is needed."},
			{question: "Now the host writes anywhere in the half of this flash that it may use. Of the pages " +
				"that are programmed, how many are copies?",
			choices: ["none", "up to a quarter", "more than a quarter"],
			answer: (run) => {
				const {counters} = run(`${TINY} --op 50% --size 4KiB --write-share 100%`, 5000);
				const share = counters.programmed_gc_units / (counters.programmed_gc_units + counters.programmed_host_units);
				return {right: share === 0 ? 0 : rangeOf(share, 0.25) + 1,
					because: `${counters.programmed_gc_units} copies beside ${counters.programmed_host_units} ` +
						`units of the host: ${percent(share)}.`};
			}},
			{ask: "Find a page whose block has had a life before: click on pages, or use the arrow keys, until " +
				"the history of the chosen one tells of an erase.",
			state: {...WRITTEN_AGAIN, more: `${TINY} --op 50%`, at: "3000", see: "a:63:15:0:0"},
			done: (state, now, other, begun, device) => state.see !== "a:63:15:0:0" &&
				chosenPage(device).history.some(({erase}) => erase),
			because: (state, now) => `Block ${app.chosen.block}; ${now.counters.array_erases} erases so far.`,
			way: {see: "a:1:0:0:0"}},
			{text: "The drive cannot know that a file was deleted: to it the last version of each unit is " +
			"valid for ever, and is copied along. So a host can say that it needs some units no more: a discard, " +
			"or trim. It costs nothing but a change of the map."},
			{question: "A fifth of the requests to the same half are discards now. What is left of the copies?",
			choices: ["less than a tenth", "a tenth to a half", "more than a half"],
			answer: (run) => {
				const [before, now] = ["", "--discard-share 20%"].map((how) => run(`${TINY} --op 50% --size 4KiB ` +
					`--write-share 100% ${how}`, 5000).counters.programmed_gc_units);
				return {right: rangeOf(now / before, 0.1, 0.5), because: `${before} copies before, ${now} now.`};
			}},
			{text: "With discards: the text below the pictures says how many units of a block are valid. In most " +
			"of them there are fewer than before.", state: {...WRITTEN_AGAIN, more: `${TINY} --op 50% --discard-share 20%`, at: "3000"}},
			{text: "To think about: what would the drive lose if its map were lost? Each page carries the " +
			"number of its unit beside the data. What else does it need, to find out which of two versions is " +
			"the newer one?"},
		],
	},
	{
		title: "How does a block fill?",
		parts: [
			{text: "A block of 3D NAND is a stack of layers, and in each layer are word lines with one or more " +
			"pages. Programming a page shifts the voltages of its neighbours, beside it and in the layers above " +
			"and below. Precise data must tolerate that shift, so they are programmed carefully: slowly. Here " +
			"is a block of four layers with four pages. Under baseline it is written in sequence, and the " +
			"letters in the block say how: N is the normal, slow program.",
			state: {...TINY_FILLS, a: "baseline", at: "12"}},
			{question: "Half of these writes are tagged approximate. In how many different ways does baseline " +
				"program its pages?",
			choices: ["in one", "in two", "in more"],
			answer: (run) => {
				const {mode_pages: pages} = run(`${TINY} --op 50% --write-share 100% --approx-share 0.5`, 300);
				const ways = pages.filter(Boolean).length;
				return {right: rangeOf(ways, 2, 3), because: `${ways}: it does not look at tags.`};
			}},
			{text: "ApproxFTL looks at them. An approximate page is programmed to a lower voltage (R, reduced), " +
			"which is faster and shifts its neighbours less. So a precise page between approximate ones may be " +
			"programmed faster, too (B, between). Block 0 becomes a checkerboard: its next field wants either a " +
			"precise or an approximate page. What does not fit goes elsewhere, surplus precise data to block 1, " +
			"surplus approximate data to block 2, which skips every other field.", state: {...TINY_FILLS, at: "12"}},
			{question: "300 writes to this device, half of them approximate. In which mode were most of the " +
				"precise pages programmed?",
			choices: ["normal, as in the first device", "between approximate ones",
				"after all their neighbours"],
			answer: (run) => {
				const {mode_pages: pages} = run(`${TINY} --op 50% --policy approxftl --write-share 100% ` +
					"--approx-share 0.5", 300);
				const found = [pages[NORMAL], pages[BETWEEN], pages[AFTER]];
				return {right: largest(found), because: `Pages: ${found[0]} normal, ${found[1]} between, ` +
					`${found[2]} after.`};
			}},
			{text: "After 64 writes block 0 is full, and block 2 has got its second pass: precise pages in the " +
			"fields that were skipped. Nobody is programmed after them, so nothing will shift them any more, " +
			"and they may be programmed fastest of all precise pages (A, after). Choose the blocks one by one " +
			"and compare.", state: {...TINY_FILLS, see: "a:2:0:0:0"}},
			{question: "And if all 300 writes are precise: how many pages go between others?",
			choices: ["none", "less than a third", "more"],
			answer: (run) => {
				const {mode_pages: pages} = run(`${TINY} --op 50% --policy approxftl --write-share 100% ` +
					"--approx-share 0", 300);
				const between = partOf(pages, BETWEEN);
				return {right: between === 0 ? 0 : rangeOf(between, 1 / 3) + 1,
					because: `${pages[BETWEEN]} of ${sumOf(pages)}. A field of the checkerboard is free for ` +
						"precise data only beside approximate ones."};
			}},
			{ask: "Drag Approximate to 0 % under ApproxFTL, and look at the modes of its pages.",
				state: TINY_FILLS, done: (state) => state.x === "0",
				because: (state, now) => `${now.mode_pages[NORMAL]} pages in normal mode, ` +
					`${now.mode_pages[BETWEEN]} between approximate ones.`,
				way: {x: "0"}},
			{text: "So far each write was approximate or not whatever the one before it was. Programs are not " +
			"like that: a video comes as a run of approximate writes, a database as a run of precise ones."},
			{question: "Approximate writes now come in runs of 16 on average. What does that do to the share of " +
				"pages that go between others?",
			choices: ["it grows", "next to nothing", "it falls"],
			answer: (run) => {
				const [alone, runs] = ["", "--approx-run 16"].map((how) => partOf(run(`${TINY} --op 50% ` +
					`--policy approxftl --write-share 100% --approx-share 0.5 ${how}`, 300).mode_pages, BETWEEN));
				return {right: rangeOf(-runs / alone, -1.1, -0.9),
					because: `${percent(alone)} of the pages before, ${percent(runs)} in runs.`};
			}},
			{ask: "See it: add --approx-run 16 to More options. Which kinds of block fill now?",
				state: {...TINY_FILLS, view: "kind"},
				done: (state, now) => /--approx-run[ =]1[0-9]\b/.test(state.more) && now.requests >= 64,
				because: (state, now) => `${percent(partOf(now.mode_pages, BETWEEN))} of the pages are between ` +
					"others: a run of one class leaves the checkerboard waiting for the other.",
				way: {more: `${TINY} --op 50% --approx-run 16`}},
			{text: "Two simpler policies beside each other, on the same writes: vth_b programs approximate pages " +
			"to the low voltage, too, delta_b in coarser steps (C). Neither keeps a checkerboard. For each " +
			"precise page ask which of its neighbours come later, and what they do to it.",
			state: {...TINY_FILLS, a: "vth_b", b: "delta_b"}},
			{question: "How many of the precise pages does vth_b program faster than baseline does?",
			choices: ["none", "those between approximate ones", "all"],
			answer: (run) => {
				const {mode_pages: pages} = run(`${TINY} --op 50% --policy vth_b --write-share 100% ` +
					"--approx-share 0.5", 300);
				const faster = pages[BETWEEN] + pages[AFTER];
				return {right: !faster ? 0 : pages[NORMAL] ? 1 : 2, because: `${faster}, and ${pages[NORMAL]} in normal ` +
					"mode: it does not know what will come beside them."};
			}},
			{text: "To think about: the first field of block 0 is precise. When ApproxFTL uses a block again it " +
			"turns the colours over. Which cells would wear out first if it did not?"},
		],
	},
	{
		title: "Why does ApproxFTL write faster?",
		parts: [
			{text: "Programming is done in steps: a pulse, then a look whether the cell is where it should be. " +
			"Small steps hit a narrow target and take long. What makes targets narrow is what comes later: " +
			"neighbours that shift the cell, wear, and age. ApproxFTL takes away one of these. An approximate " +
			"page ends at a lower voltage, which takes fewer steps and shifts its neighbours less; a precise " +
			"page beside it knows that, and may be less careful."},
			{question: "Half of the writes are approximate. By how much is ApproxFTL's mean program time " +
				"below that of baseline?",
			choices: ["less than a tenth", "a tenth to a half", "more than a half"],
			answer: (run) => {
				const [slow, fast] = ["baseline", "approxftl"].map((policy) => programTime(run, policy, 0.5));
				return {right: rangeOf(1 - fast / slow, 0.1, 0.5),
					because: `${slow.toFixed(0)} µs and ${fast.toFixed(0)} µs: ${percent(1 - fast / slow)} less.`};
			}},
			{text: "Two policies on the same stream. Baseline has one colour. Under ApproxFTL find the " +
			"checkerboards, and the blocks that are written in two passes; then zoom into a die with Enter or a " +
			"double click, and into a block. Click on a page, and look at the voltages of its cells below: a " +
			"reduced page has its highest state further to the left.", state: TWO_POLICIES},
			{question: "Which part of ApproxFTL's pages is still programmed in the normal, slow mode?",
			choices: ["most", "a third to a half", "less than a third"],
			answer: (run) => {
				const {mode_pages: pages} = run(`--policy approxftl --write-share 100% --approx-share 0.5 ` +
					SMALL, 4000);
				return {right: 2 - rangeOf(partOf(pages, NORMAL), 1 / 3, 0.5),
					because: `${pages[NORMAL]} of ${sumOf(pages)}: those that came when no field was free.`};
			}},
			{text: "Now both at the same time in place of the same request. ApproxFTL is further ahead the " +
			"longer it goes.", state: {...TWO_POLICIES, sync: "time"}},
			{ask: "Two policies at the same time: play until ApproxFTL is at 500 requests more.",
				state: {...TWO_POLICIES, sync: "time", at: "300"},
				done: (state, now, other) => state.sync === "time" && other &&
					other.requests >= now.requests + 500,
				because: (state, now, other) => `${now.requests} and ${other.requests} requests.`,
				way: {at: "4000"}},
			{text: "Two simpler ideas are older. delta_b programs approximate pages in coarser steps; vth_b " +
			"programs them to the lower voltage, as ApproxFTL does. Both leave precise pages as they are, and " +
			"use no checkerboard."},
			{question: "The same writes under delta_b, vth_b and ApproxFTL. Whose mean program time is least?",
			choices: ["delta_b", "vth_b", "ApproxFTL"],
			answer: (run) => {
				const found = ["delta_b", "vth_b", "approxftl"].map((policy) => programTime(run, policy, 0.5));
				return {right: smallest(found), because: `${found.map((time) => time.toFixed(0)).join(", ")} µs.`};
			}},
			{question: "Programs take energy, too. How much of what baseline's take do ApproxFTL's need?",
			choices: ["less, about as much less as of the time", "as much", "more: steps that are saved must be made up for"],
			answer: (run) => {
				const [slow, fast] = ["baseline", "approxftl"].map((policy) => run(`--policy ${policy} --write-share 100% ` +
					`--approx-share 0.5 ${SMALL}`, 4000).counters);
				const [joule, time] = ["program_energy_pj", "array_program_ns"].map((key) => fast[key] / slow[key]);
				return {right: joule > 1.05 ? 2 : joule > 0.95 ? 1 : 0,
					because: `${percent(joule)} of the energy, in ${percent(time)} of the time.`};
			}},
			{text: "vth_b beside ApproxFTL: the approximate pages are the same, the precise ones are not.",
				state: {...TWO_POLICIES, a: "vth_b"}},
			{question: "Requests arrive so that baseline's dies are busy for 55 % of the time. The flash needs a " +
				"quarter less for each write under ApproxFTL. What about the response that the host sees?",
			choices: ["it gains less than the flash does", "about as much", "more"],
			answer: (run) => {
				const [slow, fast] = ["baseline", "approxftl"].map((policy) => run(`--policy ${policy} --write-share 100% ` +
					`--approx-share 0.5 ${SMALL} --size 8KiB --utilisation 55%`, 5000));
				const flash = 1 - fast.write_service.sum_ns / slow.write_service.sum_ns;
				const host = 1 - writeMs(fast) / writeMs(slow);
				return {right: rangeOf(host / flash, 0.95, 1.05),
					because: `The flash is ${percent(flash)} faster, the response ${percent(host)}: queues are shorter, too.`};
			}},
			{ask: "Choose a load at which ApproxFTL's mean write response is less than two thirds of baseline's.",
				state: {...TWO_POLICIES, load: "30"},
				done: (state, now, other) => state.load !== "closed" && other && now.requests >= 3000 &&
					state.a === "baseline" && state.b === "approxftl" && writeMs(other) < writeMs(now) * 2 / 3,
				because: (state, now, other) => `${plain(writeMs(now))} and ${plain(writeMs(other))} ms.`,
				way: {load: "90"}},
		],
	},
	{
		title: "What if the shares do not match?",
		parts: [
			{text: "The checkerboard has as many fields for approximate pages as for precise ones. Hosts do not " +
			"care: some store videos and hardly anything else, some a few pictures beside a database. ApproxFTL " +
			"has blocks of other kinds for what is left over. Here is what it does where both classes come " +
			"equally often: the view shows for what each block is used.", state: SHARES},
			{question: "Now only a tenth of the writes is approximate. What part of all pages goes between or " +
				"after approximate ones?",
			choices: ["less than a quarter", "a quarter to a half", "more than a half"],
			answer: (run) => {
				const part = partOf(run(`--policy approxftl --write-share 100% --approx-share 0.1 ${SMALL}`, 4000)
					.mode_pages, BETWEEN, AFTER);
				return {right: rangeOf(part, 0.25, 0.5), because: `${percent(part)}. Each of them needs an ` +
					"approximate neighbour, and there are not more of those."};
			}},
			{text: "A tenth of the writes is approximate. Most blocks hold precise data only, and the few " +
			"checkerboards wait for their other half. Click on one: its open fields are the ones that nobody " +
			"has asked for yet.", state: {...SHARES, x: "10"}},
			{text: "And here nine tenths. The use of the blocks is another one: approximate pages fill blocks " +
			"of their own, whose skipped fields the few precise pages take.", state: {...SHARES, x: "90"}},
			{question: "Which share of approximate writes makes ApproxFTL's mean program time the least?",
			choices: ["10 %", "50 %", "90 %"],
			answer: (run) => {
				const times = [0.1, 0.5, 0.9].map((share) => programTime(run, "approxftl", share));
				return {right: smallest(times), because: `${times.map((time) => time.toFixed(0))
					.join(", ")} µs. An approximate page itself is the fastest to program.`};
			}},
			{ask: "Drag Approximate until less than a hundredth of the pages is programmed in normal mode.",
				state: {...SHARES, x: "10", view: "mode"},
				done: (state, now) => now.requests >= 1000 && partOf(now.mode_pages, NORMAL) < 0.01,
				because: (state, now) => `${now.mode_pages[NORMAL]} of ${sumOf(now.mode_pages)} pages.`,
				way: {x: "90"}},
			{question: "With a tenth of the writes approximate: how much of what half of them save in program " +
				"time is left?",
			choices: ["more than half", "less than half"],
			answer: (run) => {
				const base = programTime(run, "baseline", 0.5);
				const [half, tenth] = [0.5, 0.1].map((share) => 1 - programTime(run, "approxftl", share) / base);
				return {right: tenth > half / 2 ? 0 : 1, because: `${percent(half)} less ` +
					`than baseline with half, ${percent(tenth)} with a tenth.`};
			}},
			{ask: "What ApproxFTL gives to precise data is largest somewhere between. Drag Approximate until more " +
				"than a third of all pages goes between or after approximate ones.",
			state: {...SHARES, x: "10", view: "mode"},
			done: (state, now) => now.requests >= 1000 && partOf(now.mode_pages, BETWEEN, AFTER) > 1 / 3,
			because: (state, now) => `${percent(partOf(now.mode_pages, BETWEEN, AFTER))} of the pages.`,
			way: {x: "50"}},
			{text: "All these devices were empty before. On a full one each kind of block that a policy keeps " +
			"open costs room: the same spare space is divided among more of them, and blocks that wait for " +
			"their other half are not full."},
			{question: "A full die, 30 % of spare space, half of the writes approximate. What does the " +
				"checkerboard do to write amplification, beside vth_b?",
			choices: ["it falls", "it stays within a tenth", "it grows by more"],
			answer: (run) => {
				const [plain_, board] = ["vth_b", "approxftl"].map((policy) => amplification(run,
					`--policy ${policy} --approx-share 50% --op 30% --fill_approx 50%`));
				return {right: rangeOf(board / plain_, 0.9, 1.1),
					because: `Written for each unit of the host: ${plain(plain_)} under vth_b, ${plain(board)} under ` +
						"ApproxFTL, on a die that has only 64 blocks. More of them make it less."};
			}},
			{text: "Faster programs, more of them: which weighs more depends on how full the drive is. Look at " +
			"both on such a die, and at the mean response below the pictures.",
			state: {...SHARES, a: "vth_b", b: "approxftl", fill: "random", op: "30", size: "8KiB", more: FULL, at: "12000"}},
			{text: "To think about: a file system could tell a drive how much approximate data is still to " +
			"come. What would you do with that in such a policy?"},
		],
	},
	{
		title: "What does garbage collection cost?",
		parts: [
			{text: "When free blocks run out, the valid pages of some block are copied elsewhere and it is " +
			"erased. Each copy is a page that the host has not asked for. Write amplification counts that: all " +
			"units that were programmed, for each unit of the host. It multiplies wear, and takes time from " +
			"the host's own requests. How much is copied depends on how much of a block is still valid when its " +
			"turn comes."},
			{question: "Random writes to a full die of 64 blocks. With how much over-provisioning is write " +
				"amplification below 2?",
			choices: ["10 %", "20 %", "40 %"],
			answer: (run) => {
				const found = [10, 20, 40].map((op) => amplification(run, `--op ${op}%`));
				return {right: found.findIndex((value) => value < 2),
					because: `Written for each unit of the host: ${found.map(plain).join(", ")}.`};
			}},
			{text: "Play this full die slowly, by the slider of the speed. White flashes are pages of the host, " +
			"violet flashes are copies, a red frame is an erase. Look at the chart of write amplification: it " +
			"begins at 1, as nothing is collected yet, and comes to rest once collection has found its pace.",
			state: FULL_DIE},
			{text: "With more spare space a block has more garbage when its turn comes. The same die with 40 % " +
			"kept from the host.", state: {...FULL_DIE, op: "40"}},
			{ask: "Drag Spare space until fewer than two units are written for each of the host, with at " +
				"least 8000 requests.",
			state: {...FULL_DIE, at: "8000"},
			done: (state, now) => now.requests >= 8000 && amplified(now) < 2 && amplified(now) > 1.05,
			because: (state, now) => `Write amplification ${plain(amplified(now))}.`,
			way: {op: "50"}},
			{question: "10 % of spare space, but only half of the addresses are written again. What does " +
				"that to write amplification?",
			choices: ["it falls", "next to nothing", "it grows"],
			answer: (run) => {
				const [all, half] = ["", "--footprint 50%"].map((where) =>
					amplification(run, `--op 10% ${where}`));
				return {right: rangeOf(half / all, 0.9, 1.1),
					because: `${plain(all)} everywhere, ${plain(half)} in one half.`};
			}},
			{text: "The die with half of its addresses at rest. What rests is valid for ever, yet it lies among " +
			"what is written again, and is copied with it, round after round.",
			state: {...FULL_DIE, op: "10", view: "valid", more: `${FULL} --footprint 50%`}},
			{text: "Order helps more than room does. A drive that was filled in sequence, and is overwritten in " +
			"sequence, has blocks that become garbage as a whole."},
			{question: "10 % of spare space, filled and written in sequence. What is write amplification?",
			choices: ["1, or hardly more", "1.1 to 2", "more than 2"],
			answer: (run) => {
				const found = amplification(run, "--op 10% --fill sequential --workload sequential");
				return {right: rangeOf(found, 1.1, 2), because: `${plain(found)}: victims have nothing to move.`};
			}},
			{ask: "Try it: choose “written in sequence” before, and add --workload sequential to More options, " +
				"so that write amplification stays below 1.05 for at least 8000 requests.",
			state: {...FULL_DIE, op: "10", at: "8000"},
			done: (state, now) => now.requests >= 8000 && amplified(now) < 1.05 && now.counters.array_erases > 10,
			because: (state, now) => `Write amplification ${plain(amplified(now))} after ` +
				`${now.counters.array_erases} erases.`,
			way: {fill: "sequential", more: `${FULL} --workload sequential`, at: "12000"}},
			{text: "What the host sees is worse than a mean. Requests that come while a block is copied wait " +
			"for all of it."},
			{question: "Random writes at 15 %, each beside 31 others. By how much is the slowest of a thousand " +
				"slower than the mean?",
			choices: ["less than a tenth", "a tenth to three times", "more than three times"],
			answer: (run) => {
				const {write_response: times} = run(`${FULL} --fill random --write-share 100% --size 8KiB --op 15%`, 24000);
				const mean = times.sum_ns / times.count / 1e6;
				return {right: rangeOf(tailMs(times) / mean, 1.1, 3),
					because: `${plain(mean)} and ${plain(tailMs(times))} ms. All 32 wait for the same die.`};
			}},
			{text: "To think about: ApproxFTL collects in two passes, approximate pages first. Why in this " +
			"order? The block of the second tour that was written in two passes helps."},
		],
	},
	{
		title: "Which block is collected?",
		parts: [
			{text: "Any closed block may be erased once its valid pages are elsewhere. Greedy takes the block " +
			"with the least valid data: it copies the least now. First in, first out takes the oldest, whatever " +
			"is in it, and needs no search. Cost-benefit weighs garbage against the age of the data: what was " +
			"not written for long will not be soon, so waiting longer for its garbage is in vain."},
			{question: "Some data is much more often written than other (Zipf, exponent 1). Which choice " +
				"writes less?",
			choices: ["greedy", "first in, first out"],
			answer: (run) => {
				const found = ["greedy", "fifo"].map((victim) => amplification(run,
					`--op 20% --workload zipf --zipf-skew 1 --victim ${victim}`));
				return {right: smallest(found), because: `Write amplification ${found.map(plain)
					.join(" and ")}.`};
			}},
			{text: "Greedy, seen by how much of each block is valid: dark pages are garbage. Blocks that were " +
			"written lately are light. Play slowly, and see that the red frame is always around a dark one.",
			state: SKEWED},
			{text: "The same stream with --victim fifo. The red frame goes round, and catches light blocks, " +
			"too: all of what is valid in them is copied.", state: {...SKEWED, more: `${FULL} --op 20% --victim fifo`}},
			{ask: "Choose the block that greedy collects next: the closed one with the least valid units. Arrow " +
				"keys move among blocks, and the text below the pictures counts.",
			state: {...SKEWED, see: "a:63:0:0:0"},
			done: (state, now, other, begun, device) => {
				const block = device.json("playground_describe_block", app.chosen.block);
				return block.state === "closed" && block.valid === emptiest(device);
			},
			because: (state, now, other, begun, device) => `Block ${app.chosen.block}: ` +
				`${emptiest(device)} valid units, the least of all.`,
			way: (device) => ({see: `a:${allBlocks(device).findIndex((block) => block.state === "closed" &&
				block.valid === emptiest(device))}:0:0:0`})},
			{question: "And if all units are written equally often: by how much does first in, first out " +
				"write more than greedy?",
			choices: ["less than a fifth", "a fifth to double", "more than double"],
			answer: (run) => {
				const [greedy, fifo] = ["greedy", "fifo"].map((victim) =>
					amplification(run, `--op 20% --victim ${victim}`));
				return {right: rangeOf(fifo / greedy, 1.2, 2),
					because: `Write amplification ${plain(greedy)} and ${plain(fifo)}. With equal writes the ` +
						"oldest block is the emptiest, mostly."};
			}},
			{text: "A controller with a hundred thousand blocks does not like to look at all of them. Two " +
			"remedies are common: the best of a few that were drawn at random (--victim d_choices), and the " +
			"best of the oldest ones (--victim windowed).", state: {...SKEWED,
				more: `${FULL} --op 20% --victim d_choices`}},
			{question: "Equal writes. What does the best of a few random blocks cost, beside the best of all?",
			choices: ["up to a tenth more copies and writes", "a tenth to a half more", "more than that"],
			answer: (run) => {
				const [greedy, few] = ["greedy", "d_choices"].map((victim) =>
					amplification(run, `--op 20% --victim ${victim}`));
				return {right: rangeOf(few / greedy, 1.1, 1.5),
					because: `Write amplification ${plain(greedy)} and ${plain(few)}.`};
			}},
			{ask: "Write --victim cost_benefit in place of greedy into More options, and go to request 12000.",
				state: {...SKEWED, more: `${FULL} --op 20% --victim greedy`, at: "4000"},
				done: (state, now) => /--victim[ =]cost_benefit/.test(state.more) && now.requests >= 12000,
				because: (state, now) => `Write amplification ${plain(amplified(now))}.`,
				way: {more: `${FULL} --op 20% --victim cost_benefit`, at: "12000"}},
			{question: "Of greedy, cost-benefit and first in, first out under the skewed writes, who writes least?",
			choices: ["greedy", "cost-benefit", "first in, first out"],
			answer: (run) => {
				const found = ["greedy", "cost_benefit", "fifo"].map((victim) => amplification(run,
					`--op 20% --workload zipf --zipf-skew 1 --victim ${victim}`));
				return {right: smallest(found), because: `${found.map(plain).join(", ")}. Close together: as ` +
					"long as hot and cold data share blocks, there is no good victim. The next tour is about that."};
			}},
			{text: "To think about: greedy may leave a block with cold data alone for years. What does that " +
			"mean for wear, and who else has to choose victims then?"},
		],
	},
	{
		title: "Is skew good or bad?",
		parts: [
			{text: "Real hosts write some places far more often than others. That should help: a block full of " +
			"hot data is garbage soon, one of cold data never needs to be touched. Here all units are written " +
			"equally often, and garbage is everywhere.", state: {...FULL_DIE, more: `${FULL} --op 20%`, view: "valid"}},
			{question: "Now a few units get most of the writes. Which of the two has the lower write " +
				"amplification under baseline?",
			choices: ["equal writes", "skewed writes"],
			answer: (run) => {
				const found = ["", "--workload zipf --zipf-skew 1.2"].map((skew) =>
					amplification(run, `--op 20% ${skew}`));
				return {right: smallest(found), because: `Write amplification ${found.map(plain)
					.join(" and ")}.`};
			}},
			{text: "The skewed stream. Baseline does not tell hot data from cold: both share blocks, so each " +
			"block has its cold part left over when its turn comes, and that part is copied again and again. " +
			"Look for blocks that are half light, half dark.", state: {...SKEWED, skew: "1.2"}},
			{text: "Keep them apart, then. But who knows what is hot? One clue costs nothing: what survives a " +
			"collection has not been rewritten for a while, so it is rather cold. Policy separated has blocks of " +
			"their own for what collection moves."},
			{question: "What does the skewed stream cost under policy separated?",
			choices: ["less than under baseline", "more than under baseline"],
			answer: (run) => {
				const found = ["separated", "baseline"].map((policy) => amplification(run,
					`--policy ${policy} --op 20% --workload zipf --zipf-skew 1.2`));
				return {right: smallest(found), because: `Write amplification ${plain(found[0])}, and ` +
					`${plain(found[1])} under baseline.`};
			}},
			{ask: "Keep hot data from cold in mid-run: choose the policy separated under Change in mid-run, " +
				"and go on for 4000 requests.",
			state: {...SKEWED, skew: "1.2", view: "kind", at: "8000"},
			done: (state, now, other, begun) => /:policy:separated/.test(state.do) &&
				now.requests >= begun.requests + 4000,
			because: (state, now) => `Write amplification ${plain(amplified(now))} since then.`,
			way: {do: "8000:a:policy:separated", at: "12000"}},
			{text: "The data were in place, mixed, when the policy changed. It takes a while until they are " +
			"sorted. Here is the policy from the begin on, beside baseline.",
			state: {...SKEWED, skew: "1.2", a: "baseline", b: "separated"}},
			{text: "A host often knows better. Two tenants share a drive: one rewrites a twentieth of it all the " +
			"time, the other writes anywhere, seldom. The first can name a placement handle, as NVMe's flexible " +
			"data placement has it, and gets blocks of its own."},
			{question: "95 % of the writes go to 5 % of the die. Does a handle for them pay, in write amplification?",
			choices: ["no", "a little, up to a tenth", "more than that"],
			answer: (run) => {
				const [mixed_, apart] = ["", "--placement_handles 1"].map((how) => amplification(run,
					`--op 20% --hot-share 95% --hot-range 5% --hot-stream 1 ${how}`));
				return {right: rangeOf(mixed_ / apart, 1, 1.1), because: `${plain(mixed_)} without, ${plain(apart)} with it.`};
			}},
			{question: "Yet what is moved out of both kinds of block mixes again. With --placement_isolation " +
				"persistent it stays apart. What is write amplification then?",
			choices: ["as with the handle alone, within a tenth", "lower", "higher"],
			answer: (run) => {
				const [initial, apart] = ["initial", "persistent"].map((how) => amplification(run,
					`--op 20% --hot-share 95% --hot-range 5% --hot-stream 1 --placement_handles 1 --placement_isolation ${how}`));
				const ratio_ = apart / initial;
				return {right: ratio_ < 0.9 ? 1 : ratio_ > 1.1 ? 2 : 0, because: `${plain(initial)} and ${plain(apart)}.`};
			}},
			{ask: "Two tenants without a handle: add --placement_handles 1 --placement_isolation persistent to More " +
				"options, and go on to request 12000. Fewer than three units shall be written for each of the host.",
			state: {...FULL_DIE, view: "kind", at: "8000",
				more: `${FULL} --op 20% --hot-share 95% --hot-range 5% --hot-stream 1`},
			done: (state, now) => /--placement_handles[ =]1/.test(state.more) && now.requests >= 12000 && amplified(now) < 3,
			because: (state, now) => `Write amplification ${plain(amplified(now))}.`,
			way: {at: "12000", more: `${FULL} --op 20% --hot-share 95% --hot-range 5% --hot-stream 1 ` +
				"--placement_handles 1 --placement_isolation persistent"}},
			{text: "To think about: let the busy range be a quarter of the drive. When do handles cost more " +
			"than they save? Each has an open block in every die, and shares the spare ones."},
		],
	},
	{
		title: "How does a disk grow old?",
		parts: [
			{text: "Cells leak, and worn cells leak more. A voltage that has moved across a reference is read as " +
			"another number: a raw bit error. A code corrects precise data up to some errors in each KiB; " +
			"approximate data come back as they are. The voltages of this model depend on how a page was " +
			"programmed, on its neighbours, erases, age, layer and reads."},
			{question: "What brings more raw bit errors into reads: a year on new cells, or a day on cells " +
				"that were erased 3000 times?",
			choices: ["a year on new cells", "a day on worn cells"],
			answer: (run) => {
				const found = ["--cycles 0 --age 365d", "--cycles 3000 --age 1d"].map((worn) =>
					run(`--bits 2 --blocks 32 --op 40% --cell_model voltage --fill sequential ` +
						`--write-share 0 ${worn}`, 3000).counters.read_raw_error_bits);
				return {right: largest(found), because: `Raw bit errors in 3000 reads: ${found.join(" and ")}.`};
			}},
			{text: "This device is new; its data is a year old. The view shows how likely a bit is wrong. Zoom " +
			"into a block, and see that its layers differ: the holes in which the cells stand are not equally " +
			"wide everywhere, and the last layer has a neighbour on one side only.", state: OLD},
			{text: "The same after 3000 erases of each block. Click on a page: below are its cells, each at its " +
			"voltage, and the large dots are those that have crossed a reference.", state: {...OLD, pe: "3000"}},
			{question: "A year on a shelf: how many times as many wrong bits on cells that were erased 3000 " +
				"times as on new ones?",
			choices: ["less than 3 times", "3 to 30 times", "more than 30 times"],
			answer: (run) => {
				const [fresh, worn] = [0, 3000].map((cycles) => run("--bits 2 --blocks 32 --op 40% " +
					`--cell_model voltage --fill sequential --write-share 0 --cycles ${cycles} ` +
					"--age 365d", 3000).counters.read_raw_error_bits);
				return {right: rangeOf(worn / Math.max(1, fresh), 3, 30), because: `${fresh} and ${worn} in 3000 reads.`};
			}},
			{ask: "Drag P/E cycles or months until these reads meet ten times as many wrong bits.",
				state: {...OLD, pe: "1000", months: "6"},
				done: (state, now, other, begun) => now.requests >= begun.requests &&
					now.counters.read_raw_error_bits > 10 * begun.counters.read_raw_error_bits,
				because: (state, now, other, begun) => `${begun.counters.read_raw_error_bits} before, ` +
					`${now.counters.read_raw_error_bits} now.`,
				way: {pe: "5000", months: "36"}},
			{ask: "Find a bad page: in the view of the error rate choose one of which three bits or more are wrong.",
				state: {...OLD, pe: "5000", months: "36", see: "a:127:0:0:0"},
				done: (state, now, other, begun, device) => rawErrors(chosenPage(device)) >= 3,
				because: (state, now, other, begun, device) => `${rawErrors(chosenPage(device))} raw errors in page ` +
					`${app.chosen.page} of block ${app.chosen.block}.`,
				way: (device) => {
					const {pages} = device.about;
					for (let at = 0; at < 32 * pages; at++)
						if (rawErrors(device.json("playground_describe_page", Math.floor(at / pages), at % pages)) >= 3)
							return {see: `a:${Math.floor(at / pages)}:${at % pages}:0:0`};
					return {};
				}},
			{text: "A code hides all this, up to its limit: then reads are tried again with other references, and " +
			"at last they fail. A cell with three bits and a weak code shows where that is."},
			{question: "Three bits in a cell, 10 bits of each KiB corrected, a year on a shelf. How many of the reads " +
				"fail on cells that were erased 2000 times?",
			choices: ["none", "one in a hundred to a half", "most"],
			answer: (run) => {
				const [fresh, worn] = [0, 2000].map((cycles) => run("--bits 3 --one_shot on --page 16KiB --ecc_bits 10 " +
					`--blocks 32 --op 30% --cell_model voltage --fill sequential --write-share 0 --age 365d --cycles ${cycles}`,
				3000).counters);
				return {right: rangeOf(worn.read_lost_units / 3000, 0.01, 0.5), because: `${worn.read_lost_units} of 3000, ` +
					`after ${worn.read_retries} further tries; on new cells ${fresh.read_lost_units}.`};
			}},
			{text: "What does that do to somebody's picture? Here one was written approximate and precise, to " +
			"cells after 3000 erases, and read a year later. The page says how many bits have flipped, and how " +
			"far that is from the original. Drag both sliders, then come back to the course.",
			state: {place: "content", rot: "approxftl:3000:12", at: "0"}},
			{question: "Half of a worn device is approximate and a year old. Under which policy do its reads " +
				"return the fewest flipped bits?",
			choices: ["delta_b: coarse steps", "vth_b: a low voltage", "ApproxFTL: the same, beside precise pages"],
			answer: (run) => {
				const found = ["delta_b", "vth_b", "approxftl"].map((policy) => run(`${WORN} --policy ${policy} ` +
					"--fill_approx 50% --cycles 3000 --age 365d", 3000).counters.read_flipped_bits);
				return {right: smallest(found), because: `${found.join(", ")} in 3000 reads.`};
			}},
			{question: "And which policy flips bits of precise data?",
			choices: ["none of them", "vth_b and ApproxFTL", "all"],
			answer: (run) => {
				const found = ["delta_b", "vth_b", "approxftl"].map((policy) => run(`${WORN} --policy ${policy} ` +
					"--fill_approx 50% --cycles 3000 --age 365d", 3000).counters.read_precise_flipped_bits);
				return {right: found.every((bits) => !bits) ? 0 : found.every(Boolean) ? 2 : 1,
					because: `Flipped bits in what was written precise: ${found.join(", ")}. The code corrects them.`};
			}},
			{text: "To think about: approximate data are rewritten as precise when they are half a year old. " +
			"Which errors does that stop, and which are copied along for ever?"},
		],
	},
	{
		title: "What is an SLC cache for?",
		parts: [
			{text: "A cell for four bits has sixteen states, which lie close together: programming it takes " +
			"long, and here it takes two passes. The view shows how pages were programmed; the mean write " +
			"response is below the pictures.", state: {...CACHED, more: ""}},
			{text: "Used for one bit the same cell is fast, and has room for a quarter. A tenth of the blocks is " +
			"kept as a cache that is written so first, and folded into full cells when there is time."},
			{question: "2000 writes of 16 KiB arrive at an empty QLC device. Whose mean response is better?",
			choices: ["the one with the cache", "the one without"],
			answer: (run) => {
				const found = ["--slc_static 10%", ""].map((cache) => writeMs(run(`${QLC} ${cache}`, 2000)));
				return {right: smallest(found), because: `${found.map(plain).join(" and ")} ms.`};
			}},
			{text: "Here it is with the cache. Find its blocks: they were programmed in mode slc. Choose one, " +
			"and look at the cells of a page: two states, far apart.", state: CACHED},
			{ask: "Play until the cache is full, and a tenth of what was written went past it.",
				state: {...CACHED, at: "200"},
				done: (state, now) => now.counters.cached_host_units > 0 &&
					now.counters.cached_host_units < 0.9 * now.counters.programmed_host_units,
				because: (state, now) => `${now.counters.cached_host_units} of ` +
					`${now.counters.programmed_host_units} units went to the cache.`,
				way: {at: "20000"}},
			{question: "16000 such writes have come without a pause. How much faster is the device with the " +
				"cache for those that follow?",
			choices: ["more than twice as fast", "a little faster", "no faster"],
			answer: (run) => {
				const [cache, none] = ["--slc_static 10%", ""].map((options) => {
					const state = run(`${QLC} ${options}`, 4000, 16000);
					return chartOf("write-response").of(state, state.before);
				});
				return {right: 2 - rangeOf(none / cache, 1.1, 2),
					because: `${plain(cache)} and ${plain(none)} ms. The cache is full; what is in it is ` +
						"folded when the dies are idle."};
			}},
			{text: "That is the cliff which reviews of drives show: a new drive is fast, and after some " +
			"gigabytes it is not. A pause brings the cache back. With arrivals that leave the dies idle between, " +
			"folding goes on all the time, and this device never gets there.",
			state: {...CACHED, load: "30", at: "6000"}},
			{question: "8000 writes that keep the dies busy for 30 % of the time. What part of them goes to the cache?",
			choices: ["less than half", "half to nine tenths", "more"],
			answer: (run) => {
				const {counters} = run(`${QLC} --slc_static 10% --utilisation 30%`, 8000);
				const part = counters.cached_host_units / counters.programmed_host_units;
				return {right: rangeOf(part, 0.5, 0.9), because: `${percent(part)}.`};
			}},
			{question: "Nothing is free: what was cached is written twice. Of the units that this device " +
				"programs, how many are folded ones?",
			choices: ["less than a tenth", "a tenth to a third", "more than a third"],
			answer: (run) => {
				const {counters} = run(`${QLC} --slc_static 10% --utilisation 30%`, 8000);
				const part = counters.programmed_fold_units / programmed(counters);
				return {right: rangeOf(part, 0.1, 1 / 3), because: `${counters.programmed_fold_units} of ` +
					`${programmed(counters)}: ${percent(part)}. They wear the cells, too.`};
			}},
			{ask: "Save the cells from that: give the device no cache, and find a load at which its mean write " +
				"response is below a millisecond all the same.",
			state: {...CACHED, load: "90", at: "8000"},
			done: (state, now) => !/slc_(static|dynamic)[ =]\+?[1-9]/.test(state.more) && now.requests >= 4000 &&
				state.profile === "qlc" && writeMs(now) < 1,
			because: (state, now) => `${plain(writeMs(now))} ms, ${now.counters.cached_host_units} units cached. The ` +
				"write buffer takes what comes, as long as the dies keep up.",
			way: {more: "", load: "60"}},
			{text: "To think about: in place of keeping blocks for the cache one can lend it free ones " +
			"(--slc_dynamic). Which cliff is gone then, which one comes, and when does it hurt most?"},
		],
	},
	{
		title: "Why does the tail get worse?",
		parts: [
			{text: "A mean says little to somebody who waits. A page of a shop asks a hundred requests of its " +
			"drives, and is as slow as the slowest of them. So one looks at percentiles: of a thousand requests, " +
			"how long does the slowest one take? That is the 99.9th percentile, the tail."},
			{text: "Requests arrive at random, half of them writes. At 30 % load most of them find an idle die. " +
			"The charts below the pictures show means; above each picture is the " +
			"tail of its writes.", state: QUEUED},
			{question: "From 30 % to 90 % load, what grows by the larger factor?",
			choices: ["the mean response of writes", "their 99.9th percentile"],
			answer: (run) => {
				const [idle, busy] = [30, 90].map((load) => run(`--fill sequential --write-share 0.5 ${SMALL} ` +
					`--size 8KiB --utilisation ${load}%`, 20000));
				const mean = writeMs(busy) / writeMs(idle);
				const [before, now] = [idle, busy].map((state) => tailMs(state.write_response));
				return {right: largest([mean, now / before]), because: `The mean by ${mean.toFixed(1)}, the tail by ` +
					`${(now / before).toFixed(1)}: from ${plain(before)} to ${plain(now)} ms. In milliseconds it ` +
					"is the tail that hurts."};
			}},
			{text: "At 90 % they queue: behind writes, and those behind others. Play both slowly: at 30 % hardly " +
			"two flashes are in the same die, here they follow each other.", state: {...QUEUED, load: "90"}},
			{ask: "Choose the load at which one write of a thousand waits for more than twice as long as at 30 %.",
				state: QUEUED,
				done: (state, now, other, begun) => now.requests >= begun.requests &&
					now.write_response.p99_9_ns > 2 * begun.write_response.p99_9_ns,
				because: (state, now, other, begun) => `${plain(tailMs(begun.write_response))} ms before, ` +
					`${plain(tailMs(now.write_response))} ms now.`,
				way: {load: "90"}},
			{text: "Reads have it worse: one takes 50 µs by itself, and the write before it in the same die " +
			"takes 700. Some flash can interrupt a program for a read, and go on with it afterwards: --suspend " +
			"program does that."},
			{question: "60 % load. What does --suspend program do to the mean response of reads?",
			choices: ["a little, less than a tenth", "it falls by a tenth to a half", "it falls by more than half"],
			answer: (run) => {
				const [off, on] = ["off", "program"].map((what) => readMs(run(`--fill sequential --write-share 0.5 ` +
					`${SMALL} --size 8KiB --utilisation 60% --suspend ${what}`, 10000)));
				return {right: rangeOf(1 - on / off, 0.1, 0.5), because: `${plain(off)} ms without, ${plain(on)} with it.`};
			}},
			{question: "And who pays?",
			choices: ["nobody", "writes: their mean grows"],
			answer: (run) => {
				const [off, on] = ["off", "program"].map((what) => writeMs(run(`--fill sequential --write-share 0.5 ` +
					`${SMALL} --size 8KiB --utilisation 60% --suspend ${what}`, 10000)));
				return {right: on > off ? 1 : 0, because: `${plain(off)} ms without, ${plain(on)} with it.`};
			}},
			{ask: "Add --suspend program to More options, so that reads respond in less than half of the time.",
				state: {...QUEUED, load: "60"},
				done: (state, now, other, begun) => /--suspend[ =](program|both)/.test(state.more) && state.load === "60" &&
					now.requests >= begun.requests && readMs(now) < readMs(begun) / 2,
				because: (state, now, other, begun) => `${plain(readMs(begun))} ms before, ${plain(readMs(now))} ms now.`,
				way: {more: `${SMALL} --suspend program`}},
			{question: "6000 requests a second, half of them writes, of which half are approximate: " +
				"whose slowest write of a thousand is faster?",
			choices: ["baseline's", "ApproxFTL's"],
			answer: (run) => {
				const found = ["baseline", "approxftl"].map((policy) => tailMs(run(`--policy ${policy} ` +
					`--write-share 0.5 --approx-share 0.5 ${SMALL} --size 8KiB --rate 6000`, 5000).write_response));
				return {right: smallest(found), because: `${found.map(plain).join(" and ")} ms. The device ` +
					"is empty: nothing is collected yet."};
			}},
			{text: "A tail is made of few requests, so it is hard to measure. Change the seed of this device, " +
			"and nothing else, and see both numbers move.", state: {...QUEUED, load: "60"}},
			{question: "Five seeds, 5000 requests each. By how much do the five tails differ, beside the five means?",
			choices: ["less", "about as much, up to twice", "several times as much"],
			answer: (run) => {
				const runs = [1, 2, 3, 4, 5].map((seed) => run(`--fill sequential --write-share 0.5 ${SMALL} ` +
					`--size 8KiB --utilisation 60% --seed ${seed}`, 5000));
				const spread = (values) => Math.max(...values) / Math.min(...values) - 1;
				const [mean, tail] = [spread(runs.map(writeMs)), spread(runs.map((one) => tailMs(one.write_response)))];
				return {right: rangeOf(tail / mean, 1, 2), because: `The largest mean is ${percent(mean)} above the ` +
					`least, the largest tail ${percent(tail)}. A difference of two tails means little by itself.`};
			}},
		],
	},
];
