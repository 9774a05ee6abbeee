// SPDX-License-Identifier: BSD-2-Clause
// Live memory over time, and below it the rates of allocation and freeing.

const LEFT = 74, RIGHT = 12, TOP = 42, LIVE = 190, GAP = 14, RATES = 70, AXIS = 20;
const HIGH = TOP + LIVE + GAP + RATES + AXIS;
let moment = -1; // the step under the pointer
let marked = -1; // the selected finding

const chartRoom = function () { return Math.max(50, byId('chart-host').clientWidth - LEFT - RIGHT); };
const timeAt = function (ns) { return LEFT + ns / heap.whole_ns * chartRoom(); };

function largest(numbers) {
	return numbers.reduce(function (most, each) { return Math.max(most, each); }, 0);
}

// Rates are noisy: each step is averaged with its neighbours, nearer ones weighted more.
function smooth(bytes) {
	const reach = Math.ceil(heap.count / 250);
	return bytes.map(function (each, i) {
		let sum = 0, weights = 0;
		for (let k = Math.max(0, i - reach + 1); k < Math.min(bytes.length, i + reach); k++) {
			sum += bytes[k] * (reach - Math.abs(k - i));
			weights += reach - Math.abs(k - i);
		}
		return sum / weights;
	});
}

// There may be more steps than pixels, or fewer: the data of each pixel column.
function columnsOf(wide) {
	const steps = heap.steps, count = Math.min(heap.count, Math.max(1, Math.floor(wide))), list = [];
	for (let i = 0; i < count; i++) {
		const from = Math.floor(i * heap.count / count), end = Math.floor((i + 1) * heap.count / count);
		const column = { from: from, end: end, live: steps.live[end - 1], most: 0, least: Infinity, allocated: 0, freed: 0 };
		for (let k = from; k < end; k++) {
			column.most = Math.max(column.most, steps.most[k]);
			column.least = Math.min(column.least, steps.least[k]);
			column.allocated += heap.smooth.allocated[k] / (end - from);
			column.freed += heap.smooth.freed[k] / (end - from);
		}
		list.push(column);
	}
	return list;
}

const perSecond = function (bytes) { return bytes * 1e9 / heap.step_ns; };

// What the selected site held at the end of each step; null: unknown.
function siteOverTime(site) {
	const told = heap.over_time[site];
	if (!told)
		return null;
	const held = new Float64Array(heap.count);
	for (let i = 0; i < told.length; i += 2)
		held.fill(told[i + 1], told[i]);
	return held;
}

// Axis marks at round numbers: bytes in powers of two, times in powers of ten.
function roundBytes(least) {
	let unit = 1;
	while (unit * 1024 <= least)
		unit *= 1024;
	return [1, 2, 5, 10, 20, 50, 100, 200, 500, 1024].map(function (times) { return times * unit; }).find(function (each) { return each >= least; });
}

function drawScale(context, look, top, high, most, text) {
	const step = roundBytes(most / 4);
	context.textAlign = 'right';
	context.textBaseline = 'middle';
	for (let bytes = 0; bytes <= most; bytes += step) {
		const y = Math.round(top + high - bytes / most * high);
		context.fillStyle = look.line;
		context.fillRect(LEFT, y, chartRoom(), 1);
		context.fillStyle = look.soft;
		context.fillText(text(bytes), LEFT - 6, y);
	}
}

const shortBytes = function (bytes) { return bytesText(bytes).replace(/\.0+ /, ' '); };

function drawAxis(context, look) {
	const wide = chartRoom(), step = roundStep(heap.whole_ns / Math.max(1, Math.floor(wide / 90)));
	context.textAlign = 'left';
	context.textBaseline = 'alphabetic';
	for (let ns = 0; ns < heap.whole_ns * 0.97; ns += step) {
		const x = Math.round(timeAt(ns));
		context.fillStyle = look.line;
		context.fillRect(x, TOP, 1, HIGH - TOP);
		context.fillStyle = look.soft;
		context.fillText(timeText(ns).replace(/\.0+ /, ' '), x + 3, HIGH - 6);
	}
}

function drawLine(context, color, points, wide) {
	context.strokeStyle = color;
	context.lineWidth = wide;
	context.beginPath();
	points.forEach(function (point, i) { context[i ? 'lineTo' : 'moveTo'](point[0], point[1]); });
	context.stroke();
}

