// SPDX-License-Identifier: GPL-2.0-only
//
// Converts the state of the page to an address, and to arguments of "approxftl sim".

// Fields of the address with their defaults, which the address omits.
const STANDARD = {
	profile: "demo", a: "baseline", b: "approxftl", w: "100", x: "50", skew: "0", op: "", pe: "0",
	months: "0", fill: "none", load: "closed", size: "8KiB", seed: "1", more: "", at: "2000",
	view: "use", sync: "requests", do: "", place: "device", trace: "",
	whole: "", rot: "approxftl:3000:12", tour: "1", see: "a:0:0:0:0", zoom: "",
};

// Without an address the page shows full devices that collect garbage.
const OPENING = {...STANDARD, w: "70", fill: "random", op: "20", load: "30", at: "24000"};

// Large devices are shown reduced, with as many dies, to a size that a browser can draw.
const PROFILES = {
	demo: {about: "4 dies, 8 layers, small and quick", args: []},
	tcad18: {about: "ApproxFTL's device, 32 dies", args: ["--blocks", "128", "--word_lines", "16"]},
	fast16: {about: "AGCR's device, 64 dies", args: ["--blocks", "48", "--word_lines", "16"]},
	micro19: {about: "cubeFTL's device, TLC, 48 layers", args: ["--blocks", "128"]},
	ics14: {about: "TVR's device, fast and slow pages", args: ["--blocks", "128"]},
	tos22: {about: "ReSSD's device, TLC, super layers", args: ["--channels", "2", "--chips", "2",
		"--blocks", "256", "--layers", "16"]},
	qlc: {about: "QLC in two passes, for baseline", args: ["--blocks", "64"]},
	enterprise: {about: "superblocks, parity, SLC cache", args: ["--channels", "4",
		"--blocks", "128", "--layers", "4", "--op", "30"]},
	"generic-drive": {about: "an enterprise TLC drive, small", args: []},
	"micron-7450-max": {about: "Micron 7450 MAX, small", args: []},
	"solidigm-p5520": {about: "Solidigm D7-P5520, small", args: []},
	"kioxia-cm7r": {about: "Kioxia CM7-R, small", args: []},
	"samsung-pm9a3": {about: "Samsung PM9A3, small", args: []},
	"wd-dc-960": {about: "a WD DC drive, small", args: []},
	"wd-zn540": {about: "the flash of a WD ZN540, small", args: []},
	"wd-conventional": {about: "a sibling of the ZN540, small", args: []},
	"kioxia-xg6": {about: "Kioxia XG6, small", args: []},
};

const POLICIES = ["baseline", "delta_b", "vth_b", "approxftl", "pageftl", "vertftl", "cubeftl",
	"cubeftl_minus", "traditional", "li", "agcr", "tvr", "tlc", "ressd", "hybrid", "streams", "separated",
	"density", "lending", "ips", "levels", "sepbit", "midas"];

const VIEWS = [
	{name: "use", title: "class and validity"},
	{name: "mode", title: "program mode"},
	{name: "valid", title: "valid data"},
	{name: "age", title: "age of data"},
	{name: "errors", title: "bit error rate"},
	{name: "wear", title: "erases"},
	{name: "kind", title: "use of blocks"},
];

const HOURS_OF_MONTH = 730;

const PLACES = ["device", "content", "course", "files"];
const ACTION = /^\d{1,9}:[ab*]:(age:\d{1,9}|(?!age:)[a-z_]{1,40}:[\w.%]{1,31})$/;
// Everything (empty), a die, a block, or a part: middle relative to a block's corner, and width.
const ZOOM = /^([db]\d{1,9}|p\d{1,9}(:-?\d{1,6}(\.\d{1,2})?){2}:\d{1,6}(\.\d{1,2})?)$/;
const isNumber = (text) => /^\d{1,9}(\.\d{1,9})?$/.test(text);

// Valid values of fields that the simulator never sees or would not reject.
const RIGHT = {
	w: isNumber, x: isNumber, skew: isNumber, pe: isNumber, months: isNumber,
	op: (text) => text === "" || isNumber(text), load: (text) => text === "closed" || isNumber(text),
	at: (text) => /^\d{1,10}$/.test(text), do: (text) => text.split(";").every((one) => ACTION.test(one)),
	view: (text) => VIEWS.some(({name}) => name === text), place: (text) => PLACES.includes(text),
	rot: (text) => /^(approxftl|vth_b|delta_b|baseline):\d{1,5}:\d{1,2}$/.test(text),
	tour: (text) => /^([1-9]|10)$/.test(text), sync: (text) => ["requests", "time"].includes(text),
	see: (text) => /^[ab](:\d{1,9}){4}$/.test(text), zoom: (text) => ZOOM.test(text), whole: (text) => ["", "1"].includes(text),
};

