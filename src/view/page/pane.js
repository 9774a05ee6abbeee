// SPDX-License-Identifier: BSD-2-Clause
// A pane draws a tree on a canvas: only visible boxes on visible rows.

const LEAST = 0.3; // minimum width of a box in pixels
const panes = [];  // all of them

// which: the value that widths show; null: the selected one.
function makePane(host, name, which) {
	const pane = { host: host, which: which, icicle: false, offset: 0, end: 0, height: 0 };
	forget(pane);
	host.classList.add('pane');
	host.setAttribute('tabindex', 0);
	host.setAttribute('role', 'tree');
	host.setAttribute('aria-label', name);
	pane.canvas = element(HTML, 'canvas', host);
	pane.canvas.setAttribute('aria-hidden', 'true');
	pane.spacer = element(HTML, 'div', host);
	pane.item = element(HTML, 'div', host); // the focused box, for screen readers
	pane.item.setAttribute('class', 'unseen');
	pane.item.setAttribute('role', 'treeitem');
	pane.item.setAttribute('aria-label', 'no box is selected');
	pane.item.id = 'at-' + panes.length;
	host.addEventListener('scroll', function () { draw(pane); });
	panes.push(pane);
	return pane;
}

// Without a tree until the next one is laid out.
function forget(pane) {
	Object.assign(pane, { shape: null, cost: null, zoom: 0, focus: -1, over: -1, rows: [], left: [], right: [], node: [], leftOut: 0 });
}

function valueOf(pane) {
	return pane.which === null ? value : pane.which;
}

function roomOf(pane) {
	return Math.max(100, pane.host.clientWidth - 2 * MARGIN);
}

// The range of values that fills the width. Amounts of two sides have one scale: the zoomed box may
// be wider on the other side ("end") than what is drawn here.
function viewOf(pane) {
	const cost = pane.cost, own = cost.total[pane.zoom], wide = Math.max(own, pane.end);
	const moved = Math.max(-cost.begin[pane.zoom], Math.min(cost.total[0] - cost.begin[pane.zoom] - own, pane.offset));
	const begin = cost.begin[pane.zoom] + moved;
	return { begin: begin, end: begin + (moved === 0 ? own : wide), wide: wide };
}

// Finds the boxes that are wide enough; skips others with their subtrees.
function layOut(pane) {
	const shape = pane.shape;
	pane.cost = costOf(shape, valueOf(pane));
	const view = viewOf(pane), scale = view.end > view.begin ? roomOf(pane) / view.wide : 0;
	const begins = pane.cost.begin, totals = pane.cost.total;
	pane.rows = [];
	pane.left = [];
	pane.right = [];
	pane.node = [];
	pane.leftOut = 0;
	for (let at = 0; at < shape.count && scale > 0;) {
		const begin = begins[at], end = begin + totals[at];
		const left = ((begin > view.begin ? begin : view.begin) - view.begin) * scale;
		const right = ((end < view.end ? end : view.end) - view.begin) * scale;
		if (right - left < LEAST) {
			pane.leftOut += right > left ? 1 : 0;
			at = shape.end[at];
			continue;
		}
		(pane.rows[shape.depth[at]] || (pane.rows[shape.depth[at]] = [])).push(pane.node.length);
		pane.node.push(at);
		pane.left.push(left);
		pane.right.push(right);
		at++;
	}
	place(pane);
}

// Sets the height from the number of rows.
function place(pane) {
	const high = pane.rows.length * ROW + 4;
	pane.height = Math.max(high, pane.host.clientHeight);
	pane.spacer.style.height = Math.max(0, high - pane.host.clientHeight) + 'px';
	draw(pane);
}

// The top of a row within the pane.
function topOf(pane, row) {
	return pane.icicle ? row * ROW + 2 : pane.height - (row + 1) * ROW - 1;
}

function isDim(pane, node) {
	return pane.shape.depth[node] < pane.shape.depth[pane.zoom];
}

// The label of a box, as in the SVG: a change shows at least its sign.
function labelOf(pane, at) {
	const node = pane.node[at], room = Math.floor((pane.right[at] - pane.left[at] - 2 * TEXT) / CHARACTER);
	if (room < 3)
		return '';
	const name = nameOf(pane.shape, node), change = compared ? changeOf(pane.shape, node, absolute) : null;
	return change ? changeLabel(name, change.mark + change.text, room) : label(name, room);
}

function drawLabel(pane, context, at, top, paint) {
	const node = pane.node[at], text = labelOf(pane, at);
	if (!text)
		return;
	context.font = (pane.shape.inlined[node] ? 'italic ' : '') + "12px 'DejaVu Sans Mono', Menlo, Consolas, monospace";
	context.fillStyle = pane.fill = paint.white ? '#fff' : isDim(pane, node) && isDark() ? '#fff' : page.text;
	context.fillText(text, MARGIN + pane.left[at] + TEXT, top + 13);
}

function drawBox(pane, context, at, top, edge) {
	const node = pane.node[at], left = MARGIN + pane.left[at], wide = pane.right[at] - pane.left[at];
	const isHit = isHitNode(pane, node), dim = isDim(pane, node) && !isHit;
	const paint = isHit ? { fill: page.hit, white: true } : paintOf(pane.shape, node, pane.cost);
	if (dim)
		context.globalAlpha = isDark() ? 0.3 : 0.45;
	if (pane.fill !== paint.fill) // the browser reads a colour again each time it is set
		context.fillStyle = pane.fill = paint.fill;
	context.fillRect(left, top, wide > 2 ? wide - 0.6 : wide, BOX);
	if (edge && wide >= 3) {
		context.strokeStyle = edge;
		context.lineWidth = 1;
		context.strokeRect(left + 0.5, top + 0.5, wide - 1, BOX - 1);
	}
	if (dim)
		context.globalAlpha = 1;
	if (compared && wide >= 8 && changeOf(pane.shape, node, false).mark)
		drawDashes(context, left, top, wide);
	drawLabel(pane, context, at, top, dim ? { white: false } : paint);
}

