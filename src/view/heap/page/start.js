// SPDX-License-Identifier: BSD-2-Clause
// The keyboard, the view in the fragment of the address, and the start.
//
//	#s=parse&o=-allocated&f=parse~3
//
// s: the filter; o: the sort order of sites; f: the selected site.

let isReady = false;

function remember() {
	if (!isReady)
		return;
	const parts = [];
	if (pattern)
		parts.push('s=' + encode(pattern));
	if (orderText(siteTable) !== '-peak')
		parts.push('o=' + orderText(siteTable));
	if (chosen >= 0)
		parts.push('f=' + stepText(cut(heap.sites[chosen].function_name), chosen));
	try {
		history.replaceState(null, '', '#' + parts.join('&'));
	} catch (problem) {
		// If the address cannot be changed, nothing is remembered.
	}
}

// By name; the number distinguishes sites with the same name.
function readSite(text) {
	const wanted = readStep(text || ''), site = heap.sites[wanted.which];
	if (!text || site && cut(site.function_name) === wanted.name)
		return text ? wanted.which : -1;
	return heap.sites.findIndex(function (each) { return cut(each.function_name) === wanted.name; });
}

function restore() {
	const state = readState(location.hash);
	isReady = false;
	readOrder(siteTable, state.o, 'peak');
	filter(decode(state.s || ''));
	chooseSite(readSite(state.f), false);
	isReady = true;
}

function showAll() {
	showTheme();
	drawChart();
	drawMemory();
	drawMap();
}

function leave() {
	const open = ['help', 'session'].filter(function (id) { return !byId(id).hidden; });
	if (open.length > 0)
		open.forEach(togglePanel);
	else if (pattern || document.activeElement === byId('search'))
		filter('');
	else if (leakTable.chosen >= 0)
		chooseLeak(leakTable.chosen);
	else
		chooseSite(-1, false);
	byId('search').blur();
}

const actions = { '?': toggleHelp, t: toggleTheme, r: toggleSession };
keys.push(['t', 'dark or light'], ['r', 'how the recording was made'], ['Esc', 'close; clear the filter'], ['?', 'this help']);

function onKey(event) {
	const isTyping = event.target === byId('search');
	if ((!isTyping && event.key === '/') || (event.key === 'f' && (event.ctrlKey || event.metaKey))) {
		event.preventDefault();
		byId('search').focus();
		byId('search').select();
	} else if (event.key === 'Escape') {
		leave();
	} else if (isTyping && event.key === 'Enter') {
		filter(byId('search').value);
		byId('sites').focus({ preventScroll: true });
	} else if (!isTyping && !event.ctrlKey && !event.metaKey && !event.altKey && Object.hasOwn(actions, event.key)) {
		event.preventDefault();
		actions[event.key]();
	}
}

function makeSwitches() {
	const host = byId('switches');
	makeButton(host, '\u25d0', 'theme', 'dark or light ( t )', toggleTheme).setAttribute('aria-label', 'dark or light');
	makeButton(host, 'About', 'session', 'how the recording was made ( r )', toggleSession);
	makeButton(host, '?', 'keys', 'keyboard shortcuts ( ? )', toggleHelp);
}

function start(buffer) {
	readHeap(buffer);
	byId('title').textContent = plain(about.heading);
	byId('summary').textContent = 'heap \u00b7 ' + timeText(about.recorded_ns || about.duration_ns) + ' recorded \u00b7 ' + countText(heap.quality.events) + ' events \u00b7 ' +
		(heap.threads.length === 1 ? 'one thread' : countText(heap.threads.length) + ' threads');
	makeSwitches();
	watchTheme();
	showFacts();
	showDoubts();
	makeChart();
	makeMemory();
	makeMap();
	showFindings();
	makeLeaks();
	makeSites();
	showSizes();
	putLifetimes(byId('lives'), heap.lifetimes);
	makeThreads();
	showRows(threadTable);
	restore();
	drawMemory();
	drawMap();
	window.addEventListener('keydown', onKey);
	window.addEventListener('hashchange', restore);
	window.addEventListener('resize', function () {
		drawChart();
		drawMemory();
		drawMap();
		fillRows(leakTable);
		fillRows(siteTable);
	});
	// A read-only interface for programs.
	Object.defineProperty(window, 'wickPage', { value: Object.freeze({ version: about.wick, rows: function () { return tableTexts(siteTable); },
		leaks: function () { return tableTexts(leakTable); },
		threads: function () { return tableTexts(threadTable); } }) });
}

unpack('heap').then(start).catch(tellProblem);