// Find fields of an address that are unknown or have invalid values.
function wrongIn(address) {
	return [...new URLSearchParams(address.replace(/^#/, ""))].filter(([key, text]) =>
		!Object.hasOwn(STANDARD, key) || (text !== STANDARD[key] && key in RIGHT && !RIGHT[key](text)));
}

// Parse an address, ignoring invalid fields.
function stateOf(address) {
	const given = new URLSearchParams(address.replace(/^#/, ""));
	for (const [key] of wrongIn(address))
		given.delete(key);
	return {...STANDARD, ...Object.fromEntries(given)};
}

function addressOf(state) {
	const said = new URLSearchParams();
	for (const key of Object.keys(STANDARD))
		if (state[key] !== STANDARD[key])
			said.set(key, state[key]);
	// The address is never empty, because the page starts differently without one.
	return `#${said.size ? said : `at=${STANDARD.at}`}`;
}

// Parse actions, "5000:a:policy:vth_b;9000:*:age:720", and select those of one side.
function actionsOf(text, side) {
	return text.split(";").filter(Boolean).map((word) => {
		const [at, whose, what, value] = word.split(":");
		return {at: Number(at), whose, what, value};
	}).filter((action) => action.whose === side || action.whose === "*")
		.sort((one, other) => one.at - other.at);
}

function streamArgs(state) {
	if (state.trace)
		return ["--trace", state.trace, "--fold"];
	const skew = Number(state.skew);
	return ["--write-share", `${state.w}%`, "--approx-share", `${state.x}%`, "--size", state.size,
		...skew ? ["--workload", "zipf", "--zipf-skew", state.skew] : [],
		...state.load === "closed" ? [] : ["--utilisation", `${state.load}%`]];
}

function wornArgs(state) {
	const worn = state.pe !== "0" || state.months !== "0";
	return worn ? ["--cell_model", "voltage", "--cycles", state.pe,
		"--age", `${Math.round(state.months * HOURS_OF_MONTH)}h`] : [];
}

function deviceArgs(state, policy) {
	const smaller = state.whole || !(state.profile in PROFILES) ? [] : PROFILES[state.profile].args;
	return ["--profile", state.profile, ...smaller, "--policy", policy,
		...state.op ? ["--op", `${state.op}%`] : [],
		...state.fill === "steady" ? [] : ["--fill", state.fill],
		...state.fill === "none" || state.whole ? [] : ["--fill_approx", `${state.x}%`],
		...wornArgs(state), ...state.seed === "1" ? [] : ["--seed", state.seed]];
}

// The field "more" has further command-line options, separated by blanks.
function argsOf(state, policy) {
	return [...deviceArgs(state, policy), ...streamArgs(state),
		...state.more.split(/\s+/).filter(Boolean)];
}

// Actions that are still in the future are not included.
function changesOf(state, side, requests) {
	const done = actionsOf(state.do, side).filter(({at}) => at <= Number(requests));
	return done.length ? ["--change", done.map((one) => `${one.at}:${changeOf(one)}`).join(",")] : [];
}

// One command for both devices; two if their requests or changes differ.
function commandsOf(state, other) {
	const [first, second] = [changesOf(state, "a", state.at), changesOf(state, "b", other)];
	const alike = first.join() === second.join() && state.at === other;
	if (!state.b || (state.b === state.a && alike))
		return [commandOf(state, state.a, state.at, first)];
	return alike ? [commandOf(state, `${state.a},${state.b}`, state.at, first)] :
		[commandOf(state, state.a, state.at, first), commandOf(state, state.b, other, second)];
}

function commandOf(state, policies, requests, changes) {
	const words = [...argsOf(state, policies), "--requests", requests, ...changes];
	return `approxftl sim ${words.map((word) => (/^[\w%.,/:=+-]+$/.test(word) ? word :
		`'${word.replaceAll("'", "'\\''")}'`)).join(" ")}`;
}

// Convert arguments of a report to a state, with unknown ones in "more". The state has the
// device in full size.
function stateOfArgs(args) {
	const zoned = args.some((word) => /^(--)?zoned(=|$)/.test(word));
	const state = {...STANDARD, w: "50", x: "0", size: "4KiB", fill: zoned ? "none" : "steady",
		whole: "1"};
	const rest = [];
	const counts = {"--requests": 100000, "--warmup": 0};
	const shares = {"--write-share": "w", "--approx-share": "x"};
	const texts = {"--profile": "profile", "--fill": "fill", "--size": "size", "--seed": "seed"};
	const mute = ["--json", "--record", "--timeline", "--page-map", "--requests", "--warmup"];
	const alone = ["--quiet", "-q", "--histogram", "--block-table", "--verify", "--cpu", "--progress"];
	const words = args.flatMap((word) => (/^--[^=]+=/.test(word) ?
		[word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)] : [word]));
	for (let i = 0; i < words.length; i++) {
		const word = words[i];
		if (alone.includes(word))
			continue;
		const value = words[++i];
		if (value === undefined)
			throw new Error(`the report's command has ${word} without a value`);
		if (word === "--policy")
			[state.a, state.b = ""] = value.split(",");
		else if (shares[word])
			state[shares[word]] = String(value.endsWith("%") ? parseFloat(value) : 100 * value);
		else if (texts[word])
			state[texts[word]] = value;
		else if (!mute.includes(word))
			rest.push(word, value);
		if (word in counts)
			counts[word] = Number(value);
	}
	state.at = String(counts["--requests"] + counts["--warmup"]);
	return {...state, more: rest.join(" ")};
}