function drawDashes(context, left, top, wide) {
	context.save();
	context.setLineDash([4, 3]);
	context.strokeStyle = '#141414';
	context.strokeRect(left + 0.5, top + 0.5, wide - 1.6, BOX - 1);
	context.restore();
}

function drawRing(pane, context, node, thick) {
	const at = boxOf(pane, node);
	if (at < 0)
		return;
	context.strokeStyle = isDark() ? '#fff' : '#000';
	context.lineWidth = thick;
	context.strokeRect(MARGIN + pane.left[at] + thick / 2, topOf(pane, pane.shape.depth[node]) - pane.host.scrollTop + thick / 2,
		Math.max(1, pane.right[at] - pane.left[at] - thick), BOX - thick);
}

function draw(pane) {
	if (!pane.shape || !pane.host.clientHeight)
		return;
	const context = fitCanvas(pane.canvas, pane.host.clientWidth, pane.host.clientHeight), high = pane.host.clientHeight, edge = paletteNow().edge;
	pane.fill = null;
	pane.rows.forEach(function (boxes, row) {
		const top = topOf(pane, row) - pane.host.scrollTop;
		if (top > high || top + ROW < 0)
			return;
		for (const at of boxes)
			drawBox(pane, context, at, top, edge);
	});
	if (pane.over >= 0)
		drawRing(pane, context, pane.over, 1);
	if (pane.focus >= 0)
		drawRing(pane, context, pane.focus, 2.5);
	if (pane.node.length === 0) {
		context.fillStyle = isDark() ? '#a4a9b3' : '#555';
		context.font = "13px 'DejaVu Sans', Helvetica, Arial, sans-serif";
		context.fillText(pane.empty || 'no samples', MARGIN + TEXT, pane.icicle ? 24 : high - 12);
	}
}

// The box of a node; negative: not drawn.
function boxOf(pane, node) {
	const row = pane.rows[pane.shape.depth[node]] || [];
	let low = 0, high = row.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (pane.node[row[middle]] < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low < row.length && pane.node[row[low]] === node ? row[low] : -1;
}

// The node at a position in the window; negative: none.
function nodeAt(pane, clientX, clientY) {
	const rect = pane.host.getBoundingClientRect();
	const x = clientX - rect.left - MARGIN, y = clientY - rect.top + pane.host.scrollTop;
	const row = Math.floor(pane.icicle ? (y - 2) / ROW : (pane.height - 1 - y) / ROW);
	const boxes = pane.rows[row] || [];
	let low = 0, high = boxes.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (pane.right[boxes[middle]] <= x)
			low = middle + 1;
		else
			high = middle;
	}
	return low < boxes.length && pane.left[boxes[low]] <= x ? pane.node[boxes[low]] : -1;
}

// Scrolls a row into the pane; without one, the root.
function reveal(pane, row) {
	const top = topOf(pane, row), host = pane.host;
	if (top < host.scrollTop + ROW)
		host.scrollTop = top - 3 * ROW;
	else if (top + ROW > host.scrollTop + host.clientHeight)
		host.scrollTop = top + 3 * ROW - host.clientHeight;
}

function toRoot(pane) {
	pane.host.scrollTop = pane.icicle ? 0 : pane.height;
}

// The lines of a tooltip; the first is the name.
function wordsOf(pane, node) {
	const shape = pane.shape, func = shape.func[node], functions = profile.functions, first = [];
	const words = [nameOf(shape, node)];
	if (func >= 0 && functions.module[func])
		first.push(functions.module[func]);
	if (shape.inlined[node])
		first.push('inlined');
	const lines = compared ? changeWords(shape, node) : valueWords(shape, node);
	words.push(first.concat(lines[0]).join(' \u00b7 '));
	words.push.apply(words, lines.slice(1));
	if (func >= 0 && functions.file[func])
		words.push(functions.file[func] + (functions.line[func] ? ':' + functions.line[func] : ''));
	for (const each of ratios)
		words.push(ratioLine(each, ratioOf(each, shape, node), ratioOf(each, shape, 0)));
	if (pane.zoom > 0)
		words.push(percent(pane.cost.total[node], pane.cost.total[pane.zoom]) + ' of ' + label(nameOf(shape, pane.zoom), 60));
	return words;
}

// A line for the selected value, and one for each other value.
function valueWords(shape, node) {
	const order = [value].concat(familyOf(value).filter(function (i) { return i !== value && i !== samplesValue; }));
	return order.map(function (which, i) {
		const cost = costOf(shape, which), parts = [];
		const samples = samplesValue >= 0 && !page.values[value].heap && page.values[value].state === undefined ? costOf(shape, samplesValue).total[node] : 0;
		if (i === 0 && samples > 0)
			parts.push(countText(samples) + (samples === 1 ? ' sample' : ' samples'));
		if (which !== samplesValue)
			parts.push((i > 0 ? valueName(which) + ' ' : '') + quantity(cost.total[node], unitOf(which)));
		parts.push(percent(cost.total[node], cost.total[0]) + (cost.self[node] ? ', self ' + percent(cost.self[node], cost.total[0]) : ''));
		return parts.join(' \u00b7 ');
	});
}
