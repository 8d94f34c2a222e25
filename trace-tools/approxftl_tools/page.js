// SPDX-License-Identifier: GPL-2.0-only
// Tooltips; everything else is in the page without this.
"use strict";
{
	const tip = document.createElement("div");
	tip.id = "tip";
	tip.hidden = true;
	document.body.append(tip);

	// The figure's own numbers: a line for each cell, after the head.
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

	const textAt = (event) => {
		const grid = event.target.closest("svg .grid");
		if (grid)
			return cellText(grid, event);
		const mark = event.target.closest("svg rect, svg path, svg circle");
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
