// SPDX-License-Identifier: BSD-2-Clause
// The parts around the views: tabs, switches, tooltips, the pointer, the help.

const VIEWS = { graph: 'Flame graph', table: 'Table', sandwich: 'Callers, callees', source: 'Source' };
let view = 'graph';

function makeChoice(parent, names, tells, choice, act) {
	const select = element(HTML, 'select', parent);
	select.setAttribute('aria-label', tells);
	select.setAttribute('title', tells);
	names.forEach(function (name, i) { element(HTML, 'option', select, name).selected = i === choice; });
	select.addEventListener('change', function () {
		act(select.selectedIndex);
		showAll();
		remember(true);
	});
	return select;
}

// Views

function setView(name) {
	view = name;
	show();
	remember(true);
}

function show() {
	for (const name of Object.keys(VIEWS)) {
		byId(name + '-view').hidden = name !== view;
		byId(name + '-tab').setAttribute('aria-selected', name === view);
		byId(name + '-tab').setAttribute('tabindex', name === view ? 0 : -1);
	}
	hover(null, -1);
	byId('trail').hidden = view !== 'graph' || zoom === 0;
	byId('reset').hidden = view !== 'graph';
	byId('path').hidden = view !== 'graph' && byId('timeline').hidden;
	byId('search').setAttribute('placeholder', view === 'table' ? 'filter, regex  ( / )' : 'search, regex  ( / )');
	({ graph: showGraph, table: showTable, sandwich: showSandwich, source: showSource })[view]();
	if (view !== 'graph' && pattern && hit < 0) { // the share of matches refers to the graph
		for (const pane of graphPanes)
			pane.shape = graphShape(inverted);
		for (const pane of graphPanes)
			pane.cost = costOf(pane.shape, valueOf(pane));
	}
	tellHits();
}

// After a change that affects everything: the value, the time, groups, colours.
function showAll() {
	hit = -1; // trees may have changed: search again
	unfocus();
	showTheme();
	fills.clear(); // those of the other theme
	showTimeline();
	showSummary();
	showSwitches();
	show();
}

// Head

// What a heap value means in a time range, if its name does not say it.
function partWords() {
	const heap = page.values[value].heap;
	if (!slices || !heap)
		return '';
	return { inuse: ' allocated in this range and live at its end', peak: ' allocated in this range, at its peak (measured at slice ends)', live: ' at the end of this range' }[heap.is] || '';
}

function showSummary() {
	const words = [];
	const whole = function (which) { return entryCosts(which).reduce(function (sum, cost) { return sum + cost; }, 0); };
	if (compared) {
		words.push(valueName(AFTER) + ' ' + quantity(whole(BEFORE), unitOf(BEFORE)) + ' \u2192 ' + quantity(whole(AFTER), unitOf(AFTER)));
		if (valueName(AFTER) !== 'samples')
			words.push(countText(whole(SAMPLES)) + ' \u2192 ' + countText(whole(SAMPLES + 1)) + ' samples');
	} else {
		words.push(valueName(value) + ' ' + quantity(whole(value), unitOf(value)) + partWords());
		if (samplesValue >= 0 && value === page.main_value && value !== samplesValue)
			words.push(countText(whole(samplesValue)) + ' samples');
	}
	byId('summary').textContent = words.join(' \u00b7 ') + page.judgement + (thread >= 0 ? ' \u00b7 only ' + profile.threads[thread].name + '/' +
		profile.threads[thread].tid : '') + (slices ? ' \u00b7 ' + timeText(slices[0]) + ' \u2013 ' + timeText(slices[1]) : '');
}

let switches = {};

function showSwitches() {
	switches.inverted.setAttribute('aria-pressed', inverted);
	switches.icicle.setAttribute('aria-pressed', icicle);
	switches.by.selectedIndex = by;
	if (switches.value)
		switches.value.selectedIndex = valueOrder().indexOf(value);
	if (switches.colors)
		switches.colors.selectedIndex = colorNames().indexOf(ratio ? ratio.name : colors);
	if (switches.sides)
		switches.sides.selectedIndex = sides;
	if (switches.scale)
		switches.scale.textContent = 'Compare: ' + (absolute ? 'amounts' : 'shares');
}

// The main value first, as in the SVG.
function valueOrder() {
	return [page.value].concat(page.values.map(function (each, i) { return i; }).filter(function (i) { return i !== page.value; }));
}

