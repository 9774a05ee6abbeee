// SPDX-License-Identifier: BSD-2-Clause
// The flame graph; in a comparison two, side by side, with a common zoom and search, or one of them.

let inverted = page.inverted;
let icicle = page.icicle;
let zoom = 0;      // a node of the graph's shape; 0 is everything
let offset = 0;    // how far the view was moved, in units of the zoomed box's width
let pattern = '';
let hits = [];     // nodes, callers before callees
let hit = -1;      // the current one
let matched = '';  // the share of the total that they cover
let hitFunctions = null;
let waiting = 0;   // timer: waits for more input

const graphPanes = [];
const SIDES = ['both graphs', 'one graph: after', 'one graph: before'];
let sides = 0; // of a comparison: which of them

function isShown(pane) {
	return !compared || sides === 0 || pane.which === (sides === 1 ? AFTER : BEFORE);
}

function shownPanes() {
	return graphPanes.filter(isShown);
}

// heading(): the words above it; null: none.
function makeSide(parent, heading, name, which) {
	const side = element(HTML, 'div', parent);
	side.setAttribute('class', 'side');
	const title = heading ? element(HTML, 'h2', side) : null;
	const pane = makePane(element(HTML, 'div', side), name, which);
	pane.side = side;
	pane.showHeading = function () {
		if (title)
			title.textContent = heading();
	};
	pane.showHeading();
	return pane;
}

function sideHeading(which) {
	return ['before: ', 'after: '][which] + page.sides[which];
}

function makeGraph() {
	const host = byId('graph');
	if (compared) {
		graphPanes.push(makeSide(host, function () { return sideHeading(BEFORE); }, 'flame graph before', BEFORE));
		graphPanes.push(makeSide(host, function () { return sideHeading(AFTER); }, 'flame graph after', AFTER));
	} else {
		graphPanes.push(makeSide(host, null, 'flame graph', null));
	}
	for (const pane of graphPanes)
		attachPointer(pane, zoomTo, panBy);
}

function showGraph() {
	const shape = graphShape(inverted);
	if (zoom > 0 && !isAnywhere(shape, zoom))
		zoom = 0;
	const widest = compared && absolute ? Math.max(costOf(shape, BEFORE).total[zoom], costOf(shape, AFTER).total[zoom]) : 0;
	for (const pane of graphPanes) {
		pane.side.hidden = !isShown(pane);
		pane.shape = shape;
		pane.zoom = zoom;
		pane.icicle = icicle;
		pane.end = widest;
		pane.offset = offset * costOf(shape, valueOf(pane)).total[zoom];
		pane.empty = zoom > 0 ? nameOf(shape, zoom) + ' has no samples here' : 'no samples';
		layOut(pane);
	}
	showTrail();
	showFoot();
}

// Whether a node has samples in any graph.
function isAnywhere(shape, node) {
	return node < shape.count && graphPanes.some(function (pane) { return costOf(shape, valueOf(pane)).total[node] > 0; });
}

function zoomTo(node) {
	zoom = node;
	lostZoom = null;
	offset = 0;
	showGraph();
	remember(true);
}

function zoomOut() {
	if (zoom > 0)
		zoomTo(graphPanes[0].shape.parent[zoom]);
}

// Moves the view by pixels.
function panBy(distance) {
	if (zoom === 0)
		return;
	const pane = shownPanes().pop(), cost = costOf(pane.shape, valueOf(pane)), wide = cost.total[zoom];
	const most = wide > 0 ? (cost.total[0] - cost.begin[zoom] - wide) / wide : 0, least = wide > 0 ? -cost.begin[zoom] / wide : 0;
	offset = Math.max(least, Math.min(most, offset + distance / roomOf(pane)));
	showGraph();
	remember(false);
}

// The nodes from the root to a node.
function pathTo(shape, node) {
	const path = [node];
	while (path[0] > 0)
		path.unshift(shape.parent[path[0]]);
	return path;
}

// The path to the zoomed box. The middle of a long one is left out.
function showTrail() {
	const shape = graphPanes[0].shape, path = zoom > 0 ? pathTo(shape, zoom) : [], trail = byId('trail');
	const left = path.length > 9 ? path.length - 8 : 0;
	trail.textContent = '';
	path.forEach(function (node, i) {
		if (i > 0 && i < left)
			return;
		if (i > 0)
			element(HTML, 'span', trail, i === left ? '\u2026' : '\u203a');
		makeButton(trail, nameOf(shape, node), 'crumb', nameOf(shape, node), function () { zoomTo(node); });
	});
	trail.hidden = path.length === 0;
	byId('reset').disabled = zoom === 0;
}

