// SPDX-License-Identifier: BSD-2-Clause
// The view in the fragment of the address, so that links restore it; and the start.
//
//	#w=table&z=app/main/parse~1&p=0.2&s=alloc&i=1&t=10-40&h=2&f=parse&o=-total
//
// w: the view; z: the names from the root to the zoomed box; p: how far it was moved; s: the
// search; f: the selected function; t: time slices; h: the thread; o: the sort order of the table;
// g: groups; m: colours; b: which graph of a comparison; others: switches, as in the SVG.

let known = null;

function stepOf(shape, node) {
	const name = cut(nameOf(shape, node)), parent = shape.parent[node];
	let which = 0;
	for (let child = parent + 1; child < node; child = shape.end[child])
		which += cut(nameOf(shape, child)) === name ? 1 : 0;
	return stepText(name, which);
}

function pathText(shape, node) {
	return pathTo(shape, node).slice(1).map(function (each) { return stepOf(shape, each); }).join('/');
}

// Follows the path as far as possible.
function followPath(shape, text) {
	let at = 0;
	for (const step of text.split('/')) {
		const wanted = readStep(step);
		let left = wanted.which, to = -1;
		for (let child = at + 1; child < shape.end[at] && to < 0; child = shape.end[child])
			if (cut(nameOf(shape, child)) === wanted.name && left-- === 0)
				to = child;
		if (to < 0)
			break;
		at = to;
	}
	return at;
}

// Each switch: its letter, its value, its value in the file.
function switchStates() {
	return [['w', view, 'graph'], ['i', Number(inverted), Number(page.inverted)], ['c', Number(icicle), Number(page.icicle)],
		['v', value, page.value], ['g', by, page.by], ['m', ratio ? 'r' + ratios.indexOf(ratio) : colors, page.colors],
		['a', Number(absolute), Number(page.absolute)], ['b', sides, 0], ['t', slices ? slices.join('-') : '', ''], ['h', thread, -1],
		['o', orderText(functionTable), '-' + FIRST_ORDER],
		['f', view === 'sandwich' || view === 'source' ? chosenText() : '', '']];
}

function chosenText() {
	if (chosen < 0)
		return missing ? encode(cut(missing.name)) : '';
	return encode(cut(profile.functions.name[chosen])) + '~' + chosen;
}

function stateText() {
	const parts = [], shape = graphShape(inverted);
	if (zoom > 0)
		parts.push('z=' + pathText(shape, zoom));
	if (offset)
		parts.push('p=' + Number(offset.toFixed(6)));
	if (pattern)
		parts.push('s=' + encode(pattern));
	return joinState(parts, switchStates());
}

function remember(isStep) {
	if (known === null)
		return;
	const text = stateText();
	if (text === known)
		return;
	known = text;
	if (isFramed)
		tellState(text, isStep);
	else
		writeState(text, isStep);
}

// The function of "name~number": the number distinguishes functions with the same name.
function readFunction(text) {
	const wanted = readStep(text), names = profile.functions.name;
	if (names[wanted.which] !== undefined && cut(names[wanted.which]) === wanted.name)
		return wanted.which;
	return names.findIndex(function (name) { return cut(name) === wanted.name; });
}

function readPart(state) {
	const numbers = (state.t || '').split('-').map(Number), count = profile.slices;
	const isPart = hasTimes(value) && numbers.length === 2 && numbers[0] >= 0 && numbers[0] < numbers[1] && numbers[1] <= count;
	const wanted = Number(state.h === undefined ? -1 : state.h);
	select(isPart ? numbers.map(Math.floor) : null, profile.threads[wanted] ? wanted : -1);
}

function readLooks(state) {
	const isOn = function (key, otherwise) { return key in state ? state[key] === '1' : otherwise; };
	inverted = isOn('i', page.inverted);
	icicle = isOn('c', page.icicle);
	absolute = isOn('a', page.absolute);
	sides = compared && Object.hasOwn(SIDES, state.b || '') ? Number(state.b) : 0;
	value = !compared && page.values[state.v] !== undefined ? Number(state.v) : page.value;
	by = GROUPS[state.g] === undefined ? page.by : Number(state.g);
	ratio = /^r\d+$/.test(state.m || '') && ratios[state.m.slice(1)] || null;
	colors = !ratio && state.m !== 'ratio' && Object.hasOwn(page.palettes, state.m || '') ? state.m : page.colors;
	view = Object.hasOwn(VIEWS, state.w || '') ? state.w : 'graph';
	readOrder(functionTable, state.o, FIRST_ORDER);
}

function restore(fragment) {
	const state = readState(fragment);
	known = null; // do not change the history meanwhile
	readLooks(state);
	readPart(state);
	chosen = state.f ? readFunction(state.f) : -1;
	missing = lostZoom = null;
	byId('search').value = decode(state.s || '');
	find(byId('search').value);
	zoom = state.z ? followPath(graphShape(inverted), state.z) : 0;
	offset = zoom > 0 && Number.isFinite(Number(state.p)) ? Number(state.p) : 0;
	showAll();
	graphPanes.forEach(toRoot);
	known = stateText();
}

function fit() {
	hover(null, -1);
	if (!byId('timeline').hidden)
		drawTimeline();
	show();
}

function listen() {
	byId('search').addEventListener('input', function () {
		clearTimeout(waiting);
		waiting = setTimeout(function () { search(byId('search').value); }, 150);
	});
	byId('previous').addEventListener('click', function () { goToHit(-1); });
	byId('next').addEventListener('click', function () { goToHit(1); });
	byId('reset').addEventListener('click', function () { zoomTo(0); });
	window.addEventListener('keydown', onKey);
	window.addEventListener('resize', fit);
	window.addEventListener('popstate', function () {
		if ((location.hash || '#') !== known)
			restore(location.hash);
	});
	watchTheme();
}

// A read-only interface for programs: where boxes are, and what is shown.
function publish() {
	const boxesOf = function (pane) {
		return pane.node.map(function (node, i) {
			return { name: nameOf(pane.shape, node), depth: pane.shape.depth[node], left: pane.left[i], right: pane.right[i],
				top: pane.host.getBoundingClientRect().top + topOf(pane, pane.shape.depth[node]) - pane.host.scrollTop,
				x: pane.host.getBoundingClientRect().left + MARGIN + (pane.left[i] + pane.right[i]) / 2, total: pane.cost.total[node],
				self: pane.cost.self[node], dim: isDim(pane, node), hit: isHitNode(pane, node), focus: pane.focus === node,
				class: paintOf(pane.shape, node, pane.cost).class, color: paintOf(pane.shape, node, pane.cost).color, words: wordsOf(pane, node),
				label: labelOf(pane, i) };
		});
	};
	const api = { version: about.wick, boxes: function (i) { return boxesOf(graphPanes[i || 0]); },
		sandwich: function (i) { return boxesOf(sandwichPanes[i || 0]); },
		rows: function () { return tableTexts(functionTable); } };
	Object.defineProperty(window, 'wickPage', { value: Object.freeze(api) });
}

function start(buffer) {
	profile = readProfile(buffer);
	byId('title').textContent = page.title;
	makeTabs();
	makeSwitches();
	makeGraph();
	makeTable();
	makeSandwich();
	makeTimeline();
	listen();
	document.body.classList.remove('waiting');
	restore(location.hash);
	publish();
	if (isFramed)
		talkToParent();
}

unpack('profile').then(start).catch(tellProblem);