function drawLive(context, look, list, most) {
	const wide = chartRoom() / list.length, up = function (bytes) { return bytes / most * LIVE; }, base = TOP + LIVE;
	const line = [[LEFT, base - up(heap.count > 0 ? heap.steps.least[0] : 0)]];
	list.forEach(function (column, i) {
		const left = Math.round(LEFT + i * wide), room = Math.round(LEFT + (i + 1) * wide) - left; // whole pixels: no seams
		context.globalAlpha = 0.45;
		context.fillStyle = look.bar;
		context.fillRect(left, base - up(column.least), room, up(column.least));
		context.globalAlpha = 0.22;
		context.fillRect(left, base - up(column.most), room, up(column.most) - up(column.least));
		context.globalAlpha = 1;
		line.push([LEFT + (i + 1) * wide, base - up(column.live)]);
	});
	drawLine(context, look.bar, line, 1.5);
	const held = chosen >= 0 ? siteOverTime(chosen) : null;
	if (held)
		drawLine(context, look.site, [[LEFT, base]].concat(list.map(function (column, i) {
			return [LEFT + (i + 1) * wide, base - up(held[column.end - 1])];
		})), 2);
}

function drawRates(context, look, list, most) {
	const wide = chartRoom() / list.length, middle = TOP + LIVE + GAP + RATES / 2, half = RATES / 2;
	context.fillStyle = look.line;
	context.fillRect(LEFT, middle, chartRoom(), 1);
	list.forEach(function (column, i) {
		const up = column.allocated / most * half, down = column.freed / most * half;
		context.fillStyle = look.bar;
		context.fillRect(LEFT + i * wide, middle - up, Math.max(0.7, wide), up);
		context.fillStyle = look.freed;
		context.fillRect(LEFT + i * wide, middle, Math.max(0.7, wide), down);
	});
	context.fillStyle = look.soft;
	context.textAlign = 'right';
	context.textBaseline = 'middle';
	context.fillText(shortBytes(perSecond(most)) + '/s', LEFT - 6, middle - half + 5);
	context.fillText(shortBytes(perSecond(most)) + '/s', LEFT - 6, middle + half - 4);
}

function drawPeak(context, look, most) {
	const x = timeAt(heap.totals.peak_ns), y = TOP + LIVE - heap.totals.peak.bytes / most * LIVE;
	const text = 'peak ' + bytesText(heap.totals.peak.bytes), isLeft = x > LEFT + chartRoom() / 2;
	context.strokeStyle = context.fillStyle = look.edge;
	context.setLineDash([4, 3]);
	drawLine(context, look.edge, [[x, y], [x, TOP + LIVE]], 1);
	context.setLineDash([]);
	context.beginPath();
	context.arc(x, y, 3.5, 0, 7);
	context.fill();
	context.textAlign = isLeft ? 'right' : 'left';
	context.textBaseline = 'middle';
	context.font = '600 ' + context.font.replace(/^\d+ /, '');
	context.fillText(text, x + (isLeft ? 4 : -4), y - 10);
	context.font = context.font.replace(/^\S+ /, '');
}

// The numbers of findings above the chart; the time of the selected one is highlighted.
function drawFindings(context, look) {
	let last = -Infinity;
	if (marked >= 0) {
		const finding = heap.findings[marked], left = timeAt(finding.from_ns);
		context.globalAlpha = 0.18;
		context.fillStyle = look.site;
		context.fillRect(left, TOP, Math.max(3, timeAt(finding.to_ns) - left), LIVE);
		context.globalAlpha = 1;
	}
	context.textAlign = 'center';
	context.textBaseline = 'middle';
	told().forEach(function (finding) {
		const x = (timeAt(finding.from_ns) + Math.min(timeAt(finding.to_ns), LEFT + chartRoom())) / 2;
		if (x - last < 17)
			return;
		last = x;
		context.fillStyle = finding.index === marked ? look.site : look.off;
		context.beginPath();
		context.arc(x, 18, 8, 0, 7);
		context.fill();
		context.fillStyle = finding.index === marked ? look.page : look.text;
		context.fillText(String(finding.number), x, 18.5);
	});
}

function drawMoment(context, look) {
	if (moment < 0)
		return;
	context.fillStyle = look.edge;
	context.fillRect(Math.round(timeAt((moment + 0.5) * heap.step_ns)), TOP, 1, HIGH - TOP - AXIS);
}

function chartColors() {
	const style = getComputedStyle(document.documentElement), of = function (name) { return style.getPropertyValue(name).trim(); };
	return Object.assign(timelineColors(), { text: of('--text'), soft: of('--soft'), page: of('--page'), freed: isDark() ? '#8d8fa6' : '#9a9fb0' });
}

