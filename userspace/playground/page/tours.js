// SPDX-License-Identifier: GPL-2.0-only
//
// The course. Each tour shows states of the page, asks, and has the simulator answer.

// One die with small blocks, as in docs/tutorial.md.
const TINY = "--channels 1 --chips 1 --blocks 64 --layers 4 --word_lines 4 --page 4KiB";
const SMALL = "--blocks 64 --op 40%";

// What "approxftl sim" says of so many requests, and what it said before those.
function measure(module, text, requests, warmup = 0) {
	const device = new Device(module, text.split(/\s+/).filter(Boolean));
	device.call("play_to", warmup, FOREVER);
	const before = device.state();
	device.call("play_to", warmup + requests, FOREVER);
	device.call("play_finish");
	return {...device.state(), before};
}

const writeMs = (state) => total(CHARTS[0], state);
const AMPLIFICATION = CHARTS.find((chart) => chart.name === "amplification");
const sumOf = (list) => list.reduce((all, one) => all + one, 0);

// Of a full die, once collection has found its pace.
const FULL = "--channels 1 --chips 1 --blocks 64";

function amplification(run, options) {
	const state = run(`${FULL} --fill random --write-share 1 --size 8KiB ${options}`, 8000, 16000);
	return AMPLIFICATION.of(state, state.before);
}

function largest(values) {
	return values.indexOf(Math.max(...values));
}

function smallest(values) {
	return values.indexOf(Math.min(...values));
}

// Of one who reads aloud, and at the speed that the page plays with by itself.
const WORDS_A_MINUTE = 100;
const REQUESTS_A_MINUTE = 60 * 10 ** 2.5;

// To read all of it, and to play each device from its beginning.
function minutesOf({steps, task, questions}) {
	const texts = [...steps.map(([text]) => text), task.ask,
		...questions.flatMap(({question, choices}) => [question, ...choices])];
	const requests = sumOf([...steps.map(([, state]) => state), {...task.state, ...task.way}]
		.map(({at}) => Number(at)));
	return texts.join(" ").split(/\s+/).length / WORDS_A_MINUTE + requests / REQUESTS_A_MINUTE;
}

