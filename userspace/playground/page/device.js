// SPDX-License-Identifier: GPL-2.0-only
//
// A device in an instance of the library; and a run, which can go back in time.

const TEXT_ROOM = 8192;

class Device {
	// args: arguments of "approxftl sim"; files: names and bytes
	constructor(module, args, files = []) {
		this.files = new Files(files);
		const instance = new WebAssembly.Instance(module, this.files.imports());
		this.library = instance.exports;
		this.files.attach(this.library.memory);
		this.library._initialize();
		if (args) {
			this.hand(args);
			this.call("playground_open", args.length);
			this.about = this.json("playground_describe_device");
		}
	}

	hand(texts) {
		const bytes = new TextEncoder().encode(texts.join("\0") + "\0");
		if (bytes.length > TEXT_ROOM)
			throw new Error("too many options");
		const pointer = this.library.playground_get_text_buffer();
		new Uint8Array(this.library.memory.buffer, pointer, bytes.length).set(bytes);
	}

	told() {
		const memory = new Uint8Array(this.library.memory.buffer,
			this.library.playground_get_text_buffer());
		return new TextDecoder().decode(memory.slice(0, memory.indexOf(0)));
	}

	call(name, ...values) {
		if (this.library[name](...values))
			throw new Error(this.told());
	}

	json(name, ...values) {
		this.call(name, ...values);
		return JSON.parse(this.told());
	}

	state() {
		return this.json("playground_describe_state");
	}

	// Get the digest of the native simulator after as many requests; changes nothing.
	digest() {
		const before = this.copy();
		this.call("playground_complete_all_requests");
		const digest = BigInt.asUintN(64, this.library.playground_digest());
		this.restore(before);
		return digest.toString(16).padStart(16, "0");
	}

	// Copy the complete state: the memory and the positions of open files.
	copy() {
		return {bytes: this.library.memory.buffer.slice(0), positions: this.files.positions()};
	}

	restore(copy) {
		const memory = new Uint8Array(this.library.memory.buffer);
		memory.set(new Uint8Array(copy.bytes));
		memory.fill(0, copy.bytes.byteLength);
		this.files.restore(copy.positions);
	}

	// Get the picture, one pixel per page.
	paint(view, layout, colours) {
		const memory = this.library.memory;
		new Uint32Array(memory.buffer, this.library.playground_palette(), colours.length).set(colours);
		const pointer = this.library.playground_paint_pages(view, layout.across, layout.columns, layout.width);
		return new Uint8ClampedArray(memory.buffer, pointer, 4 * layout.wide * layout.tall);
	}

	// Get the cells of a unit: description, one word per cell, and distributions of the states.
	cells(block, page, slot) {
		const told = this.json("playground_describe_cells", block, page, slot);
		const {buffer} = this.library.memory;
		return {...told, words: new Uint32Array(buffer, this.library.playground_get_cell_voltages(), told.bits),
			spreads: Array.from({length: told.states}, (_, state) =>
				new Float64Array(buffer, this.library.playground_get_state_distribution(state),
					told.bins))};
	}

	write(unit, bytes, approximate) {
		this.call("playground_write", unit, this.units(bytes), approximate ? 1 : 0);
	}

	// Write bytes, and return the bytes that a read returns for them.
	read(unit, bytes) {
		const room = this.units(bytes) * this.about.unit_bytes;
		const pointer = this.library.playground_get_data_buffer(room);
		new Uint8Array(this.library.memory.buffer, pointer, room).fill(0);
		new Uint8Array(this.library.memory.buffer, pointer, room).set(bytes);
		this.call("playground_read", unit, this.units(bytes));
		const again = this.library.playground_get_data_buffer(room);
		return new Uint8Array(this.library.memory.buffer, again, bytes.length).slice();
	}

	units(bytes) {
		return Math.ceil(bytes.length / this.about.unit_bytes);
	}
}

const FOREVER = Number.MAX_VALUE;
const MOST_REQUESTS = 4294967295;
const MOST_COPIES = 24;
const COPY_BYTES = 128 << 20;

// Format a change like "approxftl sim --change"; ages are in hours.
function changeOf({what, value}) {
	return `${what}=${value}${what === "age" ? "h" : ""}`;
}

// actions: [{at, what: "policy", "age" or a parameter, value}]; an action is applied when "at"
// requests were submitted
class Run {
	constructor(module, args, files, actions) {
		this.device = new Device(module, args, files);
		this.actions = actions;
		this.copies = [];
		this.every = 512;
		this.over = false;
		this.act(0);
		this.look();
		this.keep();
	}

	// The number of actions applied so far is saved with each copy.
	act(at) {
		this.done = this.done || 0;
		while (this.done < this.actions.length && this.actions[this.done].at === at) {
			this.device.hand([changeOf(this.actions[this.done++])]);
			this.device.call("playground_change_parameters");
			this.device.about = this.device.json("playground_describe_device");
		}
	}

	look() {
		this.state = this.device.state();
		this.at = this.state.requests;
		this.over = this.state.over;
	}

	last() {
		return this.copies[this.copies.length - 1];
	}

	keep() {
		if (this.copies.length && this.at < this.last().at + this.every)
			return;
		this.copies.push({at: this.at, ns: this.state.now_ns, done: this.done,
			about: this.device.about, memory: this.device.copy()});
		this.thin();
	}

	// If there are too many copies, drop every second one but keep the first.
	thin() {
		const most = Math.min(MOST_COPIES, COPY_BYTES / this.last().memory.bytes.byteLength);
		if (this.copies.length <= Math.max(most, 2))
			return;
		this.copies = this.copies.filter((_, i) => i % 2 === 0);
		this.every *= 2;
	}

	// Run forward in steps that end at actions and copies; stop after "patience" ms.
	forward(requests, ns, patience) {
		const end = performance.now() + patience;
		while (this.at < requests && this.state.now_ns < ns && !this.over) {
			const action = this.actions[this.done];
			const stop = Math.min(requests, this.last().at + this.every, this.at + this.stride(patience),
				action ? action.at : MOST_REQUESTS);
			this.device.call("playground_run_to_request_or_time", Math.max(stop, this.at), ns);
			this.look();
			if (action && this.at === action.at) {
				this.act(this.at);
				this.look();
			}
			this.keep();
			if (performance.now() > end)
				break;
		}
	}

	stride(patience) {
		return patience === Infinity ? this.every : 64;
	}

	// Go to a number of requests or to a time, whichever comes first.
	go(requests, ns = FOREVER, patience = Infinity) {
		if (requests < this.at || ns < this.state.now_ns)
			this.back(requests, ns);
		this.forward(requests, ns, patience);
		return this.over || this.at >= requests || this.state.now_ns >= ns;
	}

	back(requests, ns) {
		const fits = this.copies.filter((copy) => copy.at <= requests && copy.ns <= ns);
		const copy = fits.length ? fits[fits.length - 1] : this.copies[0];
		this.device.restore(copy.memory);
		this.device.about = copy.about;
		this.done = copy.done;
		this.look();
	}
}
