// SPDX-License-Identifier: BSD-2-Clause
// Finds boxes by the names of their functions.

let pattern = '';
let hits = [];  // from left to right, callers before callees
let hit = -1;   // the current one

function mark(frame, isHit) {
	frame.hit = isHit;
	if (frame.shown)
		showMarks(frame);
}

function find(text) {
	const test = testOf(text);
	clearTimeout(waiting);
	input.classList.toggle('bad', test === undefined);
	if (test === undefined) {
		found.textContent = 'invalid regular expression';
		return;
	}
	const known = new Map();
	hits = [];
	hit = -1;
	for (const frame of way.frames) {
		if (test && !known.has(frame.name))
			known.set(frame.name, test.test(frame.name));
		mark(frame, test !== null && known.get(frame.name));
		if (frame.hit && frame.end > frame.begin)
			hits.push(frame);
	}
	hits.sort(function (a, b) { return a.begin - b.begin || b.end - a.end || a.row - b.row; });
	pattern = text;
	tellHits();
}

// Starting and clearing a search are steps in the history.
function search(text) {
	const isStep = (pattern === '') !== (text === '');
	find(text);
	remember(isStep);
}

// The sum that matches cover: nested ones count once.
function union() {
	let sum = 0, until = -Infinity;
	for (const frame of hits) {
		sum += Math.max(0, frame.end - Math.max(frame.begin, until));
		until = Math.max(until, frame.end);
	}
	return sum;
}

function tellHits() {
	found.textContent = pattern ? hitWords(percent(union(), totals[layer]), hit, hits.length) : '';
	previous.disabled = next.disabled = hits.length === 0;
}

// The outermost frame to zoom to in which a box is wide enough.
function surroundings(frame) {
	const room = width - 2 * MARGIN;
	let at = frame;
	while (at.parent && (frame.end - frame.begin) / (at.parent.end - at.parent.begin) * room >= 24)
		at = at.parent;
	return at;
}

function goToHit(step) {
	if (hits.length === 0)
		return;
	hit = hit < 0 && step < 0 ? hits.length - 1 : (hit + step + hits.length) % hits.length;
	const frame = hits[hit];
	if (!frame.shown || frame.rect.getAttribute('width') < 4)
		zoomTo(surroundings(frame));
	focusOn(frame);
	tellHits();
}

function clearSearch() {
	input.value = '';
	input.blur();
	search('');
}
