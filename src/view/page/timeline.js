// SPDX-License-Identifier: BSD-2-Clause
// When each thread was busy, and the levels of the heap, the memory and the gauges. Dragging
// selects a time range, clicking a name selects a thread; then everything else shows only that.

const LANE = 18, MOST_LANES = 400;
const LEVEL_HEAP = 0, LEVEL_RESIDENT = 1; // of profile.levels; others are gauges
let lanes = []; // all threads, levels, then threads, the busiest first
let brush = null; // the slice where a drag began

// The value that thread lanes show: the selected one, unless it is a state or a heap value.
function laneValue() {
	return page.values[value].heap || page.values[value].state !== undefined ? page.main_value : value;
}

function makeLane(name, id) {
	return { name: name, thread: id, cells: new Float64Array(profile.slices), away: new Float64Array(profile.slices), sum: 0, awaySum: 0 };
}

function threadName(id) {
	return profile.threads[id].name + '/' + profile.threads[id].tid;
}

// Threads sorted by time on CPU, not by time off CPU.
function threadLanes() {
	const moments = profile.moments, entries = profile.entries, threads = new Map();
	const all = makeLane('all threads', -1), amounts = moments.values[laneValue()];
	for (let i = 0; i < entries.count && amounts; i++) {
		const id = entries.thread[i], isAway = page.states[entries.state[i]].away;
		if (moments.first[i] === moments.first[i + 1])
			continue;
		if (!threads.has(id))
			threads.set(id, makeLane(threadName(id), id));
		for (const lane of [all, threads.get(id)])
			for (let k = moments.first[i]; k < moments.first[i + 1]; k++) {
				(isAway ? lane.away : lane.cells)[moments.slice[k]] += amounts[k];
				lane[isAway ? 'awaySum' : 'sum'] += amounts[k];
			}
	}
	const sorted = Array.from(threads.values()).sort(function (a, b) { return b.sum - a.sum || b.awaySum - a.awaySum || a.thread - b.thread; });
	return sorted.length > 1 ? [all].concat(sorted.slice(0, MOST_LANES)) : sorted;
}

function largest(cells) {
	return cells.reduce(function (most, cell) { return cell > most ? cell : most; }, 0);
}

// With filters the file does not have the highest level in each slice: then it is computed from the
// blocks.
function levelsToShow() {
	const levels = profile.levels.slice();
	if (profile.blocks.count > 0 && !levels.some(function (each) { return each.kind === LEVEL_HEAP; }))
		levels.unshift({ kind: LEVEL_HEAP, name: 'heap', unit: 'bytes', pid: 0, cells: liveBySlice({ of: 'bytes' }, -1, 0).subarray(0, profile.slices) });
	return levels;
}

function levelLanes() {
	const levels = levelsToShow();
	return levels.map(function (level) {
		const isAlone = levels.filter(function (each) { return each.name === level.name; }).length < 2;
		const whose = level.pid ? level.process + '/' + level.pid : '';
		return { level: level, thread: -1, cells: level.cells, most: largest(level.cells), floor: Math.min(0, level.cells.reduce(function (least, cell) { return cell < least ? cell : least; }, 0)),
			name: isAlone ? level.name : level.name + ' ' + whose, whole: level.kind === LEVEL_HEAP ? 'live heap' : level.name + ' (' + whose + ')' };
	});
}

function makeLanes() {
	const threads = threadLanes(), single = threads.length > 1 ? 1 : threads.length;
	return threads.slice(0, single).concat(levelLanes(), threads.slice(single));
}

function timeText(slice) {
	return quantity(slice * page.slice_ns, 'nanoseconds');
}

function makeLevelName(parent, lane) {
	const most = quantity(lane.most, lane.level.unit), tells = lane.whole + ': peak ' + most;
	if (lane.level.kind === LEVEL_HEAP) {
		const button = makeButton(parent, lane.name + ' ' + most, 'lane', tells + '; click to see what allocated it', function () { lookAtValue(valueNamed('live_space')); });
		button.setAttribute('aria-pressed', page.values[value].heap !== undefined);
		return;
	}
	const text = element(HTML, 'div', parent, lane.name + ' ' + most);
	text.setAttribute('class', 'lane');
	text.title = tells;
}