// Search

function isHitNode(pane, node) {
	const func = pane.shape.func[node];
	if (!pattern)
		return false;
	return func >= 0 ? hitFunctions[func] === 1 : hitFunctions.test.test(pane.shape.labels[-func - 1]);
}

function markHits(test) {
	hitFunctions = new Uint8Array(profile.functions.count);
	for (let func = 0; test && func < hitFunctions.length; func++)
		hitFunctions[func] = test.test(profile.functions.name[func]) ? 1 : 0;
	hitFunctions.test = test;
}

function find(text) {
	const test = testOf(text);
	clearTimeout(waiting);
	byId('search').classList.toggle('bad', test === undefined);
	if (test === undefined) {
		byId('found').textContent = 'invalid regular expression';
		return false;
	}
	markHits(test);
	pattern = text;
	hit = -1;
	return true;
}

// The sum that matches cover: nested ones count once. Fills hits.
function coverOf(pane) {
	const shape = pane.shape, total = pane.cost.total;
	let sum = 0, until = 0;
	for (let at = 0; at < shape.count; at++) {
		if (!(total[at] > 0) || !isHitNode(pane, at))
			continue;
		hits.push(at);
		if (at >= until) {
			sum += total[at];
			until = shape.end[at];
		}
	}
	return percent(sum, total[0]);
}

// The graph that shows a node.
function paneOf(node) {
	return shownPanes().find(function (each) { return costOf(each.shape, valueOf(each)).total[node] > 0; });
}

function tellHits() {
	if (pattern && hit < 0) {
		hits = [];
		matched = graphPanes.map(coverOf).join(' \u2192 ');
		if (compared)
			hits = Array.from(new Set(hits)).filter(paneOf).sort(function (a, b) { return a - b; });
	}
	if (!pattern)
		hits = [];
	byId('found').textContent = pattern ? hitWords(matched, hit, hits.length) : '';
	byId('previous').disabled = byId('next').disabled = hits.length === 0 || view === 'table';
}

// Starting and clearing a search are steps in the history.
function search(text) {
	const isStep = (pattern === '') !== (text === '');
	if (!find(text))
		return;
	show();
	remember(isStep);
}

// The outermost box to zoom to in which this one is wide enough.
function surroundings(pane, node) {
	const total = pane.cost.total;
	let at = node;
	while (at > 0 && total[node] / total[pane.shape.parent[at]] * roomOf(pane) >= 24)
		at = pane.shape.parent[at];
	return at;
}

function goToHit(step) {
	if (hits.length === 0 || view !== 'graph')
		return;
	hit = hit < 0 && step < 0 ? hits.length - 1 : (hit + step + hits.length) % hits.length;
	const node = hits[hit];
	const pane = paneOf(node);
	const at = boxOf(pane, node);
	if (at < 0 || pane.right[at] - pane.left[at] < 4)
		zoomTo(surroundings(pane, node));
	focusOn(pane, node);
	tellHits();
}

// The view as folded stacks, as wick export writes them: one line per stack with its samples. For
// values other than the main one, which have no sample counts, it is the cost.
function foldedStacks() {
	const pane = shownPanes().pop(), shape = pane.shape, lines = [], names = [];
	const isMain = valueOf(pane) === page.main_value && samplesValue >= 0;
	const self = isMain ? costOf(shape, samplesValue).self : pane.cost.self;
	for (let at = zoom; at < shape.end[zoom]; at++) {
		const depth = shape.depth[at];
		if (at === zoom)
			pathTo(shape, zoom).forEach(function (node, i) { names[i] = foldedName(nameOf(shape, node)); });
		names.length = depth;
		names.push(foldedName(nameOf(shape, at)));
		if (self[at] > 0)
			lines.push((names.slice(1).join(';') || '[no stack]') + ' ' + self[at]);
	}
	return lines.join('\n') + '\n';
}

function downloadFolded() {
	saveFolded(document.body, zoom > 0 ? nameOf(graphPanes[0].shape, zoom) : 'stacks', foldedStacks());
}