function drawChart() {
	const wide = byId('chart-host').clientWidth, look = chartColors(), list = columnsOf(chartRoom());
	const most = Math.max(1, heap.totals.peak.bytes, largest(heap.steps.most)) * 1.04;
	const rate = Math.max(1, largest(list.map(function (column) { return Math.max(column.allocated, column.freed); })));
	const context = fitCanvas(byId('chart'), wide, HIGH);
	context.font = '10px DejaVu Sans, Helvetica, Arial, sans-serif';
	drawAxis(context, look);
	drawScale(context, look, TOP, LIVE, most, shortBytes);
	drawLive(context, look, list, most);
	drawRates(context, look, list, rate);
	drawFindings(context, look);
	drawPeak(context, look, most);
	drawMoment(context, look);
	showLegend(look);
}

function putSwatch(legend, color, kind, words, see) {
	const item = element(HTML, 'span', legend), swatch = element(HTML, 'i', item);
	swatch.setAttribute('class', kind);
	swatch.style.background = color;
	swatch.style.opacity = see;
	element(HTML, 'span', item, words);
}

function showLegend(look) {
	const legend = byId('legend'), put = function (color, kind, words, see) { putSwatch(legend, color, kind, words, see); };
	legend.textContent = '';
	put(look.bar, 'line', 'live', 1);
	put(look.bar, 'area', 'highest and lowest within each step of ' + timeText(heap.step_ns), 0.4);
	if (chosen >= 0 && heap.over_time[chosen])
		put(look.site, 'line', placeText(heap.sites[chosen]), 1);
	put(look.bar, 'area', 'allocated per second', 1);
	put(look.freed, 'area', 'freed per second (both smoothed)', 1);
	element(HTML, 'span', legend, 'numbers: findings, listed below');
}

// The tooltip of a step.
function momentWords(step) {
	const steps = heap.steps, held = chosen >= 0 ? siteOverTime(chosen) : null;
	const words = [timeText(step * heap.step_ns) + ' \u2013 ' + timeText((step + 1) * heap.step_ns),
		'live ' + bytesText(steps.live[step]) + ' in ' + blocksText(steps.blocks[step]),
		'between ' + bytesText(steps.least[step]) + ' and ' + bytesText(steps.most[step]),
		'allocated ' + bytesText(perSecond(steps.allocated[step])) + '/s, freed ' + bytesText(perSecond(steps.freed[step])) + '/s'];
	if (held)
		words.push(placeText(heap.sites[chosen]) + ' ' + bytesText(held[step]));
	for (const finding of told())
		if (finding.from_ns < (step + 1) * heap.step_ns && finding.to_ns > step * heap.step_ns)
			words.push(finding.number + ': ' + findingWords(finding));
	return words;
}

function pointAt(step, x, y) {
	moment = step;
	drawChart();
	tellWords(step < 0 ? [] : momentWords(step));
	if (step >= 0)
		moveTip(x, y);
}

// Moves to a step with the keyboard.
function goToMoment(step) {
	const canvas = byId('chart'), at = Math.max(0, Math.min(heap.count - 1, step)), rect = canvas.getBoundingClientRect();
	pointAt(at, rect.left + timeAt((at + 0.5) * heap.step_ns), rect.top + TOP + LIVE / 2);
	canvas.setAttribute('aria-valuenow', at);
	canvas.setAttribute('aria-valuetext', momentWords(at).join(', '));
}

function chartKey(event) {
	const few = event.shiftKey ? 1 : Math.max(1, Math.round(heap.count / 100));
	const now = moment < 0 ? Math.floor(heap.totals.peak_ns / heap.step_ns) : moment;
	const to = { ArrowLeft: now - few, ArrowRight: now + few, Home: 0, End: heap.count - 1, Enter: Math.floor(heap.totals.peak_ns / heap.step_ns) }[event.key];
	if (to === undefined || heap.count === 0)
		return;
	event.preventDefault();
	goToMoment(to);
}

function makeChart() {
	const canvas = byId('chart');
	heap.smooth = { allocated: smooth(heap.steps.allocated), freed: smooth(heap.steps.freed) };
	canvas.setAttribute('aria-valuemin', 0);
	canvas.setAttribute('aria-valuemax', Math.max(0, heap.count - 1));
	canvas.setAttribute('aria-valuenow', 0);
	canvas.setAttribute('aria-valuetext', 'peak ' + bytesText(heap.totals.peak.bytes) + ' after ' + timeText(heap.totals.peak_ns));
	canvas.addEventListener('pointermove', function (event) {
		const share = (event.clientX - canvas.getBoundingClientRect().left - LEFT) / chartRoom();
		const step = Math.floor(share * heap.count);
		pointAt(step >= 0 && step < heap.count ? step : -1, event.clientX, event.clientY);
	});
	canvas.addEventListener('pointerleave', function () { pointAt(-1); });
	canvas.addEventListener('blur', function () { pointAt(-1); });
	canvas.addEventListener('keydown', chartKey);
}
keys.push(['arrow keys in the chart', 'move through time; with Shift, one step at a time; Enter goes to the peak']);