// Only the lane of all threads switches back from the heap values.
function makeThreadName(parent, lane) {
	const away = lane.awaySum > 0 ? ', and ' + quantity(lane.awaySum, unitOf(laneValue())) + ' off CPU' : '';
	const button = makeButton(parent, lane.name, 'lane', lane.name + ': ' + quantity(lane.sum, unitOf(laneValue())) + ' of ' + valueName(laneValue()) + away,
		function () {
			if (lane.thread < 0 && page.values[value].heap)
				value = laneValue();
			selectPart(slices, thread === lane.thread ? -1 : lane.thread);
		});
	button.setAttribute('aria-pressed', lane.thread >= 0 ? lane.thread === thread : thread < 0 && !page.values[value].heap);
}

function showTimeline() {
	const host = byId('timeline');
	host.hidden = compared || !hasTimes(value);
	byId('range').hidden = byId('wholetime').hidden = host.hidden;
	if (host.hidden)
		return;
	lanes = keep('lanes ' + laneValue(), makeLanes);
	const names = byId('lanes');
	names.textContent = '';
	for (const lane of lanes)
		(lane.level ? makeLevelName : makeThreadName)(names, lane);
	byId('range').textContent = slices ? timeText(slices[0]) + ' \u2013 ' + timeText(slices[1]) + ' of ' + timeText(profile.slices)
		: 'drag over the timeline to select a time range';
	byId('wholetime').disabled = !slices && thread < 0;
	const times = byId('times');
	times.setAttribute('aria-valuemin', 0);
	times.setAttribute('aria-valuemax', profile.slices);
	times.setAttribute('aria-valuenow', slices ? slices[0] : 0);
	times.setAttribute('aria-valuetext', slices ? byId('range').textContent : 'full time range');
	drawTimeline();
}

// A bar of a lane; anything above zero is visible.
function drawBar(context, at, wide, base, part, color) {
	const left = Math.floor(at * wide / profile.slices), right = Math.floor((at + 1) * wide / profile.slices);
	const high = Math.max(1, part * (LANE - 3));
	context.fillStyle = color;
	context.fillRect(left, base - high, Math.max(1, right - left), high);
	return high;
}

function drawLane(context, lane, top, wide, most, look) {
	const isOff = thread >= 0 && lane.thread !== thread && !lane.level, base = top + LANE - 1;
	const color = !lane.level ? look.bar : lane.level.kind === LEVEL_HEAP ? look.site : lane.level.kind === LEVEL_RESIDENT ? look.memory : look.gauge;
	context.fillStyle = look.line;
	context.fillRect(0, base, wide, 1);
	for (let i = 0; i < lane.cells.length; i++) {
		const isDull = isOff || slices && (i < slices[0] || i >= slices[1]);
		const level = lane.cells[i] - (lane.floor || 0), away = lane.away ? lane.away[i] : 0;
		const high = level > 0 ? drawBar(context, i, wide, base, level / most, isDull ? look.off : color) : 0;
		if (away > 0)
			drawBar(context, i, wide, base - high, away / most, isDull ? look.dull : look.away);
	}
}

// The highest bar of some thread lanes.
function mostOf(some) {
	return some.reduce(function (most, lane) { return Math.max(most, largest(lane.cells.map(function (cell, i) { return cell + lane.away[i]; }))); }, 0);
}

function drawTimeline() {
	const canvas = byId('times'), names = byId('lanes').offsetWidth;
	const wide = canvas.parentNode.clientWidth - names, high = lanes.length * LANE, look = timelineColors();
	if (wide <= 0)
		return;
	const context = fitCanvas(canvas, wide, high);
	const single = keep('most ' + laneValue(), function () { return mostOf(lanes.filter(function (lane) { return lane.thread >= 0; })); });
	const all = keep('mostall ' + laneValue(), function () { return mostOf(lanes.filter(function (lane) { return lane.thread < 0 && !lane.level; })); });
	lanes.forEach(function (lane, i) {
		drawLane(context, lane, i * LANE, wide, lane.level ? lane.most - lane.floor : lane.thread < 0 ? all : single, look);
	});
	showAxis(wide, names, look);
	if (slices) {
		context.fillStyle = look.edge;
		for (const at of slices)
			context.fillRect(Math.min(wide - 1, Math.round(at * wide / profile.slices)), 0, 1, high);
	}
}

// The legend of thread colours, if there are two.
function showLaneColors(axis, look) {
	if (!lanes.some(function (lane) { return lane.awaySum > 0; }))
		return;
	const legend = element(HTML, 'div', axis);
	legend.setAttribute('class', 'lanecolors');
	for (const each of [[look.bar, 'on'], [look.away, 'off CPU']]) {
		element(HTML, 'i', legend).style.background = each[0];
		element(HTML, 'b', legend, each[1]);
	}
}

