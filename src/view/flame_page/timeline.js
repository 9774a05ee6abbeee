// SPDX-License-Identifier: BSD-2-Clause
// When each thread was busy. A part of the time can be chosen by dragging, one thread by its
// name; everything else shows that part then.

const NAMES = 170, LANE = 18, MOST_LANES = 400;
let lanes = []; // what was busy: all, then threads, the busiest first
let brush = null; // where a drag began, as a slice

function makeLanes() {
	const moments = profile.moments, entries = profile.entries, threads = new Map();
	const all = { name: 'all threads', thread: -1, cells: new Float64Array(moments.slices), sum: 0 };
	const amounts = moments.values[value];
	for (let i = 0; i < entries.count; i++) {
		const id = entries.thread[i];
		if (!threads.has(id))
			threads.set(id, { name: profile.threads[id].name + '/' + profile.threads[id].tid, thread: id,
				cells: new Float64Array(moments.slices), sum: 0 });
		const lane = threads.get(id);
		for (let k = moments.first[i]; k < moments.first[i + 1]; k++) {
			lane.cells[moments.slice[k]] += amounts[k];
			all.cells[moments.slice[k]] += amounts[k];
			lane.sum += amounts[k];
			all.sum += amounts[k];
		}
	}
	const sorted = Array.from(threads.values()).sort(function (a, b) { return b.sum - a.sum || a.thread - b.thread; });
	return sorted.length > 1 ? [all].concat(sorted.slice(0, MOST_LANES)) : sorted;
}

function timeText(slice) {
	return quantity(slice * page.slice_ns, 'nanoseconds');
}

function showTimeline() {
	const host = byId('timeline');
	host.hidden = compared || !hasTimes(value);
	byId('range').hidden = byId('wholetime').hidden = host.hidden;
	if (host.hidden)
		return;
	lanes = keep('lanes ' + value, makeLanes);
	const names = byId('lanes');
	names.textContent = '';
	for (const lane of lanes) {
		const button = makeButton(names, lane.name, 'lane', lane.name + ': ' + quantity(lane.sum, unitOf(value)) + ' of ' + valueName(value),
			function () { selectPart(slices, thread === lane.thread ? -1 : lane.thread); });
		button.setAttribute('aria-pressed', lane.thread >= 0 ? lane.thread === thread : thread < 0);
	}
	byId('range').textContent = slices ? timeText(slices[0]) + ' \u2013 ' + timeText(slices[1]) + ' of ' + timeText(profile.moments.slices)
		: 'drag over the timeline to show a part of the time';
	byId('wholetime').disabled = !slices && thread < 0;
	const times = byId('times');
	times.setAttribute('aria-valuemin', 0);
	times.setAttribute('aria-valuemax', profile.moments.slices);
	times.setAttribute('aria-valuenow', slices ? slices[0] : 0);
	times.setAttribute('aria-valuetext', slices ? byId('range').textContent : 'all of the time');
	drawTimeline();
}

function drawLane(context, lane, top, wide, most, look) {
	const count = lane.cells.length, isOff = thread >= 0 && lane.thread !== thread;
	context.fillStyle = look.line;
	context.fillRect(0, top + LANE - 1, wide, 1);
	for (let i = 0; i < count; i++) {
		if (!(lane.cells[i] > 0))
			continue;
		const left = i * wide / count, high = Math.max(1, lane.cells[i] / most * (LANE - 3));
		const inside = !slices || (i >= slices[0] && i < slices[1]);
		context.fillStyle = isOff || !inside ? look.off : look.bar;
		context.fillRect(left, top + LANE - 1 - high, Math.max(0.7, wide / count), high);
	}
}

function drawTimeline() {
	const canvas = byId('times');
	const wide = canvas.parentNode.clientWidth - NAMES, high = lanes.length * LANE, look = timelineColors();
	if (wide <= 0)
		return;
	const context = fitCanvas(canvas, wide, high);
	const most = function (some) {
		return some.reduce(function (top, lane) { return Math.max(top, lane.cells.reduce(function (a, b) { return Math.max(a, b); }, 0)); }, 0);
	};
	const single = most(lanes.filter(function (lane) { return lane.thread >= 0; }));
	lanes.forEach(function (lane, i) { drawLane(context, lane, i * LANE, wide, lane.thread < 0 ? most([lane]) : single, look); });
	showAxis(wide);
	if (slices) {
		context.fillStyle = look.edge;
		for (const at of slices)
			context.fillRect(Math.min(wide - 1, Math.round(at * wide / profile.moments.slices)), 0, 1, high);
	}
}

// Times below the lanes, at round numbers that have room.
function showAxis(wide) {
	const axis = byId('axis'), whole = profile.moments.slices * page.slice_ns, least = whole / Math.max(1, Math.floor(wide / 90));
	const step = roundStep(least);
	axis.textContent = '';
	for (let i = 0; i * step < whole * 0.97; i++) {
		const mark = element(HTML, 'span', axis, quantity(i * step, 'nanoseconds').replace(/\.0+ /, ' '));
		mark.style.left = NAMES + i * step / whole * wide + 'px';
	}
}

// Chooses a part and shows everything of it.
function selectPart(newSlices, newThread) {
	select(newSlices, newThread);
	showAll();
	remember(true);
}

function sliceAt(event) {
	const rect = byId('times').getBoundingClientRect(), count = profile.moments.slices;
	return Math.max(0, Math.min(count - 1, Math.floor((event.clientX - rect.left) / rect.width * count)));
}

function dragTo(event) {
	const at = sliceAt(event);
	slices = [Math.min(brush, at), Math.max(brush, at) + 1];
	byId('range').textContent = timeText(slices[0]) + ' \u2013 ' + timeText(slices[1]);
	drawTimeline();
}

// What a thread cost in the slice that is pointed at.
function tellMoment(event) {
	const rect = byId('times').getBoundingClientRect(), slice = sliceAt(event);
	const lane = lanes[Math.max(0, Math.min(lanes.length - 1, Math.floor((event.clientY - rect.top) / LANE)))];
	tellWords([lane.name, timeText(slice) + ' \u2013 ' + timeText(slice + 1), valueName(value) + ' ' + quantity(lane.cells[slice], unitOf(value))]);
	moveTip(event.clientX, event.clientY);
}

// The arrow keys move the part that is chosen, with Shift its end.
function moveSlices(step, isEnd) {
	const count = profile.moments.slices, few = Math.max(1, Math.round(count / 50));
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
keys.push(['drag over the timeline', 'show a part of the time; arrow keys move it, with Shift its end'],
	['click on a thread', 'show that thread alone']);
