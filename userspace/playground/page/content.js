// SPDX-License-Identifier: GPL-2.0-only
//
// A picture, a sound and numbers, stored as approximate and as precise data on separate devices.

const SIDE = 160;
const RATE = 8000;
const SECONDS = 2;
const NUMBERS = 2048;

// One die with the error rates of the papers; no refresh renews the data.
const CONTENT_ARGS = ["--channels", "1", "--chips", "1", "--bits", "2", "--op", "30",
	"--cell_model", "voltage", "--refresh", "0"];

function testPicture() {
	const canvas = document.createElement("canvas");
	canvas.width = canvas.height = SIDE;
	const context = canvas.getContext("2d");
	const sky = context.createLinearGradient(0, 0, 0, SIDE);
	sky.addColorStop(0, "#2b5fa8");
	sky.addColorStop(1, "#f6d7a7");
	context.fillStyle = sky;
	context.fillRect(0, 0, SIDE, SIDE);
	context.fillStyle = "#f0e442";
	context.beginPath();
	context.arc(118, 44, 20, 0, 7);
	context.fill();
	context.fillStyle = "#3f6b4f";
	context.beginPath();
	context.moveTo(0, 130);
	for (let x = 0; x <= SIDE; x += 4)
		context.lineTo(x, 112 - 22 * Math.sin(x / 26) - 8 * Math.sin(x / 9));
	context.lineTo(SIDE, SIDE);
	context.lineTo(0, SIDE);
	context.fill();
	context.fillStyle = "#7a3b1d";
	context.fillRect(40, 104, 34, 30);
	context.fillStyle = "#d55e00";
	context.beginPath();
	context.moveTo(34, 106);
	context.lineTo(57, 84);
	context.lineTo(80, 106);
	context.fill();
	return context.getImageData(0, 0, SIDE, SIDE).data;
}

function withoutAlpha(pixels) {
	return Uint8Array.from({length: pixels.length / 4 * 3}, (_, i) =>
		pixels[Math.floor(i / 3) * 4 + i % 3]);
}

// A tune of eight notes, with 8-bit samples.
function testSound() {
	const notes = [262, 330, 392, 523, 392, 330, 294, 262];
	return Uint8Array.from({length: RATE * SECONDS}, (_, i) => {
		const note = notes[Math.floor(i / (RATE * SECONDS) * notes.length)];
		const inside = i % (RATE * SECONDS / notes.length) / (RATE * SECONDS / notes.length);
		return 128 + Math.round(90 * (1 - inside) * Math.sin(2 * Math.PI * note * i / RATE));
	});
}

// A series like temperatures of a year: 32-bit floating-point numbers.
function testNumbers() {
	return Float32Array.from({length: NUMBERS}, (_, i) =>
		Math.round(100 * (12 + 9 * Math.sin(i / 50) + 3 * Math.sin(i * 1.7))) / 100);
}

function flippedBits(one, other) {
	let flipped = 0;
	for (let i = 0; i < one.length; i++)
		for (let bits = one[i] ^ other[i]; bits; bits &= bits - 1)
			flipped++;
	return flipped;
}

// Peak signal-to-noise ratio of raw bytes; Infinity if nothing has changed.
function psnr(one, other) {
	let error = 0;
	for (let i = 0; i < one.length; i++)
		error += (one[i] - other[i]) ** 2;
	return 10 * Math.log10(255 * 255 / (error / one.length));
}

// Write bytes to a new device in whole units, age it, and return its content and its counts.
function throughDevice(module, bytes, {approximate, policy, pe, months, seed}) {
	const device = new Device(module, [...CONTENT_ARGS, "--policy", policy, "--cycles", String(pe),
		"--seed", String(seed)]);
	const whole = new Uint8Array(device.units(bytes) * device.about.unit_bytes);
	whole.set(bytes);
	device.write(0, whole, approximate);
	device.call("playground_age", Math.round(months * HOURS_OF_MONTH));
	const read = device.read(0, whole);
	const {counters} = device.state();
	return {bytes: read.slice(0, bytes.length), flipped: flippedBits(whole, read),
		bits: 8 * whole.length, counted: counters.read_flipped_bits, lost: counters.read_lost_units};
}

function showPicture(canvas, bytes) {
	canvas.width = canvas.height = SIDE;
	const pixels = new Uint8ClampedArray(SIDE * SIDE * 4).fill(255);
	bytes.forEach((value, i) => { pixels[Math.floor(i / 3) * 4 + i % 3] = value; });
	canvas.getContext("2d").putImageData(new ImageData(pixels, SIDE, SIDE), 0, 0);
}

function showSound(canvas, bytes) {
	canvas.width = 320;
	canvas.height = 80;
	const context = canvas.getContext("2d");
	context.fillStyle = PRECISE;
	bytes.forEach((value, i) =>
		context.fillRect(i / bytes.length * canvas.width, 80 - value / 3.2, 1, 1));
}

function playSound(bytes) {
	const context = new AudioContext({sampleRate: RATE});
	const buffer = context.createBuffer(1, bytes.length, RATE);
	buffer.getChannelData(0).set(Float32Array.from(bytes, (value) => (value - 128) / 128));
	const source = context.createBufferSource();
	source.buffer = buffer;
	source.connect(context.destination);
	source.onended = () => context.close();
	source.start();
}

// Load any picture, cropped to a square.
async function pictureOf(file) {
	const bitmap = await createImageBitmap(file);
	const side = Math.min(bitmap.width, bitmap.height);
	const canvas = document.createElement("canvas");
	canvas.width = canvas.height = SIDE;
	const context = canvas.getContext("2d");
	context.fillStyle = "#ffffff";
	context.fillRect(0, 0, SIDE, SIDE);
	context.drawImage(bitmap, (bitmap.width - side) / 2, (bitmap.height - side) / 2, side, side,
		0, 0, SIDE, SIDE);
	return withoutAlpha(context.getImageData(0, 0, SIDE, SIDE).data);
}

// Return the numbers with the largest errors.
function worstNumbers(before, after, most) {
	return [...before].map((value, i) => ({i, value, now: after[i]}))
		.filter(({value, now}) => !Object.is(value, now))
		.sort((one, other) => far(other) - far(one)).slice(0, most);
}

function far({value, now}) {
	return Number.isFinite(now) ? Math.abs(now - value) : Infinity;
}
