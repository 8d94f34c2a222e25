// SPDX-License-Identifier: GPL-2.0-only
// Tooltips. The page is complete without this script otherwise.
"use strict";
{
	const tip = document.createElement("div");
	tip.id = "tip";
	tip.hidden = true;
	tip.role = "status";
	document.body.append(tip);

	// The figure's CSV data: one line per cell, after the header
	const lines = new Map();
	const cellsOf = (figure) => {
		if (!lines.has(figure)) {
			const link = figure.querySelector("a.csv").href;
			const text = decodeURIComponent(link.slice(link.indexOf(",") + 1));
			lines.set(figure, text.trimEnd().split("\n"));
		}
		return lines.get(figure);
	};

	const cellText = (grid, event) => {
		const box = grid.getBoundingClientRect();
		const rows = Number(grid.dataset.rows), columns = Number(grid.dataset.columns);
		const row = Math.floor((event.clientY - box.top) / box.height * rows);
		const column = Math.floor((event.clientX - box.left) / box.width * columns);
		const text = cellsOf(grid.closest("figure"));
		const inside = row >= 0 && row < rows && column >= 0 && column < columns;
		return inside ? `${text[0]}: ${text[1 + row * columns + column]}` : "";
	};

	const spanText = (area, event) => {
		const box = area.getBoundingClientRect();
		const lanes = area.dataset.lanes.split("|");
		const lane = lanes[Math.floor((event.clientY - box.top) / box.height * lanes.length)];
		const at = (event.clientX - box.left) / box.width * area.dataset.end;
		const end = 0.5 / box.width * area.dataset.end;
		return cellsOf(area.closest("figure")).slice(1).map((line) => line.split(","))
			.filter((cells) => cells[0] === lane && cells[1] - end <= at && at <= Number(cells[2]) + end)
			.map((cells) => cells.slice(4).join(",").replaceAll('"', "") +
				`, ${Number((cells[2] - cells[1]).toPrecision(4))} from ${cells[1]}`).join("; ");
	};

	const textAt = (event) => {
		const area = event.target.closest("svg .lanes");
		if (area)
			return spanText(area, event);
		const grid = event.target.closest("svg .grid");
		if (grid)
			return cellText(grid, event);
		const mark = event.target.closest("svg rect, svg path, svg circle, svg use");
		return mark?.querySelector("title")?.textContent ?? "";
	};

	document.addEventListener("pointermove", (event) => {
		if (event.target instanceof Element && event.target.closest(".live"))
			return;
		const text = event.target instanceof Element ? textAt(event) : "";
		tip.hidden = !text;
		tip.textContent = text;
		tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
		tip.style.top = `${event.clientY + 16}px`;
	});
}