// Time labels below the lanes, at round numbers, as many as fit.
function showAxis(wide, names, look) {
	const axis = byId('axis'), whole = profile.slices * page.slice_ns, least = whole / Math.max(1, Math.floor(wide / 90));
	const step = roundStep(least);
	axis.textContent = '';
	showLaneColors(axis, look);
	for (let i = 0; i * step < whole * 0.97; i++) {
		const mark = element(HTML, 'span', axis, quantity(i * step, 'nanoseconds').replace(/\.0+ /, ' '));
		mark.style.left = names + i * step / whole * wide + 'px';
	}
}

// Selects a range and thread and updates everything.
function selectPart(newSlices, newThread) {
	select(newSlices, newThread);
	showAll();
	remember(true);
}

function sliceAt(event) {
	const rect = byId('times').getBoundingClientRect(), count = profile.slices;
	return Math.max(0, Math.min(count - 1, Math.floor((event.clientX - rect.left) / rect.width * count)));
}

function dragTo(event) {
	const at = sliceAt(event);
	slices = [Math.min(brush, at), Math.max(brush, at) + 1];
	byId('range').textContent = timeText(slices[0]) + ' \u2013 ' + timeText(slices[1]);
	drawTimeline();
}

// The tooltip lines of a lane in a slice.
function laneWords(lane, slice) {
	const unit = unitOf(laneValue());
	if (lane.level)
		return [lane.whole, Number.isNaN(lane.cells[slice]) ? 'no value yet' : (lane.level.kind > LEVEL_RESIDENT ? 'last ' : 'highest ') + quantity(lane.cells[slice], lane.level.unit)];
	if (lane.awaySum > 0)
		return [lane.name, 'on CPU ' + quantity(lane.cells[slice], unit), 'off CPU ' + quantity(lane.away[slice], unit)];
	return [lane.name, valueName(laneValue()) + ' ' + quantity(lane.cells[slice], unit)];
}

// Shows the tooltip of the slice under the pointer.
function tellMoment(event) {
	const rect = byId('times').getBoundingClientRect(), slice = sliceAt(event);
	const words = laneWords(lanes[Math.max(0, Math.min(lanes.length - 1, Math.floor((event.clientY - rect.top) / LANE)))], slice);
	tellWords([words[0], timeText(slice) + ' \u2013 ' + timeText(slice + 1)].concat(words.slice(1)));
	moveTip(event.clientX, event.clientY);
}

// The arrow keys move the selected range, with Shift its end.
function moveSlices(step, isEnd) {
	const count = profile.slices, few = Math.max(1, Math.round(count / 50));
	const part = slices || [0, isEnd ? count : Math.max(1, Math.round(count / 10))];
	const end = Math.max(part[0] + 1, Math.min(count, part[1] + step * few));
	const moved = slices ? Math.max(-part[0], Math.min(count - part[1], step * few)) : 0;
	selectPart(isEnd ? [part[0], end] : [part[0] + moved, part[1] + moved], thread);
}

function makeTimeline() {
	const times = byId('times');
	let from = 0;
	times.addEventListener('pointerdown', function (event) {
		if (event.button !== 0)
			return;
		brush = sliceAt(event);
		from = event.clientX;
		times.setPointerCapture(event.pointerId);
	});
	times.addEventListener('pointermove', function (event) {
		if (brush !== null && Math.abs(event.clientX - from) >= 3)
			dragTo(event);
		tellMoment(event);
	});
	times.addEventListener('pointerleave', function () { tellWords([]); });
	times.addEventListener('pointerup', function (event) {
		if (brush === null)
			return;
		const isClick = Math.abs(event.clientX - from) < 3;
		brush = null;
		selectPart(isClick ? null : slices, thread);
	});
	times.addEventListener('keydown', function (event) {
		if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')
			return;
		event.preventDefault();
		event.stopPropagation();
		moveSlices(event.key === 'ArrowLeft' ? -1 : 1, event.shiftKey);
	});
	byId('wholetime').addEventListener('click', function () { selectPart(null, -1); });
}
keys.push(['drag over the timeline', 'select a time range; arrow keys move it, Shift + arrow keys move its end'],
	['click on a thread', 'show only that thread; on the heap: show what allocated the live memory']);
