// SPDX-License-Identifier: BSD-2-Clause
// The memory of the processes as reported by the kernel: stacked parts where it was split, the
// total as a line elsewhere. Between readings nothing is known: a part is drawn unchanged until the
// next one.

const SPLIT = 150, SPARE = 46, MEMORY_TOP = 10;
const MEMORY_HIGH = MEMORY_TOP + SPLIT + GAP + SPARE + AXIS;
const PARTS = [['tracked_bytes', 'live blocks'], ['untracked_bytes', 'untracked'], ['stack_bytes', 'stacks'], ['file_bytes', 'files'], ['wick_bytes', 'wick itself']];
let reading = -1; // the one under the pointer

function partColors() {
	return isDark() ? ['#d9824a', '#a3b04f', '#4fa38f', '#5b86c9', '#6c6f7d'] : ['#e8955a', '#b9c465', '#62b8a3', '#7aa3e0', '#b4b7c2'];
}

const splits = function () { return heap.memory.filter(function (each) { return each.split; }); };

function mostMemory() {
	return Math.max(1, largest(heap.memory.map(function (each) { return each.resident_bytes; })),
		largest(splits().map(function (each) { return each.split.heap_size_bytes; }))) * 1.04;
}

// The horizontal extent of a reading, up to the next one.
function span(list, i) {
	const left = timeAt(list[i].time_ns), right = i + 1 < list.length ? timeAt(list[i + 1].time_ns) : LEFT + chartRoom();
	return [Math.min(left, LEFT + chartRoom()), Math.min(right, LEFT + chartRoom())];
}

function drawParts(context, most) {
	const colors = partColors(), list = splits();
	list.forEach(function (each, i) {
		const ends = span(list, i).map(Math.round);
		let base = MEMORY_TOP + SPLIT;
		PARTS.forEach(function (part, k) {
			const high = each.split[part[0]] / most * SPLIT;
			context.fillStyle = colors[k];
			context.fillRect(ends[0], base - high, Math.max(1, ends[1] - ends[0]), high);
			base -= high;
		});
	});
}

function stairs(list, top, high, of) {
	const points = [];
	list.forEach(function (each, i) {
		const ends = span(list, i), y = top + high - of(each) * high;
		points.push([ends[0], y], [ends[1], y]);
	});
	return points;
}

function drawSpare(context, look) {
	const top = MEMORY_TOP + SPLIT + GAP;
	context.fillStyle = look.line;
	context.fillRect(LEFT, top + SPARE, chartRoom(), 1);
	context.fillRect(LEFT, top, chartRoom(), 1);
	context.fillStyle = look.soft;
	context.textAlign = 'right';
	context.textBaseline = 'middle';
	context.fillText('100 %', LEFT - 6, top + 4);
	context.fillText('0 %', LEFT - 6, top + SPARE - 4);
	drawLine(context, look.bar, stairs(splits(), top, SPARE, function (each) { return each.split.fragmentation; }), 1.5);
}

function drawTimes(context, look, top, bottom) {
	const step = roundStep(heap.whole_ns / Math.max(1, Math.floor(chartRoom() / 90)));
	context.textAlign = 'left';
	context.textBaseline = 'alphabetic';
	for (let ns = 0; ns < heap.whole_ns * 0.97; ns += step) {
		context.fillStyle = look.line;
		context.fillRect(Math.round(timeAt(ns)), top, 1, bottom - top);
		context.fillStyle = look.soft;
		context.fillText(timeText(ns).replace(/\.0+ /, ' '), Math.round(timeAt(ns)) + 3, bottom - 6);
	}
}

