// SPDX-License-Identifier: BSD-2-Clause
// Shows another profile in the same state: a step of the live view. Everything is found again by
// its name, as after following a link.

let lostZoom = null; // the path to a zoomed box of which this profile has only the beginning

// The path to a node of a pane, if there is one.
function placeOf(pane, node) {
	return node < 0 ? null : pathText(pane.shape, node);
}

// The node of a path, if this profile has it; negative: it does not.
function nodeOf(pane, path) {
	const node = path === null || !pane.shape ? -1 : followPath(pane.shape, path);
	return node < 0 || (node === 0 ? '' : pathText(pane.shape, node)) !== path ? -1 : node;
}

// The distance of what a pane shows from its root, which stays where it is.
function distanceOf(pane) {
	return pane.icicle ? pane.host.scrollTop : pane.height - pane.host.scrollTop;
}

function zoomPlace() {
	const shape = graphShape(inverted), key = [by, inverted].join();
	if (lostZoom && lostZoom.key === key && lostZoom.at === zoom)
		return lostZoom;
	return { key: key, path: zoom > 0 ? pathText(shape, zoom) : '', at: zoom };
}

function functionPlace(func) {
	return func < 0 || func === undefined ? null : { name: profile.functions.name[func], module: profile.functions.module[func] };
}

// Where everything is, by names.
function placesNow() {
	return { zoom: zoomPlace(), value: valueName(value), ratio: ratio && ratio.name, chosen: functionPlace(chosen) || missing,
		row: functionPlace(functionTable.rows[functionTable.row]), thread: profile.threads[thread], switches: switchNames(),
		source: byId('source').scrollTop,
		panes: panes.map(function (pane) {
			return { distance: distanceOf(pane), focus: placeOf(pane, pane.focus), over: placeOf(pane, pane.over) };
		}) };
}

function switchNames() {
	return page.values.map(function (each) { return each.name; }).concat(page.ratios.map(function (each) { return each.name; })).join('\n');
}

function findFunction(place) {
	const names = profile.functions.name, modules = profile.functions.module;
	if (!place)
		return -1;
	const exact = names.findIndex(function (name, func) { return name === place.name && modules[func] === place.module; });
	return exact >= 0 ? exact : names.indexOf(place.name);
}

function findThread(place) {
	return profile.threads.findIndex(function (each) {
		return place && each.pid === place.pid && each.tid === place.tid && each.name === place.name;
	});
}

function replaceProfile(told, buffer) {
	about = told;
	page = told.page;
	toldValues = page.values.length;
	samplesValue = page.samples_value === undefined ? -1 : page.samples_value;
	ratios = page.ratios;
	addValues();
	profile = readProfile(buffer);
	kept.clear();
	panes.forEach(forget); // those that are hidden now would have nodes of the profile before
}

// What the new profile has of the selection. Slices are those of the window, so they move with it.
function selectAgain(places) {
	const named = valueNamed(places.value);
	value = named >= 0 ? named : page.value;
	ratio = ratios.find(function (each) { return each.name === places.ratio; }) || null;
	select(slices && hasTimes(value) && slices[1] <= profile.slices ? slices : null, findThread(places.thread));
	chosen = findFunction(places.chosen);
	missing = chosen < 0 ? places.chosen : null;
	markHits(testOf(pattern));
	zoom = places.zoom.path ? followPath(graphShape(inverted), places.zoom.path) : 0;
	lostZoom = places.zoom.path && pathText(graphShape(inverted), zoom) !== places.zoom.path ? Object.assign({}, places.zoom, { at: zoom }) : null;
}

// What is made once for a file.
function renewParts(places) {
	byId('title').textContent = page.title;
	byId('legend').removeAttribute('data-of');
	findEmptyColumns();
	showTabs();
	if (switchNames() !== places.switches) {
		byId('switches').textContent = '';
		switches = {};
		makeSwitches();
	}
	panes.forEach(function (pane) { pane.showHeading(); });
	byId('session').textContent = '';
	if (!byId('session').hidden)
		putRows(byId('session'), sessionWords());
}

// The box that has the focus, the one under the pointer, and the scrolled place.
function returnTo(places) {
	panes.forEach(function (pane, i) {
		const place = places.panes[i], top = pane.icicle ? place.distance : pane.height - place.distance;
		if (!pane.shape)
			return;
		pane.host.scrollTop = top;
		pane.focus = nodeOf(pane, place.focus);
		pane.over = nodeOf(pane, place.over);
		if (pane.focus >= 0)
			tellFocus(pane);
		if (pane.over >= 0)
			tellWords(wordsOf(pane, pane.over));
		if (pane.focus >= 0 || pane.over >= 0)
			draw(pane);
	});
	byId('source').scrollTop = places.source;
	const row = functionTable.rows.indexOf(findFunction(places.row));
	if (view === 'table' && row >= 0) {
		functionTable.row = row;
		fillRows(functionTable);
	}
}

function update(told, buffer) {
	const places = placesNow();
	replaceProfile(told, buffer);
	selectAgain(places);
	renewParts(places);
	showAll();
	returnTo(places);
	known = stateText();
}
