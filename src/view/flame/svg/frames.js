// SPDX-License-Identifier: BSD-2-Clause
// The parts of the picture, and its boxes as objects. Names go through textContent
// only; the file loads nothing. The numbers below are those of flame.c.

const HEAD = 84, FOOT = 58;
let headHigh = HEAD; // more in a narrow window: see layHead()
const SVG = 'http://www.w3.org/2000/svg';
const svg = document.currentScript ? document.currentScript.ownerSVGElement : document.documentElement;
const alone = svg === document.documentElement;
const head = svg.querySelector('.head');
const foot = svg.querySelector('.foot');
const titleText = svg.querySelector('title').textContent;
let width = Number(svg.getAttribute('width'));
let height = Number(svg.getAttribute('height'));

// The total of each layer. Layers are value types, or after and before.
const totals = svg.getAttribute('data-total').split(' ').map(Number);
// Whether this is a comparison: layer 0 is after, layer 1 is before.
const compared = svg.hasAttribute('data-absolute');

// Whether the palette draws edges; they would hide the colour of a narrow box.
const edged = svg.hasAttribute('data-edged');

// A way to view the stacks, as called or inverted, is a group of rows. The one drawn in the file
// comes first; the other is built from its records on first use.
const ways = Array.from(svg.querySelectorAll('.frames, .hidden')).map(function (source) {
	const drawn = source.localName === 'g';
	const group = drawn ? source : document.createElementNS(SVG, 'g');
	if (!drawn) {
		group.setAttribute('class', 'frames');
		group.setAttribute('transform', 'translate(0 ' + headHigh + ')');
		group.setAttribute('display', 'none');
		source.parentNode.insertBefore(group, source);
	}
	return { group: group, source: drawn ? null : source, inverted: source.getAttribute('data-inverted') === '1',
		note: source.getAttribute('data-note'), rows: null, frames: [], halves: [], half: 0 };
});

// The current view.
let way = ways[0];
let icicle = svg.getAttribute('data-icicle') === '1';
let layer = 0;
let absolute = svg.getAttribute('data-absolute') === '1';
let zoom = null;   // a frame, or null for everything
let focus = null;  // the focused frame
let offset = 0;    // how far the view was moved from it
const initial = { way: way, icicle: icicle, absolute: absolute };

function placesOf(text) {
	return text.split(',').map(function (place) {
		const numbers = place.split(' ').map(Number);
		return { begin: numbers[0], end: numbers[0] + numbers[1], self: numbers[2] || 0 };
	});
}

// title: the name, then further lines. left, right: its position; text: its label.
function makeFrame(rect, places, title, row, index) {
	const words = title.split('\n');
	const frame = { rect: rect, text: null, label: '', row: row, index: index, places: placesOf(places),
		begin: 0, end: 0, self: 0, left: -1, right: -1, name: words[0], about: words.slice(1), parent: null, children: [],
		hit: false, dim: false, hasHit: false, hasDim: false, shown: true, inView: true, half: 0, none: false, color: undefined, usual: undefined };
	rect.flameFrame = frame;
	return frame;
}

// The titles become tooltips of our own. A label follows its box.
function readFrame(rect, row, index) {
	const title = rect.firstChild; // a narrow box has none
	const text = rect.nextElementSibling;
	const frame = makeFrame(rect, rect.getAttribute('data-v'), title ? title.textContent : rect.getAttribute('data-t'), row, index);
	if (title)
		rect.removeChild(title);
	if (text && text.localName === 'text')
		frame.text = text;
	frame.none = rect.hasAttribute('display');
	frame.shown = !frame.none;
	if (frame.none) // it had no position so far
		rect.setAttribute('height', BOX);
	if (compared) {
		frame.colors = rect.getAttribute('data-c').split(' ');
		frame.changes = rect.getAttribute('data-s').split('|');
	}
	return frame;
}

// A record: places, colour, class, change (2), title.
function buildFrame(record, rowGroup, row, index) {
	const parts = record.split('\t');
	const rect = element(SVG, 'rect', rowGroup);
	const frame = makeFrame(rect, parts[0], parts[5], row, index);
	const isHue = parts[1][0] === '#';
	if (isHue)
		rect.setAttribute('fill', parts[1]);
	rect.setAttribute('class', (isHue ? '' : parts[1] + ' ') + parts[2]);
	rect.setAttribute('height', BOX);
	frame.colors = parts[3].split(' ');
	frame.changes = parts[4].split('|');
	return frame;
}

// The colour class of a box; null: its colour is a hue. It is the first class, marks follow.
function colorOf(frame) {
	return frame.rect.hasAttribute('fill') ? null : frame.rect.classList[0];
}

function paint(frame, color) {
	if (frame.color === undefined)
		frame.color = colorOf(frame);
	if (frame.color === color)
		return;
	if (frame.color !== null)
		frame.rect.classList.remove(frame.color);
	if (color !== null)
		frame.rect.classList.add(color);
	frame.color = color;
}

function readRows(group) {
	return Array.from(group.children).map(function (rowGroup, row) {
		const frames = [];
		for (let at = rowGroup.firstElementChild; at; at = at.nextElementSibling)
			if (at.localName === 'rect')
				frames.push(readFrame(at, row, frames.length));
		return frames;
	});
}

function buildRows(which) {
	const rows = [];
	const groups = document.createDocumentFragment();
	for (const record of which.source.textContent.trim().split('\n\n')) {
		if (record === '=') {
			rows.push([]);
			element(SVG, 'g', groups);
		} else if (rows.length > 0) {
			const row = rows[rows.length - 1];
			row.push(buildFrame(record, groups.lastChild, rows.length - 1, row.length));
		}
	}
	which.group.appendChild(groups);
	return rows;
}

// Boxes of a row and of the one before it go from left to right in every layer.
function findParents(row, before, at) {
	let i = 0;
	for (const frame of row) {
		const place = frame.places[at];
		if (frame.parent || place.end <= place.begin)
			continue;
		while (i < before.length && (before[i].places[at].end < place.end || before[i].places[at].begin > place.begin))
			i++;
		if (i === before.length)
			return;
		frame.parent = before[i];
	}
}

function readWay(which) {
	which.rows = which.source ? buildRows(which) : readRows(which.group);
	which.halves = [Array.from(which.group.children)];
	which.rows.forEach(function (row, depth) {
		for (let at = 0; depth > 0 && at < totals.length; at++)
			findParents(row, which.rows[depth - 1], at);
		for (const frame of row) {
			which.frames.push(frame);
			if (frame.parent)
				frame.parent.children.push(frame);
		}
	});
}

// The end of the full range. Amounts of two sides have one scale: the smaller side fills less.
function wholeEnd() {
	return compared && absolute ? Math.max.apply(null, totals) : totals[layer];
}

// Applies the positions of the layer.
function useLayer() {
	for (const frame of way.frames) {
		const place = frame.places[layer];
		frame.begin = place.begin;
		frame.end = place.end;
		frame.self = place.self;
	}
}

// The frames from the root to a frame.
function pathTo(frame) {
	const path = [];
	for (let at = frame; at; at = at.parent)
		path.unshift(at);
	return path;
}
