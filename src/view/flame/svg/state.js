// SPDX-License-Identifier: BSD-2-Clause
// The view in the fragment of the address, so that links restore it; and the start.
//
//	#z=main/parse~1/read&p=120&s=alloc&i=1
//
// z: the names from the root to the zoomed box, cut, and which of several equal ones;
// p: how far the view was moved; s: the search; others: switches.

let known = null;

function stepOf(frame) {
	const name = cut(frame.name);
	const same = frame.parent.children.filter(function (child) { return cut(child.name) === name; });
	return stepText(name, same.indexOf(frame));
}

// Follows the path as far as possible.
function followPath(text) {
	let at = way.rows[0] && way.rows[0][0];
	for (const step of text.split('/')) {
		const wanted = readStep(step);
		const same = at ? at.children.filter(function (child) { return cut(child.name) === wanted.name; }) : [];
		const to = same[wanted.which];
		if (!to)
			break;
		at = to;
	}
	return at && at.row > 0 ? at : null;
}

// Each switch: its letter, its value, its value in the file.
function switchStates() {
	return [['i', Number(way.inverted), Number(initial.way.inverted)], ['c', Number(icicle), Number(initial.icicle)],
		['v', layer, 0], ['r', ratios.indexOf(ratio), -1], ['a', Number(absolute), Number(initial.absolute)]];
}

function stateText() {
	const parts = [];
	if (zoom)
		parts.push('z=' + pathTo(zoom).slice(1).map(stepOf).join('/'));
	if (offset)
		parts.push('p=' + Number(offset.toFixed(3)));
	if (pattern)
		parts.push('s=' + encode(pattern));
	return joinState(parts, switchStates());
}

function remember(isStep) {
	if (!alone || known === null)
		return;
	const text = stateText();
	if (text === known)
		return;
	known = text;
	writeState(text, isStep);
}

function restore() {
	const state = readState(location.hash);
	const isOn = function (key, otherwise) { return key in state ? state[key] === '1' : otherwise; };
	const inverted = isOn('i', initial.way.inverted);
	known = null; // do not change the history meanwhile
	way = ways.find(function (each) { return each.inverted === inverted; }) || initial.way;
	icicle = isOn('c', initial.icicle);
	absolute = isOn('a', initial.absolute);
	layer = totals[state.v] === undefined ? 0 : Number(state.v);
	ratio = ratios[state.r] || null;
	zoom = null;
	offset = 0;
	input.value = decode(state.s || '');
	redraw();
	zoom = state.z ? followPath(state.z) : null;
	if (zoom && zoom.end <= zoom.begin)
		zoom = null;
	offset = zoom && Number.isFinite(Number(state.p)) ? Number(state.p) : 0;
	layOut();
	showPath();
	known = stateText();
}

// Draws the chosen way and layer. Measuring text comes before moving boxes: else the browser lays
// out twice.
function redraw() {
	if (!way.rows)
		readWay(way);
	blurFrame();
	for (const each of ways)
		if (each === way)
			each.group.removeAttribute('display');
		else
			each.group.setAttribute('display', 'none');
	foot.querySelector('.note').textContent = way.note;
	showWay();
	showValues();
	useLayer();
	stackRows();
	showChange();
	if (zoom && zoom.end <= zoom.begin)
		zoom = null;
	layOut();
	showPath();
	find(input.value);
}

// Window

function fit() {
	if (alone)
		width = Math.max(320, document.documentElement.clientWidth || window.innerWidth);
	layHead();
	resize();
}

function stick() {
	head.setAttribute('transform', 'translate(0 ' + window.scrollY + ')');
}

window.addEventListener('resize', function () {
	fit();
	layOut();
});
svg.setAttribute('role', 'group');
fit();
if (alone) {
	restore();
	window.addEventListener('popstate', function () {
		if ((location.hash || '#') !== known)
			restore();
	});
	window.addEventListener('scroll', stick);
	window.addEventListener('load', function () {
		toRoot();
		stick();
	});
} else {
	redraw();
}