function colorNames() {
	return Object.keys(page.palettes).filter(function (name) { return name !== 'ratio'; }).concat(ratios.map(function (each) { return each.name; }));
}

function toggleWay() {
	inverted = !inverted;
	zoom = offset = 0;
	refocus();
}

function toggleIcicle() {
	icicle = !icicle;
	refocus();
}

// After the graph was replaced.
function refocus() {
	hit = -1;
	for (const pane of graphPanes)
		pane.focus = -1;
	showSwitches();
	show();
	graphPanes.forEach(toRoot);
	graphPanes.forEach(draw);
	remember(true);
}

function nextValue() {
	const order = valueOrder();
	if (compared || order.length < 2)
		return;
	lookAtValue(order[(order.indexOf(value) + 1) % order.length]);
}

function setValue(which) {
	value = which;
	if (!hasTimes(value))
		select(null, thread);
}

function lookAtValue(which) {
	setValue(which);
	showAll();
	remember(true);
}

function setSides(which) {
	sides = which;
	unfocus(); // the focused box may be gone
}

function nextSides() {
	setSides((sides + 1) % SIDES.length);
	showAll();
	remember(true);
}

function toggleScale() {
	absolute = !absolute;
	showAll();
	remember(true);
}

function makeSwitches() {
	const host = byId('switches');
	if (!compared && page.values.length > 1)
		switches.value = makeChoice(host, valueOrder().map(valueName), 'what box widths show ( v )', 0, function (i) {
			setValue(valueOrder()[i]);
		});
	switches.by = makeChoice(host, (compared ? GROUPS.slice(0, 2) : GROUPS).map(function (name) { return 'by ' + name; }), 'how stacks are grouped at the root ( b )', by, function (i) {
		by = i;
		zoom = offset = 0;
	});
	if (compared)
		switches.sides = makeChoice(host, SIDES, 'which graphs are shown ( o )', sides, setSides);
	if (compared)
		switches.scale = makeButton(host, '', 'scale', 'compare shares of the total, or amounts on one scale ( a )', toggleScale);
	if (colorNames().length > 1)
		switches.colors = makeChoice(host, colorNames().map(function (name) { return 'colours: ' + name; }), 'what colours mean', 0, function (i) {
			const names = colorNames();
			ratio = ratios.find(function (each) { return each.name === names[i]; }) || null;
			colors = ratio ? colors : names[i];
		});
	switches.inverted = makeButton(host, 'Inverted', 'inverted', 'from the leaves to their callers ( i )', toggleWay);
	switches.icicle = makeButton(host, 'Icicle', 'icicle', 'the root at the top ( c )', toggleIcicle);
	makeButton(host, 'Folded', 'folded', 'download this view as folded stacks ( d )', downloadFolded);
	if (!isFramed)
		makeButton(host, '\u25d0', 'theme', 'dark or light ( t )', toggleTheme).setAttribute('aria-label', 'dark or light');
	makeButton(host, 'About', 'session', 'how the recording was made ( r )', toggleSession);
	makeButton(host, '?', 'keys', 'keyboard shortcuts ( ? )', toggleHelp);
}

// There is a tab of source lines if the profile has some.
function showTabs() {
	if (profile.sources.length === 0) {
		byId('source-view').hidden = true;
		delete VIEWS.source;
	} else {
		VIEWS.source = 'Source';
	}
	byId('source-tab').hidden = !VIEWS.source;
	if (!VIEWS[view])
		view = 'graph';
}

function makeTabs() {
	const tabs = byId('tabs');
	Object.keys(VIEWS).forEach(function (name, i) {
		const tab = makeButton(tabs, VIEWS[name], 'tab', VIEWS[name] + ' ( ' + (i + 1) + ' )', function () { lookAt(name); });
		tab.id = name + '-tab';
		tab.setAttribute('role', 'tab');
		tab.setAttribute('aria-controls', name + '-view');
	});
	tabs.addEventListener('keydown', function (event) {
		const names = Object.keys(VIEWS), step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		if (!step)
			return;
		event.stopPropagation();
		lookAt(names[(names.indexOf(view) + step + names.length) % names.length]);
		byId(view + '-tab').focus();
	});
	showTabs();
}

// Foot

function putMeaning(parent, name, words) {
	const item = element(HTML, 'span', parent), swatch = element(HTML, 'i', item);
	swatch.style.background = fillOf(name, 0).color;
	element(HTML, 'span', item, words);
}

