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

// Of a full die, once collection has found its pace.
const FULL = "--channels 1 --chips 1 --blocks 64";

function amplification(run, options) {
	const state = run(`${FULL} --fill random --write-share 1 --size 8KiB ${options}`, 8000, 16000);
	return CHARTS[2].of(state, state.before);
}

function largest(values) {
	return values.indexOf(Math.max(...values));
}

function smallest(values) {
	return values.indexOf(Math.min(...values));
}

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
		question: "512 writes go to the same five units of this empty device. How many units of its " +
			"flash are valid in the end?",
		choices: ["512", "5", "0"],
		answer: (run) => {
			const {valid_units: valid} = run(`${TINY} --op 50% --footprint 1% --size 4KiB ` +
				"--write-share 1", 512);
			return {right: ["512", "5", "0"].indexOf(String(valid)),
				because: `The device says: ${valid} valid units. All other pages are garbage, or free.`};
		},
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
		question: "Random writes to a full die of 64 blocks. With how much " +
			"over-provisioning is write amplification below 2?",
		choices: ["10 %", "20 %", "40 %"],
		answer: (run) => {
			const found = [10, 20, 40].map((op) => amplification(run, `--op ${op}%`));
			return {right: found.findIndex((value) => value < 2),
				because: `Written for each unit of the host: ${found.map(plain).join(", ")}.`};
		},
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
		question: "Some data is much more often written than other (Zipf, exponent 1). Which choice " +
			"writes less?",
		choices: ["greedy", "first in, first out"],
		answer: (run) => {
			const found = ["greedy", "fifo"].map((victim) => amplification(run,
				`--op 20% --workload zipf --zipf-skew 1 --victim ${victim}`));
			return {right: smallest(found), because: `Write amplification ${found.map(plain)
				.join(" and ")}.`};
		},
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
		question: "Which of the two has the lower write amplification under baseline?",
		choices: ["equal writes", "skewed writes"],
		answer: (run) => {
			const found = ["", "--workload zipf --zipf-skew 1.2"].map((skew) =>
				amplification(run, `--op 20% ${skew}`));
			return {right: smallest(found), because: `Write amplification ${found.map(plain)
				.join(" and ")}.`};
		},
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
		question: "What brings more raw bit errors into reads: a year on new cells, or a day on cells " +
			"that were erased 3000 times?",
		choices: ["a year on new cells", "a day on worn cells"],
		answer: (run) => {
			const found = ["--cycles 0 --age 365d", "--cycles 3000 --age 1d"].map((worn) =>
				run(`--bits 2 --blocks 32 --op 40% --cell_model voltage --fill sequential ` +
					`--write-share 0 ${worn}`, 3000).counters.read_raw_error_bits);
			return {right: largest(found), because: `Raw bit errors in 3000 reads: ${found.join(" and ")}.`};
		},
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
		question: "2000 writes of 16 KiB arrive at an empty QLC device. Whose mean response is better?",
		choices: ["the one with the cache", "the one without"],
		answer: (run) => {
			const found = ["--slc_static 10%", ""].map((cache) => writeMs(run("--profile qlc --blocks 64 " +
				`--op 25% --write-share 1 --size 16KiB ${cache}`, 2000)));
			return {right: smallest(found), because: `${found.map(plain).join(" and ")} ms.`};
		},
	},
	{
		title: "Why does the tail get worse?",
		steps: [
			["Requests arrive at random. At 30 % load most find an idle die.", {a: "baseline", b: "",
				x: "0", w: "50", load: "30", fill: "sequential", more: SMALL, at: "5000"}],
			["At 90 % they queue: behind writes, and those behind others.", {a: "baseline", b: "",
				x: "0", w: "50", load: "90", fill: "sequential", more: SMALL, at: "5000"}],
		],
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
	},
];
