// SPDX-License-Identifier: GPL-2.0-only
//
// WASI system calls for the library: a few files in memory, and output of error messages.

const WASI = {badDescriptor: 8, exists: 20, missing: 44, root: 3, create: 1, truncate: 8};

class Files {
	constructor(files) {
		this.files = new Map(files);
		this.open = new Map();
		this.said = "";
	}

	// File positions are part of the saved state, like the memory.
	positions() {
		return [...this.open].map(([number, file]) => [number, {...file}]);
	}

	restore(positions) {
		this.open = new Map(positions.map(([number, file]) => [number, {...file}]));
	}

	attach(memory) {
		this.memory = memory;
	}

	get view() {
		return new DataView(this.memory.buffer);
	}

	text(pointer, length) {
		return new TextDecoder().decode(new Uint8Array(this.memory.buffer, pointer, length).slice());
	}

	vectors(pointer, count) {
		const view = this.view;
		return Array.from({length: count}, (_, i) => new Uint8Array(this.memory.buffer,
			view.getUint32(pointer + 8 * i, true), view.getUint32(pointer + 8 * i + 4, true)));
	}

	read(file, into) {
		const bytes = this.files.get(file.name).subarray(file.at, file.at + into.length);
		into.set(bytes);
		file.at += bytes.length;
		return bytes.length;
	}

	// Double the buffer of a file that grows, because a trace is written in small pieces.
	write(file, bytes) {
		const old = this.files.get(file.name);
		const end = file.at + bytes.length;
		const room = end <= old.buffer.byteLength ? old.buffer : new ArrayBuffer(2 * end);
		const all = new Uint8Array(room, 0, Math.max(end, old.length));
		if (room !== old.buffer)
			all.set(old);
		all.set(bytes, file.at);
		this.files.set(file.name, all);
		file.at = end;
	}

	imports() {
		const done = 0;
		return {wasi_snapshot_preview1: {
			fd_close: (number) => (this.open.delete(number) ? done : WASI.badDescriptor),
			fd_fdstat_get: (number, pointer) => {
				const kind = number === WASI.root ? 3 : this.open.has(number) ? 4 : 2;
				const view = this.view;
				view.setUint8(pointer, kind);
				view.setUint16(pointer + 2, 0, true);
				view.setBigUint64(pointer + 8, ~0n, true);
				view.setBigUint64(pointer + 16, ~0n, true);
				return done;
			},
			fd_fdstat_set_flags: () => done,
			fd_prestat_get: (number, pointer) => {
				if (number !== WASI.root)
					return WASI.badDescriptor;
				this.view.setUint32(pointer, 0, true);
				this.view.setUint32(pointer + 4, 1, true);
				return done;
			},
			fd_prestat_dir_name: (number, pointer) => {
				this.view.setUint8(pointer, "/".charCodeAt(0));
				return done;
			},
			fd_read: (number, pointer, count, result) => {
				const file = this.open.get(number);
				let got = 0;
				for (const into of file ? this.vectors(pointer, count) : [])
					got += this.read(file, into);
				this.view.setUint32(result, got, true);
				return done;
			},
			fd_readdir: () => WASI.badDescriptor,
			fd_seek: (number, offset, whence, result) => {
				const file = this.open.get(number);
				if (!file)
					return WASI.badDescriptor;
				const base = [0, file.at, this.files.get(file.name).length][whence];
				file.at = base + Number(offset);
				this.view.setBigUint64(result, BigInt(file.at), true);
				return done;
			},
			fd_write: (number, pointer, count, result) => {
				const file = this.open.get(number);
				let put = 0;
				for (const bytes of this.vectors(pointer, count)) {
					if (file)
						this.write(file, bytes);
					else
						this.said += new TextDecoder().decode(bytes.slice());
					put += bytes.length;
				}
				this.view.setUint32(result, put, true);
				return done;
			},
			path_filestat_get: () => WASI.missing,
			path_open: (folder, look, path, length, how, rights, later, flags, result) => {
				const name = this.text(path, length);
				if (how & WASI.create && (how & WASI.truncate || !this.files.has(name)))
					this.files.set(name, new Uint8Array(0));
				if (!this.files.has(name))
					return WASI.missing;
				let number = WASI.root + 1;
				while (this.open.has(number))
					number++;
				this.open.set(number, {name, at: 0});
				this.view.setUint32(result, number, true);
				return done;
			},
			proc_exit: (code) => {
				throw new Error(this.said.trim() || `the simulator ended with ${code}`);
			},
		}};
	}
}