// The palette classes in use.
function usedClasses() {
	const functions = profile.functions;
	if (colors === 'heat')
		return new Set(page.heats.map(function (heat) { return heat.class; }));
	if (colors === 'language')
		return new Set(Array.from(functions.language, function (id) { return page.languages[id]; }));
	const used = new Set(Array.from(functions.origin, function (id) { return page.origins[id]; }));
	if (profile.nodes.inlined.includes(1))
		used.add('i');
	return used;
}

function showLegend(parent) {
	const palette = paletteNow();
	if (ratio) {
		const whole = ratioOf(ratio, wholeShape(), 0);
		element(HTML, 'span', parent, ratioMeaning(ratio, whole === undefined ? 0 : whole));
	} else if (compared) {
		for (const meaning of [['d4', 'less'], ['d2', ''], ['same', 'no significant change'], ['m2', ''], ['m4', 'more']])
			putMeaning(parent, meaning[0], meaning[1]);
		element(HTML, 'span', parent, 'pp: percentage points of the total \u00b7 boxes marked new or gone have a dashed edge');
	} else {
		const used = usedClasses();
		for (const name of Object.keys(palette.swatches))
			if (used.has(name) && palette.swatches[name].words)
				putMeaning(parent, name, palette.swatches[name].words);
		if (colors === 'module' || colors === 'hash')
			element(HTML, 'span', parent, colors === 'module' ? 'one hue per module' : 'one hue per function');
	}
}

function showFoot() {
	const legend = byId('legend'), left = shownPanes().reduce(function (sum, pane) { return sum + pane.leftOut; }, 0);
	const key = [colors, ratio && ratio.name, value, isDark()].join();
	if (legend.getAttribute('data-of') !== key) {
		legend.textContent = '';
		legend.setAttribute('data-of', key);
		showLegend(legend);
	}
	legend.hidden = view === 'source' || (view === 'table' && !compared);
	const cut = graphPanes[0].shape && graphPanes[0].shape.cut ? '; callers below ' + 100 * SMALLEST + '% are left out' : '';
	byId('note').textContent = view === 'graph' && left > 0 ? countText(left) + (left === 1 ? ' branch is' : ' branches are') +
		' too narrow to draw; zoom in to see more' + cut : view === 'table' ? countText(functionTable.rows.length) + (functionTable.rows.length === 1 ? ' function' : ' functions') : '';
}

// The tooltip of a box.

function hover(pane, node) {
	for (const each of panes) {
		const over = pane && each.shape === pane.shape ? node : -1;
		if (each.over !== over) {
			each.over = over;
			draw(each);
		}
	}
	tellWords(node < 0 ? [] : wordsOf(pane, node));
}

// The pointer: pointing, clicking, moving a zoomed view.
function attachPointer(pane, click, pan) {
	let grip = null;
	pane.host.addEventListener('pointerdown', function (event) {
		if (event.button === 0)
			grip = { x: event.clientX, moved: false };
	});
	pane.host.addEventListener('pointermove', function (event) {
		if (grip && event.buttons === 0)
			grip = null;
		if (grip && (grip.moved || Math.abs(event.clientX - grip.x) >= 5)) {
			hover(null, -1);
			pan(grip.x - event.clientX);
			grip = { x: event.clientX, moved: true };
			return;
		}
		const node = nodeAt(pane, event.clientX, event.clientY);
		if (node !== pane.over || node >= 0 && byId('tip').hidden)
			hover(pane, node);
		pane.host.style.cursor = node >= 0 ? 'pointer' : '';
		if (node >= 0)
			moveTip(event.clientX, event.clientY);
	});
	pane.host.addEventListener('pointerleave', function () { hover(null, -1); });
	pane.host.addEventListener('click', function (event) {
		const moved = grip && grip.moved, node = nodeAt(pane, event.clientX, event.clientY);
		grip = null;
		if (moved || node < 0)
			return;
		unfocus();
		if ((event.ctrlKey || event.metaKey) && pane.shape.func[node] >= 0)
			choose(pane.shape.func[node], 'sandwich');
		else
			click(node);
		hover(null, -1);
	});
	pane.host.addEventListener('dblclick', function (event) {
		if (nodeAt(pane, event.clientX, event.clientY) < 0)
			zoomTo(0);
	});
	pane.host.addEventListener('wheel', function (event) {
		if (!event.shiftKey || zoom === 0)
			return;
		event.preventDefault();
		pan(event.deltaX || event.deltaY);
	}, { passive: false });
}