function drawMemory() {
	if (heap.memory.length === 0)
		return;
	const look = chartColors(), most = mostMemory(), context = fitCanvas(byId('memory'), byId('chart-host').clientWidth, MEMORY_HIGH);
	context.font = '10px DejaVu Sans, Helvetica, Arial, sans-serif';
	drawTimes(context, look, MEMORY_TOP, MEMORY_HIGH);
	drawScale(context, look, MEMORY_TOP, SPLIT, most, shortBytes);
	drawParts(context, most);
	drawLine(context, look.text, stairs(heap.memory, MEMORY_TOP, SPLIT, function (each) { return each.resident_bytes / most; }), 1.5);
	context.setLineDash([4, 3]);
	drawLine(context, look.edge, stairs(splits(), MEMORY_TOP, SPLIT, function (each) { return each.split.heap_size_bytes / most; }), 1);
	context.setLineDash([]);
	drawSpare(context, look);
	if (reading >= 0) {
		context.fillStyle = look.edge;
		context.fillRect(Math.round(timeAt(heap.memory[reading].time_ns)), MEMORY_TOP, 1, MEMORY_HIGH - MEMORY_TOP - AXIS);
	}
	showMemoryLegend(look);
}

function showMemoryLegend(look) {
	const legend = byId('memory-legend'), colors = partColors();
	legend.textContent = '';
	PARTS.forEach(function (part, i) { putSwatch(legend, colors[i], 'area', part[1], 1); });
	putSwatch(legend, look.text, 'line', 'resident, read every 100 ms', 1);
	putSwatch(legend, look.edge, 'line', 'address space held by the allocator', 1);
	putSwatch(legend, look.bar, 'line', 'below: fragmentation', 1);
}

// The last wanted reading before a time.
function lastBefore(ns, isWanted) {
	for (let i = heap.memory.length - 1; i >= 0; i--)
		if (heap.memory[i].time_ns <= ns && isWanted(heap.memory[i]))
			return i;
	return -1;
}

function memoryWords(at) {
	const now = heap.memory[at], split = heap.memory[lastBefore(now.time_ns, function (each) { return each.split; })];
	const words = [timeText(now.time_ns) + ': ' + bytesText(now.resident_bytes) + ' resident'];
	if (!split)
		return words;
	if (split !== now)
		words.push('breakdown from ' + timeText(split.time_ns) + ':');
	PARTS.forEach(function (part) { words.push(part[1] + ' ' + bytesText(split.split[part[0]])); });
	words.push('the allocator holds ' + bytesText(split.split.heap_bytes) + ' (' + bytesText(split.split.heap_size_bytes) + ' of address space), ' +
		percent(split.split.fragmentation, 1) + ' of it not in live blocks');
	return words;
}

function pointAtMemory(at, x, y) {
	reading = at;
	drawMemory();
	tellWords(at < 0 ? [] : memoryWords(at));
	if (at >= 0)
		moveTip(x, y);
}

function goToReading(to) {
	const canvas = byId('memory'), at = Math.max(0, Math.min(heap.memory.length - 1, to)), rect = canvas.getBoundingClientRect();
	pointAtMemory(at, rect.left + timeAt(heap.memory[at].time_ns), rect.top + MEMORY_TOP + SPLIT / 2);
	canvas.setAttribute('aria-valuenow', at);
	canvas.setAttribute('aria-valuetext', memoryWords(at).join(', '));
}

function makeMemory() {
	const canvas = byId('memory');
	byId('memory-part').hidden = heap.memory.length === 0;
	if (heap.memory.length === 0)
		return;
	canvas.setAttribute('aria-valuemin', 0);
	canvas.setAttribute('aria-valuemax', heap.memory.length - 1);
	canvas.setAttribute('aria-valuenow', 0);
	canvas.setAttribute('aria-valuetext', memoryWords(0).join(', '));
	canvas.addEventListener('pointermove', function (event) {
		const share = (event.clientX - canvas.getBoundingClientRect().left - LEFT) / chartRoom();
		pointAtMemory(share >= 0 && share <= 1 ? lastBefore(share * heap.whole_ns, function () { return true; }) : -1, event.clientX, event.clientY);
	});
	canvas.addEventListener('pointerleave', function () { pointAtMemory(-1); });
	canvas.addEventListener('blur', function () { pointAtMemory(-1); });
	canvas.addEventListener('keydown', function (event) {
		const to = { ArrowLeft: reading - 1, ArrowRight: reading + 1, Home: 0, End: heap.memory.length - 1 }[event.key];
		if (to === undefined)
			return;
		event.preventDefault();
		goToReading(to);
	});
}
