// SPDX-License-Identifier: GPL-2.0-only
// Interactive figures: Vega-Lite draws each one when it becomes visible, from its CSV data.
"use strict";
{
	const tip = document.getElementById("tip");
	const figures = [...document.querySelectorAll("figure:has(script.spec)")];
	const specOf = (figure, revive) =>
		JSON.parse(figure.querySelector("script.spec").textContent, revive);
	const state = { hidden: [], wanted: "" };
	const views = new Map(), rows = new Map(), reached = new Map(), own = new Map();

	// "@--c0 0.6" is the colour --c0 of the style with opacity 0.6.
	const colour = (key, value) => {
		if (typeof value !== "string" || !value.startsWith("@--"))
			return value;
		const [name, strength] = value.slice(1).split(" ");
		const plain = getComputedStyle(document.body).getPropertyValue(name).trim();
		const alpha = Math.round(255 * strength).toString(16).padStart(2, "0");
		return alpha === "ff" ? plain : plain + alpha;
	};

	const cells = (figure) => {
		const link = figure.querySelector("a.csv").href;
		const text = decodeURIComponent(link.slice(link.indexOf(",") + 1));
		const found = [[]];
		for (const [, quoted, plain, end] of
			text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
			found.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
			if (end === "\n")
				found.push([]);
		}
		found.pop();
		return found;
	};
	const value = (text) => text === "" ? null : isNaN(text) ? text : Number(text);

	const parsed = (figure, { melted, panels, texts = [] }) => {
		const [head, ...lines] = cells(figure);
		const named = panels ? lines.map((line) => ({ panel: line.pop() })) : [];
		if (!melted)
			return lines.map((line, at) =>
				Object.fromEntries(line.map((text, i) =>
					[`c${i}`, texts.includes(`c${i}`) ? text : value(text)]).concat(
					Object.entries(named[at] ?? {}))));
		return lines.flatMap(([c0, ...values], at) => values.map((text, rank) =>
			({ c0, series: head[rank + 1], rank, value: value(text), ...named[at] }))
			.filter((row) => row.value !== null));
	};

	const rowsOf = (figure, about) => {
		if (!rows.has(figure))
			rows.set(figure, parsed(figure, about));
		return rows.get(figure);
	};

	const config = () => JSON.parse(JSON.stringify({
		background: null, font: "system-ui, sans-serif", view: { stroke: null },
		axis: { labelColor: "@--ink 1", titleColor: "@--ink 1", gridColor: "@--faint 1",
			domainColor: "@--faint 1", tickColor: "@--faint 1", titleFontWeight: "normal" },
		legend: { labelColor: "@--ink 1", titleColor: "@--ink 1", labelLimit: 300,
			symbolStrokeColor: "@--ink 1" },
	}), colour);

	const say = (handler, event, item, said) => {
		// When a figure is removed, Vega calls this without a text and without an event.
		tip.hidden = said == null || said === "";
		if (tip.hidden)
			return;
		tip.textContent = Object.entries(said).filter(([, text]) => text !== "null" && text !== "")
			.map(([key, text]) => `${key}: ${text}`).join(", ");
		tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
		tip.style.top = `${event.clientY + 16}px`;
	};

	// Marks with a tooltip, in the order in which they are drawn
	const marksOf = (view) => {
		const found = [];
		const walk = (mark) => mark.items.forEach((item) => {
			if (mark.marktype === "group")
				item.items.forEach(walk);
			else if (item.tooltip && item._svg)
				found.push(item);
		});
		walk(view.scenegraph().root);
		return found;
	};

	const reach = (figure, step) => {
		const marks = marksOf(views.get(figure));
		if (!marks.length)
			return;
		figure.querySelector(".at")?.classList.remove("at");
		reached.set(figure, Math.max(0, Math.min(marks.length - 1, (reached.get(figure) ?? -1) + step)));
		const item = marks[reached.get(figure)], box = item._svg.getBoundingClientRect();
		item._svg.classList.add("at");
		say(null, { clientX: box.left + box.width / 2, clientY: box.top }, item, item.tooltip);
	};

	// Zoom a figure by a factor, and move it by a share of its visible part.
	const zoom = (view, size, on) => {
		const [name] = Object.keys(view.getState({ data: () => false,
			signals: (one) => /^zoom_/.test(one) && !/tuple|translate|zoom_zoom/.test(one) }).signals);
		if (!name)
			return;
		const scale = view.scale("x"), [a, b] = scale.range(), room = (b - a) * (1 - size) / 2;
		const ends = [a + room, b - room].map((at) => +scale.invert(at + (b - a) * on));
		view.signal(name, size ? ends : null).runAsync();
	};

	const keys = {
		ArrowRight: (figure) => reach(figure, 1), ArrowLeft: (figure) => reach(figure, -1),
		Home: (figure) => reach(figure, -Infinity), End: (figure) => reach(figure, Infinity),
		PageDown: (figure) => reach(figure, 10), PageUp: (figure) => reach(figure, -10),
		"+": (figure) => zoom(views.get(figure), 1 / 2, 0),
		"-": (figure) => zoom(views.get(figure), 2, 0),
		"<": (figure) => zoom(views.get(figure), 1, -1 / 4),
		">": (figure) => zoom(views.get(figure), 1, 1 / 4),
		0: (figure) => zoom(views.get(figure), 0, 0),
		Escape: () => { tip.hidden = true; },
	};

	const takeKeys = (place, figure) => {
		place.tabIndex = 0;
		place.setAttribute("role", "group");
		place.setAttribute("aria-label", `${figure.querySelector("h3").textContent}: left and ` +
			"right say values; plus and minus zoom, < and > move, 0 shows all");
		place.addEventListener("keydown", (event) => {
			if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key])
				return;
			event.preventDefault();
			keys[event.key](figure);
		});
		place.addEventListener("blur", () => { tip.hidden = true; });
	};

	// Hide a figure without any visible series. A search text in its title matches all series.
	const tell = (figure) => {
		const about = specOf(figure).usermeta, { words, of } = about;
		const title = figure.querySelector("h3").textContent.toLowerCase();
		const wanted = title.includes(state.wanted) ? "" : state.wanted;
		const hidden = state.hidden.concat(own.get(figure) ?? []);
		// Series hidden only in this figure do not hide it: its own boxes must remain usable.
		figure.hidden = state.hidden.includes(of) || !rowsOf(figure, about).some((row) =>
			words.every((word) => !state.hidden.includes(row[word])) &&
			words.map((word) => row[word]).join(" ").toLowerCase().includes(wanted));
		return figure.hidden ? null :
			views.get(figure)?.signal("hidden", hidden).signal("wanted", wanted).runAsync();
	};
	const tellAll = () => figures.forEach(tell);

	// Offer the figure in its present state as an SVG file.
	const offerSvg = (figure) => {
		const button = document.createElement("button");
		button.type = "button";
		button.className = "svg";
		button.textContent = `${figure.id}.svg`;
		button.addEventListener("click", async () => {
			const link = document.createElement("a");
			link.download = `${figure.id}.svg`;
			link.href = "data:image/svg+xml;charset=utf-8," +
				encodeURIComponent(await views.get(figure).toSVG());
			link.click();
		});
		figure.querySelector("a.csv").after(" ", button);
	};

	// Series that are no policies have boxes in their own figure.
	const offerSeries = (figure) => {
		const { series = [] } = specOf(figure).usermeta;
		if (!series.length)
			return;
		const form = boxes(series, (hidden) => {
			own.set(figure, hidden);
			tell(figure);
		});
		form.className = "series";
		figure.querySelector("h3").after(form);
	};

	const unpack = async () => {
		const packed = atob(document.getElementById("vega").textContent);
		const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
		const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
		const code = document.createElement("script");
		code.textContent = await new Response(stream).text();
		document.head.append(code);
	};
	let unpacked = null;

	const draw = async (figure) => {
		await (unpacked ??= unpack());
		let place = figure.querySelector(".live");
		if (!place) {
			place = document.createElement("div");
			place.className = "live";
			figure.querySelector("h3").after(place);
			offerSeries(figure);
			offerSvg(figure);
			takeKeys(place, figure);
		}
		const spec = specOf(figure, colour);
		spec.data = { values: rowsOf(figure, spec.usermeta) };
		if (spec.facet) {
			spec.columns = place.clientWidth < 500 ? 1 : spec.columns;
			// Leave space for the axis labels of each panel.
			spec.spec.width = place.clientWidth / spec.columns - (spec.columns > 1 ? 60 : 90);
		}
		views.get(figure)?.finalize();
		views.delete(figure);
		const { view } = await vegaEmbed(place, spec, { mode: "vega-lite", renderer: "svg",
			actions: false, ast: true, defaultStyle: false, config: config(), tooltip: say });
		views.set(figure, view);
		await tell(figure);
		figure.classList.add("alive");
	};

	// Serialise drawings of a figure, because colours may change while it is drawn.
	const drawings = new Map();
	const enliven = (figure) => drawings.set(figure,
		(drawings.get(figure) ?? Promise.resolve()).then(() => draw(figure)));

	// Make a check box for each name that hides or shows it.
	const boxes = (names, hide) => {
		const form = document.createElement("form");
		const hidden = new Set();
		for (const name of names) {
			const box = document.createElement("input"), label = document.createElement("label");
			box.type = "checkbox";
			box.checked = true;
			box.addEventListener("change", () => {
				hidden[box.checked ? "delete" : "add"](name);
				hide([...hidden]);
			});
			label.append(box, ` ${name}`);
			form.append(label, " ");
		}
		form.addEventListener("submit", (event) => event.preventDefault());
		return form;
	};

	const controls = () => {
		const order = Object.assign({}, ...figures.map((figure) => specOf(figure).usermeta.policies));
		const names = Object.keys(order).sort((a, b) => order[a] - order[b]);
		const form = boxes(names, (hidden) => {
			state.hidden = hidden;
			tellAll();
		});
		form.id = "controls";
		const filter = document.createElement("input"), label = document.createElement("label");
		filter.type = "search";
		filter.addEventListener("input", () => {
			state.wanted = filter.value.toLowerCase();
			tellAll();
		});
		label.append("Only what has ", filter);
		form.append(label);
		(document.querySelector(".many") ?? figures[0]).before(form);
	};

	if (figures.length) {
		controls();
		const watcher = new IntersectionObserver((entries) => {
			for (const { isIntersecting, target } of entries) {
				if (isIntersecting) {
					watcher.unobserve(target);
					enliven(target);
				}
			}
		}, { rootMargin: "200px" });
		figures.forEach((figure) => watcher.observe(figure));
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
			[...drawings.keys()].forEach(enliven));
	}
}
