// SPDX-License-Identifier: BSD-2-Clause
// Where boxes are on the page, and their labels.

function labelOf(frame, room) {
	return compared ? changeLabel(frame.name, frame.changes[absolute ? 1 : 0], room) : label(frame.name, room);
}

function show(frame, left, right) {
	const room = (right - left - 2 * TEXT) / CHARACTER;
	if (!frame.shown)
		frame.g.removeAttribute('display');
	frame.shown = true;
	// Writing to the document is what costs: only what differs is written.
	if (frame.left !== left)
		frame.rect.setAttribute('x', (MARGIN + left).toFixed(2));
	if (frame.right - frame.left !== right - left)
		frame.rect.setAttribute('width', (right - left).toFixed(2));
	if (edged)
		frame.g.classList.toggle('thin', right - left < 3);
	if (room >= 3) {
		if (!frame.text) {
			frame.text = element(SVG, 'text', frame.g);
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

function hide(frame) {
	if (frame.shown)
		frame.g.setAttribute('display', 'none');
	frame.shown = false;
}

// The part of everything that fills the width, and the row that it is zoomed to.
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
		const dim = frame.row < view.row;
		if (frame.dim !== dim)
			frame.g.classList.toggle('dim', dim);
		frame.dim = dim;
		if ((end - begin) * scale >= 0.1)
			show(frame, (begin - view.begin) * scale, (end - view.begin) * scale);
		else
			hide(frame);
	}
	placeRing();
}

// Around the box that has the focus, over its neighbours.
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
	ring.setAttribute('y', HEAD + (icicle ? focus.row : way.rows.length - 1 - focus.row) * ROW);
}

// Rows from the bottom to the top, or in an icicle from the top to the bottom.
function stackRows() {
	const last = way.rows.length - 1;
	Array.from(way.group.children).forEach(function (rowGroup, row) {
		rowGroup.setAttribute('transform', 'translate(0 ' + (icicle ? row : last - row) * ROW + ')');
	});
	height = HEAD + way.rows.length * ROW + FOOT;
	foot.setAttribute('transform', 'translate(0 ' + (height - FOOT) + ')');
	resize();
}

// Alone, the picture fills the window: the ground can be clicked everywhere.
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
