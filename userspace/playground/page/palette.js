// SPDX-License-Identifier: GPL-2.0-only
//
// Colours that are distinguishable with colour blindness: those of Okabe and Ito, further ones with
// the greatest distance from these and each other for any vision, and dark-to-light scales.

const PRECISE = "#0072b2";
const APPROXIMATE = "#e69f00";
const NAMED = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#9933ff",
	"#663300", "#00ff99", "#003399", "#990066", "#ff0066", "#cc66ff"];
const STEPS = ["#00204d", "#2c4070", "#575d6d", "#7d7c78", "#a69d75", "#d3c064", "#ffea46"];
const STATES = [NAMED[0], NAMED[4], NAMED[2], NAMED[6]];
const CROSSED = "#d55e00";
const BAD = "#000000";

function channels(colour) {
	return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

function mixed(one, other, share) {
	const [a, b] = [channels(one), channels(other)];
	return `#${a.map((value, i) => Math.round(value + (b[i] - value) * share).toString(16)
		.padStart(2, "0")).join("")}`;
}

// Map a position from 0 to 1 to a colour.
function step(place) {
	const at = Math.min(Math.max(place, 0), 1) * (STEPS.length - 1);
	const low = Math.min(Math.floor(at), STEPS.length - 2);
	return mixed(STEPS[low], STEPS[low + 1], at - low);
}

function word(colour) {
	const [red, green, blue] = channels(colour);
	return (0xff000000 | blue << 16 | green << 8 | red) >>> 0;
}

// Palette of each view, with the entries of paint.c; the background is that of an erased page.
const COLOURS = {
	use: (entry, ground) => mixed(ground, entry <= 3 ? PRECISE : APPROXIMATE,
		[0.25, 0.6, 1][(entry - 1) % 3]),
	mode: (entry, ground) => mixed(ground, NAMED[(entry - 1 >> 2) % NAMED.length],
		(entry - 1 & 1) ? 0.3 : 1),
	valid: (entry) => step((entry - 1) / 15),
	age: (entry) => step((entry - 1) / 16),
	errors: (entry) => step((entry - 8) / 26),
	wear: (entry) => step((entry - 1) / 200),
	kind: (entry, ground) => mixed(ground, NAMED[(entry - 1 >> 1) % NAMED.length],
		(entry - 1 & 1) ? 1 : 0.7),
};

function coloursOf(view, ground) {
	const colours = new Uint32Array(256);
	for (let entry = 0; entry < 256; entry++)
		colours[entry] = word(entry === 0 ? ground : entry === 255 ? BAD : COLOURS[view](entry, ground));
	return colours;
}

// Legend: [colour, description].
function legendOf(view, about, ground) {
	const of = (entry) => COLOURS[view](entry, ground);
	const steps = (words) => [[STEPS[0], words[0]], [STEPS[3], words[1]], [STEPS[6], words[2]]];
	return {
		use: () => [[of(3), "precise"], [of(1), "precise, garbage"], [of(6), "approximate"],
			[of(4), "approximate, garbage"]],
		mode: () => about.modes.map((name, i) => [of(1 + 4 * i), name]),
		valid: () => steps(["none", "half", "all"]),
		age: () => steps(["new", "days", "years"]),
		errors: () => steps(["one in 10⁹", "one in 10⁶", "one in 100"]),
		wear: () => steps(["none", "half", "the most erased"]),
		kind: () => about.kinds.map((name, i) => [of(1 + 2 * i), name]),
	}[view]();
}
