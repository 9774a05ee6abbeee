// SPDX-License-Identifier: BSD-2-Clause
// Which addresses held live blocks, and when: a row for each part of the address space that was
// ever used, lowest at the bottom, a column for each time step. The darker, the larger the live
// share.

const MAP_TOP = 14, MAP_LEAST = 120, MAP_MOST = 320;
let grid = null; // live bytes by row and column

const mapRows = function () { return heap.map.rows.length; };
const mapHigh = function () { return Math.max(MAP_LEAST, Math.min(MAP_MOST, mapRows() * 6)); };
const partBytes = function () { return Math.pow(2, heap.map.shift); };

// Rows are stored as changes.
function readGrid() {
	grid = heap.map.rows.map(function (row) {
		const held = new Float64Array(heap.map.columns);
		for (let i = 0; i < row[2].length; i += 2)
			held.fill(row[2][i + 1], row[2][i]);
		return held;
	});
}

// One pixel for each row and column, scaled when drawn.
function mapPicture(look) {
	const canvas = document.createElement('canvas'), context = canvas.getContext('2d'), rows = mapRows();
	canvas.width = heap.map.columns;
	canvas.height = rows;
	context.fillStyle = look.bar;
	grid.forEach(function (held, row) {
		held.forEach(function (bytes, column) {
			if (bytes <= 0)
				return;
			context.globalAlpha = 0.12 + 0.88 * Math.min(1, bytes / partBytes());
			context.fillRect(column, rows - 1 - row, 1, 1);
		});
	});
	return canvas;
}

const addressText = function (row) { return '0x' + heap.map.rows[row][1].toString(16); };

// Lines at gaps between addresses and between processes.
function drawGaps(context, look, high) {
	let last = Infinity;
	context.textAlign = 'right';
	context.textBaseline = 'bottom';
	for (let row = 0; row < mapRows(); row++) {
		const here = heap.map.rows[row], below = heap.map.rows[row - 1], y = MAP_TOP + high - row / mapRows() * high;
		if (below && below[0] === here[0] && below[1] + partBytes() === here[1])
			continue;
		context.fillStyle = look.edge;
		context.globalAlpha = 0.5;
		context.fillRect(LEFT, Math.round(y), chartRoom(), 1);
		context.globalAlpha = 1;
		if (last - y < 11)
			continue;
		last = y;
		context.fillStyle = look.soft;
		context.fillText(here[1].toString(16), LEFT - 3, y + 1);
	}
}

function drawMap() {
	if (!grid)
		return;
	const look = chartColors(), high = mapHigh(), context = fitCanvas(byId('map'), byId('chart-host').clientWidth, MAP_TOP + high + AXIS);
	const wide = Math.min(1, heap.map.columns * heap.map.step_ns / heap.whole_ns) * chartRoom();
	const shown = Math.min(heap.map.columns, heap.whole_ns / heap.map.step_ns);
	context.font = '9px DejaVu Sans, Helvetica, Arial, sans-serif';
	drawTimes(context, look, MAP_TOP, MAP_TOP + high + AXIS);
	context.imageSmoothingEnabled = false;
	context.drawImage(mapPicture(look), 0, 0, shown, mapRows(), LEFT, MAP_TOP, wide, high);
	drawGaps(context, look, high);
}

function mapWords(row, column) {
	const bytes = grid[row][column], here = heap.map.rows[row];
	return [addressText(row) + ' \u2013 0x' + (here[1] + partBytes()).toString(16) + (heap.map.processes > 1 ? ', process ' + here[0] : ''),
		'at ' + timeText((column + 1) * heap.map.step_ns),
		bytesText(bytes) + ' live, ' + percent(bytes, partBytes()) + ' of ' + bytesText(partBytes())];
}

function makeMap() {
	const canvas = byId('map');
	byId('map-part').hidden = !heap.map || mapRows() === 0;
	if (byId('map-part').hidden)
		return;
	readGrid();
	byId('map-about').textContent = 'Each row is ' + bytesText(partBytes()) + ' of address space that held blocks, with the lowest address at the bottom; lines mark gaps. ' +
		'The darker a cell, the more of it was live at the end of a step of ' + timeText(heap.map.step_ns) + '.';
	canvas.addEventListener('pointermove', function (event) {
		const rect = canvas.getBoundingClientRect();
		const column = Math.floor((event.clientX - rect.left - LEFT) / chartRoom() * heap.whole_ns / heap.map.step_ns);
		const row = Math.floor((MAP_TOP + mapHigh() - (event.clientY - rect.top)) / mapHigh() * mapRows());
		const isInside = column >= 0 && column < heap.map.columns && row >= 0 && row < mapRows();
		tellWords(isInside ? mapWords(row, column) : []);
		if (isInside)
			moveTip(event.clientX, event.clientY);
	});
	canvas.addEventListener('pointerleave', function () { tellWords([]); });
}
