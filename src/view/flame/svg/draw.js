// SPDX-License-Identifier: BSD-2-Clause
// The positions and labels of boxes.

function labelOf(frame, room) {
	return compared ? changeLabel(frame.name, frame.changes[absolute ? 1 : 0], room) : label(frame.name, room);
}

// Hidden boxes get their classes when they are shown.
function showMarks(frame) {
	if (frame.hasHit !== frame.hit)
		frame.rect.classList.toggle('hit', frame.hit);
	if (frame.hasDim !== frame.dim)
		frame.rect.classList.toggle('dim', frame.dim);
	frame.hasHit = frame.hit;
	frame.hasDim = frame.dim;
}

function show(frame, left, right) {
	const room = (right - left - 2 * TEXT) / CHARACTER;
	if (frame.none)
		frame.rect.removeAttribute('display');
	frame.none = false;
	showMarks(frame);
	// Writing to the document is expensive: only changes are written.
	if (frame.left !== left)
		frame.rect.setAttribute('x', (MARGIN + left).toFixed(2));
	if (frame.right - frame.left !== right - left)
		frame.rect.setAttribute('width', (right - left).toFixed(2));
	if (edged)
		frame.rect.classList.toggle('thin', right - left < 3);
	if (room >= 3) {
		if (!frame.text) {
			frame.text = document.createElementNS(SVG, 'text');
			frame.rect.after(frame.text);
			frame.text.setAttribute('y', 13);
			frame.text.setAttribute('x', (MARGIN + left + TEXT).toFixed(2));
		}
		const words = labelOf(frame, Math.floor(room));
		if (frame.left !== left)
			frame.text.setAttribute('x', (MARGIN + left + TEXT).toFixed(2));
		if (frame.label !== words)
			frame.text.textContent = words;
		frame.label = words;
	} else if (frame.text) {
		frame.text.remove();
		frame.text = null;
		frame.label = '';
	}
	frame.left = left;
	frame.right = right;
}

// Visible and hidden boxes. Removing a box from the picture and putting it back restyles it, which
// is most of the cost of a zoom. So each row has two groups, one of them parked far above the page,
// and the smaller set of boxes changes groups.

const PARKED = 'translate(0 -1000000)';

function placeRows() {
	const last = way.rows.length - 1;
	way.halves.forEach(function (groups, half) {
		groups.forEach(function (rowGroup, row) {
			const parked = half !== way.half;
			const y = (icicle ? row : last - row) * ROW;
			rowGroup.setAttribute('transform', parked ? PARKED : 'translate(0 ' + y + ')');
			rowGroup.toggleAttribute('data-parked', parked);
		});
	});
}

// Puts the boxes of a row into their groups, in order.
function sortRow(row, groups) {
	const next = groups.map(function (group) { return group.firstChild; });
	for (const frame of row) {
		const half = frame.inView ? way.half : frame.none ? frame.half : 1 - way.half;
		const behind = (frame.text || frame.rect).nextSibling;
		if (half === frame.half) {
			next[half] = behind;
			continue;
		}
		if (next[frame.half] === frame.rect)
			next[frame.half] = behind;
		groups[half].insertBefore(frame.rect, next[half]);
		if (frame.text)
			groups[half].insertBefore(frame.text, next[half]);
		frame.half = half;
	}
}

function sortBoxes() {
	let moves = 0, others = 0; // boxes that change groups, without and with exchanging the groups
	for (const frame of way.frames)
		if (frame.inView || !frame.none) {
			moves += frame.inView !== (frame.half === way.half);
			others += frame.inView === (frame.half === way.half);
		}
	if (moves === 0)
		return;
	const active = document.activeElement;
	if (way.halves.length < 2)
		way.halves.push(way.rows.map(function () { return element(SVG, 'g', way.group); }));
	if (moves > others)
		way.half = 1 - way.half;
	placeRows();
	way.rows.forEach(function (row, depth) {
		sortRow(row, way.halves.map(function (groups) { return groups[depth]; }));
	});
	if (focus && active === focus.rect && focus.inView)
		focus.rect.focus({ preventScroll: true }); // moving it lost the focus
}

// The range of values that fills the width, and the zoomed row.
function viewOf() {
	if (!zoom)
		return { row: 0, begin: 0, end: wholeEnd() };
	const most = wholeEnd() - zoom.end;
	offset = Math.max(-zoom.begin, Math.min(most, offset));
	return { row: zoom.row, begin: zoom.begin + offset, end: zoom.end + offset };
}

function layOut() {
	const view = viewOf();
	const scale = view.end > view.begin ? (width - 2 * MARGIN) / (view.end - view.begin) : 0;
	for (const frame of way.frames) {
		const begin = Math.max(frame.begin, view.begin);
		const end = Math.min(frame.end, view.end);
		frame.inView = (end - begin) * scale >= 0.1;
	}
	sortBoxes();
	for (const frame of way.frames) {
		frame.shown = frame.inView;
		frame.dim = frame.row < view.row;
		if (frame.shown)
			show(frame, (Math.max(frame.begin, view.begin) - view.begin) * scale,
				(Math.min(frame.end, view.end) - view.begin) * scale);
	}
	placeRing();
}

// Drawn around the focused box, over its neighbours.
const ring = document.createElementNS(SVG, 'rect');
ring.setAttribute('class', 'ring');
ring.setAttribute('height', BOX);
svg.insertBefore(ring, foot);

function placeRing() {
	const isThere = focus && focus.shown;
	ring.setAttribute('display', isThere ? 'inline' : 'none');
	if (!isThere)
		return;
	ring.setAttribute('x', focus.rect.getAttribute('x'));
	ring.setAttribute('width', focus.rect.getAttribute('width'));
	ring.setAttribute('y', headHigh + (icicle ? focus.row : way.rows.length - 1 - focus.row) * ROW);
}

// Rows from the bottom to the top, or in an icicle from the top to the bottom.
function stackRows() {
	placeRows();
	height = headHigh + way.rows.length * ROW + FOOT;
	foot.setAttribute('transform', 'translate(0 ' + (height - FOOT) + ')');
	resize();
}

// If the SVG is a page of its own, it fills the window: the background can be clicked everywhere.
function resize() {
	const high = alone ? Math.max(height, window.innerHeight) : height;
	svg.setAttribute('width', width);
	svg.setAttribute('height', high);
	svg.setAttribute('viewBox', '0 0 ' + width + ' ' + high);
}

// Zoom

function zoomTo(frame) {
	zoom = frame && frame.row > 0 && frame.end > frame.begin ? frame : null;
	offset = 0;
	layOut();
	showPath();
	remember(true);
}

function zoomOut() {
	zoomTo(zoom ? zoom.parent : null);
}

// Moves the view by pixels.
function pan(distance) {
	if (!zoom)
		return;
	offset += distance * (zoom.end - zoom.begin) / (width - 2 * MARGIN);
	layOut();
	remember(false);
}