// task: what the reader does on the page. done(state of the page, device now, the other one, device
// when it began) says when; way is a change of the state that does it.
// answer(run): {right: index of the choice, because: what was measured}; run is measure()
const TOURS = [
	{
		title: "Why can't a page be overwritten?",
		steps: [
			["A NAND cell loses its charge only when its whole block is erased. So a new version of " +
			"some data goes to a new page, and the old one becomes garbage: the faint fields.",
			{a: "baseline", b: "", x: "0", fill: "none", more: `${TINY} --op 50% --footprint 1%`,
				at: "60"}],
			["The table that says where the newest version of each unit is makes the drive look like " +
			"a disk. Press play, and watch pages fill in sequence while the valid ones stay few.",
			{a: "baseline", b: "", x: "0", fill: "none", more: `${TINY} --op 50% --footprint 1%`,
				at: "300"}],
		],
		task: {
			ask: "Step or play until the die has erased a block: then garbage has become room again.",
			state: {a: "baseline", b: "", x: "0", fill: "none", more: `${TINY} --op 50% --footprint 1%`,
				at: "300"},
			done: (state, now) => now.counters.array_erases > 0,
			because: (now) => `${now.requests} requests, ${now.counters.array_erases} erases.`,
			way: {at: "2000"},
		},
		questions: [{
			question: "512 writes go to the same five units of this empty device. How many units of its " +
				"flash are valid in the end?",
			choices: ["512", "5", "0"],
			answer: (run) => {
				const {valid_units: valid} = run(`${TINY} --op 50% --footprint 1% --size 4KiB ` +
					"--write-share 1", 512);
				return {right: ["512", "5", "0"].indexOf(String(valid)),
					because: `The device says: ${valid} valid units. All other pages are garbage, or free.`};
			},
		}, {
			question: "These five units are written for ever. When is flash erased?",
			choices: ["at each write", "when free blocks run out", "never"],
			answer: (run) => {
				const [few, many] = [512, 5000].map((requests) => run(`${TINY} --op 50% --footprint 1% ` +
					"--size 4KiB --write-share 1", requests).counters.array_erases);
				return {right: few ? 0 : many ? 1 : 2,
					because: `After 512 writes ${few} blocks had been erased, after 5000 ${many}. ` +
						"An erase needs a block without anything valid."};
			},
		}],
	},
	{
		title: "How does a block fill?",
		steps: [
			["A block is a stack of layers. Under baseline its pages are written in sequence, whatever " +
			"they hold, all with the same slow and careful program.",
			{a: "baseline", b: "", fill: "none", size: "4KiB", view: "mode",
				more: `${TINY} --op 50%`, at: "64"}],
			["ApproxFTL has three kinds of block. One is a checkerboard of precise and approximate " +
			"pages. What does not fit its next field goes elsewhere: look at blocks 0, 1 and 2.",
			{a: "approxftl", b: "", fill: "none", size: "4KiB", view: "mode",
				more: `${TINY} --op 50%`, at: "64"}],
		],
		task: {
			ask: "Drag Approximate to 0 % under ApproxFTL, and look at the modes of its pages.",
			state: {a: "approxftl", b: "", fill: "none", size: "4KiB", view: "mode",
				more: `${TINY} --op 50%`, at: "64"},
			done: (state) => state.x === "0",
			because: (now) => `${now.mode_pages[0]} pages in normal mode, ${now.mode_pages[2]} between ` +
				"approximate ones.",
			way: {x: "0"},
		},
		questions: [{
			question: "300 writes, half of them approximate, to the second device. In which mode were most " +
				"of the precise pages programmed?",
			choices: ["normal, as in the first device", "between approximate ones",
				"after all their neighbours"],
			answer: (run) => {
				const {mode_pages: pages} = run(`${TINY} --op 50% --policy approxftl --write-share 1 ` +
					"--approx-share 0.5", 300);
				const found = [pages[0], pages[2], pages[3]];
				return {right: largest(found), because: `Pages: ${found[0]} normal, ${found[1]} between, ` +
					`${found[2]} after.`};
			},
		}, {
			question: "And if all 300 writes are precise: how many pages go between others?",
			choices: ["none", "less than a third", "more"],
			answer: (run) => {
				const {mode_pages: pages} = run(`${TINY} --op 50% --policy approxftl --write-share 1 ` +
					"--approx-share 0", 300);
				const between = pages[2] / sumOf(pages);
				return {right: between === 0 ? 0 : between < 1 / 3 ? 1 : 2,
					because: `${pages[2]} of ${sumOf(pages)}. A field of the checkerboard is free for ` +
						"precise data only beside approximate ones."};
			},
		}],
	},
	{
		title: "Why does ApproxFTL write faster?",
		steps: [
			["Programming shifts the voltage of the neighbours. An approximate page is programmed to " +
			"a lower voltage, which is faster and shifts less. So precise pages beside it may be " +
			"programmed faster, too.",
			{a: "approxftl", b: "baseline", view: "mode", at: "3000", more: SMALL}],
			["Two policies, the same time: ApproxFTL is at more requests.",
			{a: "baseline", b: "approxftl", view: "mode", sync: "time", at: "3000", more: SMALL}],
		],
		task: {
			ask: "Two policies at the same time: play until ApproxFTL is at 500 requests more.",
			state: {a: "baseline", b: "approxftl", view: "mode", sync: "time", at: "300", more: SMALL},
			done: (state, now, other) => state.sync === "time" && other &&
				other.requests >= now.requests + 500,
			because: (now, other) => `${now.requests} and ${other.requests} requests.`,
			way: {at: "4000"},
		},
		questions: [{
			question: "Half of the writes are approximate. By how much is ApproxFTL's mean program time " +
				"below that of baseline?",
			choices: ["less than a tenth", "a tenth to a half", "more than a half"],
			answer: (run) => {
				const of = (policy) => {
					const {counters} = run(`--policy ${policy} --write-share 1 --approx-share 0.5 ${SMALL}`,
						4000);
					return counters.array_program_ns / counters.array_programs / 1000;
				};
				const [slow, fast] = [of("baseline"), of("approxftl")];
				const less = 1 - fast / slow;
				return {right: less < 0.1 ? 0 : less < 0.5 ? 1 : 2,
					because: `${slow.toFixed(0)} µs and ${fast.toFixed(0)} µs: ` +
						`${(100 * less).toFixed(0)} % less.`};
			},
		}, {
			question: "Which part of ApproxFTL's pages is still programmed in the normal, slow mode?",
			choices: ["most", "a third to a half", "less than a third"],
			answer: (run) => {
				const {mode_pages: pages} = run(`--policy approxftl --write-share 1 --approx-share 0.5 ` +
					SMALL, 4000);
				const normal = pages[0] / sumOf(pages);
				return {right: normal > 0.5 ? 0 : normal > 1 / 3 ? 1 : 2,
					because: `${pages[0]} of ${sumOf(pages)}: those that came when no field was free.`};
			},
		}],
	},
	{
		title: "What if the shares do not match?",
		steps: [
			["The checkerboard wants as many approximate pages as precise ones. Here a tenth of the " +
			"writes is approximate.", {a: "approxftl", b: "", x: "10", view: "kind", at: "4000",
				more: SMALL}],
			["And here nine tenths. The use of the blocks is another one.",
				{a: "approxftl", b: "", x: "90", view: "kind", at: "4000", more: SMALL}],
		],
		task: {
			ask: "Drag Approximate until less than a hundredth of the pages is programmed in normal mode.",
			state: {a: "approxftl", b: "", x: "10", view: "mode", at: "4000", more: SMALL},
			done: (state, now) => now.requests >= 1000 &&
				now.mode_pages[0] < sumOf(now.mode_pages) / 100,
			because: (now) => `${now.mode_pages[0]} of ${sumOf(now.mode_pages)} pages.`,
			way: {x: "90"},
		},
		questions: [{
			question: "Which share of approximate writes makes ApproxFTL's mean program time the least?",
			choices: ["10 %", "50 %", "90 %"],
			answer: (run) => {
				const times = [0.1, 0.5, 0.9].map((share) => {
					const {counters} = run(`--policy approxftl --write-share 1 --approx-share ${share} ` +
						SMALL, 4000);
					return counters.array_program_ns / counters.array_programs / 1000;
				});
				return {right: smallest(times), because: `${times.map((time) => time.toFixed(0))
					.join(", ")} µs. An approximate page itself is the fastest to program.`};
			},
		}, {
			question: "With a tenth of the writes approximate: how much of what half of them save in program " +
				"time is left?",
			choices: ["more than half", "less than half"],
			answer: (run) => {
				const time = (policy, share) => {
					const {counters} = run(`--policy ${policy} --write-share 1 --approx-share ${share} ` +
						SMALL, 4000);
					return counters.array_program_ns / counters.array_programs;
				};
				const base = time("baseline", 0.5);
				const [half, tenth] = [0.5, 0.1].map((share) => 1 - time("approxftl", share) / base);
				return {right: tenth > half / 2 ? 0 : 1, because: `${(100 * half).toFixed(0)} % less ` +
					`than baseline with half, ${(100 * tenth).toFixed(0)} % with a tenth.`};
			},
		}],
	},
	{
		title: "What does garbage collection cost?",
		steps: [
			["When free blocks run out, the valid pages of some block are copied elsewhere and it is " +
			"erased. Violet flashes are copies, a red frame is an erase.",
			{a: "baseline", b: "", x: "0", fill: "random", size: "8KiB", more: FULL,
				at: "12000"}],
			["With more spare space a block has more garbage when its turn comes.",
			{a: "baseline", b: "", x: "0", fill: "random", op: "40", size: "8KiB",
				more: FULL, at: "12000"}],
		],
		task: {
			ask: "Drag Spare space until fewer than two units are written for each of the host, with at " +
				"least 8000 requests.",
			state: {a: "baseline", b: "", x: "0", fill: "random", size: "8KiB", more: FULL, at: "8000"},
			done: (state, now) => now.requests >= 8000 && total(AMPLIFICATION, now) < 2,
			because: (now) => `Write amplification ${plain(total(AMPLIFICATION, now))}.`,
			way: {op: "50"},
		},
		questions: [{
			question: "Random writes to a full die of 64 blocks. With how much " +
				"over-provisioning is write amplification below 2?",
			choices: ["10 %", "20 %", "40 %"],
			answer: (run) => {
				const found = [10, 20, 40].map((op) => amplification(run, `--op ${op}%`));
				return {right: found.findIndex((value) => value < 2),
					because: `Written for each unit of the host: ${found.map(plain).join(", ")}.`};
			},
		}, {
			question: "10 % of spare space, but only half of the addresses are written again. What does " +
				"that to write amplification?",
			choices: ["it falls", "next to nothing", "it grows"],
			answer: (run) => {
				const [all, half] = ["", "--footprint 50%"].map((where) =>
					amplification(run, `--op 10% ${where}`));
				return {right: half < 0.9 * all ? 0 : half < 1.1 * all ? 1 : 2,
					because: `${plain(all)} everywhere, ${plain(half)} in one half.`};
			},
		}],
	},
	{
		title: "Which block is collected?",
		steps: [
			["Greedy takes the block with the least valid data. First in, first out takes the oldest, " +
			"whatever is in it.", {a: "baseline", b: "", x: "0", fill: "random", skew: "1", size: "8KiB",
				more: `${FULL} --op 20%`, view: "valid", at: "12000"}],
			["The same stream with --victim fifo.", {a: "baseline", b: "", x: "0", fill: "random",
				skew: "1", size: "8KiB", more: `${FULL} --op 20% --victim fifo`, view: "valid",
				at: "12000"}],
		],
		task: {
			ask: "Write --victim cost_benefit in place of greedy into More options, and go to request 12000.",
			state: {a: "baseline", b: "", x: "0", fill: "random", skew: "1", size: "8KiB",
				more: `${FULL} --op 20% --victim greedy`, view: "valid", at: "4000"},
			done: (state, now) => /--victim[ =]cost_benefit/.test(state.more) && now.requests >= 12000,
			because: (now) => `Write amplification ${plain(total(AMPLIFICATION, now))}.`,
			way: {more: `${FULL} --op 20% --victim cost_benefit`, at: "12000"},
		},
		questions: [{
			question: "Some data is much more often written than other (Zipf, exponent 1). Which choice " +
				"writes less?",
			choices: ["greedy", "first in, first out"],
			answer: (run) => {
				const found = ["greedy", "fifo"].map((victim) => amplification(run,
					`--op 20% --workload zipf --zipf-skew 1 --victim ${victim}`));
				return {right: smallest(found), because: `Write amplification ${found.map(plain)
					.join(" and ")}.`};
			},
		}, {
			question: "And if all units are written equally often: by how much does first in, first out " +
				"write more than greedy?",
			choices: ["less than a fifth", "a fifth to double", "more than double"],
			answer: (run) => {
				const [greedy, fifo] = ["greedy", "fifo"].map((victim) =>
					amplification(run, `--op 20% --victim ${victim}`));
				return {right: fifo < 1.2 * greedy ? 0 : fifo < 2 * greedy ? 1 : 2,
					because: `Write amplification ${plain(greedy)} and ${plain(fifo)}.`};
			},
		}],
	},
	{
		title: "Is skew good or bad?",
		steps: [
			["All units are written equally often: garbage is everywhere.", {a: "baseline", b: "",
				x: "0", fill: "random", size: "8KiB", more: `${FULL} --op 20%`, view: "valid",
				at: "12000"}],
			["A few units get most of the writes. Baseline does not tell hot data from cold: both " +
			"share blocks.", {a: "baseline", b: "", x: "0", fill: "random", skew: "1.2",
				size: "8KiB", more: `${FULL} --op 20%`, view: "valid", at: "12000"}],
		],
		task: {
			ask: "Keep hot data from cold in mid-run: choose the policy separated under Change in mid-run, " +
				"and go on for 4000 requests.",
			state: {a: "baseline", b: "", x: "0", fill: "random", skew: "1.2", size: "8KiB",
				more: `${FULL} --op 20%`, view: "kind", at: "8000"},
			done: (state, now, other, begun) => /:policy:separated/.test(state.do) &&
				now.requests >= begun.requests + 4000,
			because: (now) => `Write amplification ${plain(total(AMPLIFICATION, now))} since then.`,
			way: {do: "8000:a:policy:separated", at: "12000"},
		},
		questions: [{
			question: "Which of the two has the lower write amplification under baseline?",
			choices: ["equal writes", "skewed writes"],
			answer: (run) => {
				const found = ["", "--workload zipf --zipf-skew 1.2"].map((skew) =>
					amplification(run, `--op 20% ${skew}`));
				return {right: smallest(found), because: `Write amplification ${found.map(plain)
					.join(" and ")}.`};
			},
		}, {
			question: "Policy separated has blocks of their own for what collection moves. What does the " +
				"skewed stream cost then?",
			choices: ["less than under baseline", "more than under baseline"],
			answer: (run) => {
				const found = ["separated", "baseline"].map((policy) => amplification(run,
					`--policy ${policy} --op 20% --workload zipf --zipf-skew 1.2`));
				return {right: smallest(found), because: `Write amplification ${plain(found[0])}, and ` +
					`${plain(found[1])} under baseline.`};
			},
		}],
	},
	{
		title: "How does a disk grow old?",
		steps: [
			["Cells leak, and worn cells leak more. This device is new; its data is a year old.",
				{a: "baseline", b: "", x: "0", fill: "sequential", months: "12", view: "errors", w: "0", at: "1000",
					more: "--bits 2 --blocks 32 --op 40%"}],
			["The same after 3000 erases of each block.", {a: "baseline", b: "", x: "0", months: "12",
				fill: "sequential", pe: "3000", view: "errors", w: "0", at: "1000",
				more: "--bits 2 --blocks 32 --op 40%"}],
		],
		task: {
			ask: "Drag P/E cycles or months until these reads meet ten times as many wrong bits.",
			state: {a: "baseline", b: "", x: "0", fill: "sequential", pe: "1000", months: "6", view: "errors", w: "0",
				at: "1000", more: "--bits 2 --blocks 32 --op 40%"},
			done: (state, now, other, begun) => now.requests >= begun.requests &&
				now.counters.read_raw_error_bits > 10 * begun.counters.read_raw_error_bits,
			because: (now, other, begun) => `${begun.counters.read_raw_error_bits} before, ` +
				`${now.counters.read_raw_error_bits} now.`,
			way: {pe: "5000", months: "36"},
		},
		questions: [{
			question: "What brings more raw bit errors into reads: a year on new cells, or a day on cells " +
				"that were erased 3000 times?",
			choices: ["a year on new cells", "a day on worn cells"],
			answer: (run) => {
				const found = ["--cycles 0 --age 365d", "--cycles 3000 --age 1d"].map((worn) =>
					run(`--bits 2 --blocks 32 --op 40% --cell_model voltage --fill sequential ` +
						`--write-share 0 ${worn}`, 3000).counters.read_raw_error_bits);
				return {right: largest(found), because: `Raw bit errors in 3000 reads: ${found.join(" and ")}.`};
			},
		}, {
			question: "A year on a shelf: how many times as many wrong bits on cells that were erased 3000 " +
				"times as on new ones?",
			choices: ["less than 3 times", "3 to 30 times", "more than 30 times"],
			answer: (run) => {
				const [fresh, worn] = [0, 3000].map((cycles) => run("--bits 2 --blocks 32 --op 40% " +
					`--cell_model voltage --fill sequential --write-share 0 --cycles ${cycles} ` +
					"--age 365d", 3000).counters.read_raw_error_bits);
				const times = worn / Math.max(1, fresh);
				return {right: times < 3 ? 0 : times < 30 ? 1 : 2,
					because: `${fresh} and ${worn} in 3000 reads.`};
			},
		}],
	},
	{
		title: "What is an SLC cache for?",
		steps: [
			["A cell for four bits takes long to program.", {profile: "qlc", a: "baseline", b: "",
				x: "0", op: "25", fill: "none", size: "16KiB", view: "kind", at: "2000"}],
			["Used for one bit it is fast, and has room for a quarter. A tenth of the blocks is a cache " +
			"that is written so first, and folded into full cells when there is time.",
			{profile: "qlc", a: "baseline", b: "", x: "0", op: "25", fill: "none", size: "16KiB",
				view: "kind", more: "--slc_static 10%", at: "2000"}],
		],
		task: {
			ask: "Play until the cache is full, and a tenth of what was written went past it.",
			state: {profile: "qlc", a: "baseline", b: "", x: "0", op: "25", fill: "none", size: "16KiB",
				view: "kind", more: "--slc_static 10%", at: "200"},
			done: (state, now) => now.counters.cached_host_units > 0 &&
				now.counters.cached_host_units < 0.9 * now.counters.programmed_host_units,
			because: (now) => `${now.counters.cached_host_units} of ` +
				`${now.counters.programmed_host_units} units went to the cache.`,
			way: {at: "20000"},
		},
		questions: [{
			question: "2000 writes of 16 KiB arrive at an empty QLC device. Whose mean response is better?",
			choices: ["the one with the cache", "the one without"],
			answer: (run) => {
				const found = ["--slc_static 10%", ""].map((cache) => writeMs(run("--profile qlc --blocks 64 " +
					`--op 25% --write-share 1 --size 16KiB ${cache}`, 2000)));
				return {right: smallest(found), because: `${found.map(plain).join(" and ")} ms.`};
			},
		}, {
			question: "16000 such writes have come without a pause. How much faster is the device with the " +
				"cache for those that follow?",
			choices: ["more than twice as fast", "a little faster", "no faster"],
			answer: (run) => {
				const [cache, none] = ["--slc_static 10%", ""].map((options) => {
					const state = run("--profile qlc --blocks 64 --op 25% --write-share 1 --size 16KiB " +
						options, 4000, 16000);
					return CHARTS[0].of(state, state.before);
				});
				return {right: none > 2 * cache ? 0 : none > 1.1 * cache ? 1 : 2,
					because: `${plain(cache)} and ${plain(none)} ms. The cache is full; what is in it is ` +
						"folded when the dies are idle."};
			},
		}],
	},
	{
		title: "Why does the tail get worse?",
		steps: [
			["Requests arrive at random. At 30 % load most find an idle die.", {a: "baseline", b: "",
				x: "0", w: "50", load: "30", fill: "sequential", more: SMALL, at: "5000"}],
			["At 90 % they queue: behind writes, and those behind others.", {a: "baseline", b: "",
				x: "0", w: "50", load: "90", fill: "sequential", more: SMALL, at: "5000"}],
		],
		task: {
			ask: "Choose the load at which one write of a thousand waits for more than twice as long as at 30 %.",
			state: {a: "baseline", b: "", x: "0", w: "50", load: "30", fill: "sequential", more: SMALL,
				at: "5000"},
			done: (state, now, other, begun) => now.requests >= begun.requests &&
				now.write_response.p99_9_ns > 2 * begun.write_response.p99_9_ns,
			because: (now, other, begun) => `${plain(begun.write_response.p99_9_ns / 1e6)} ms before, ` +
				`${plain(now.write_response.p99_9_ns / 1e6)} ms now.`,
			way: {load: "90"},
		},
		questions: [{
			question: "From 30 % to 90 % load, what grows by the larger factor?",
			choices: ["the mean response of writes", "their 99.9th percentile"],
			answer: (run) => {
				const [idle, busy] = [30, 90].map((load) => run(`--fill sequential --write-share 0.5 ${SMALL} ` +
					`--size 8KiB --utilisation ${load}%`, 20000));
				const mean = writeMs(busy) / writeMs(idle);
				const tail = busy.write_response.p99_9_ns / idle.write_response.p99_9_ns;
				return {right: largest([mean, tail]), because: `The mean by ${mean.toFixed(1)}, the tail by ` +
					`${tail.toFixed(1)}: from ${plain(idle.write_response.p99_9_ns / 1e6)} to ` +
					`${plain(busy.write_response.p99_9_ns / 1e6)} ms. In milliseconds it is the tail that hurts.`};
			},
		}, {
			question: "6000 requests a second, half of them writes, of which half are approximate: " +
				"whose slowest write of a thousand is faster?",
			choices: ["baseline's", "ApproxFTL's"],
			answer: (run) => {
				const found = ["baseline", "approxftl"].map((policy) => run(`--policy ${policy} ` +
					`--write-share 0.5 --approx-share 0.5 ${SMALL} --size 8KiB --rate 6000`, 5000)
					.write_response.p99_9_ns / 1e6);
				return {right: smallest(found), because: `${found.map(plain).join(" and ")} ms. The device ` +
					"is empty: nothing is collected yet."};
			},
		}],
	},
];
