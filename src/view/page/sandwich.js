// SPDX-License-Identifier: BSD-2-Clause
// The callers of a function above it, its callees below, over all its calls.

let chosen = -1; // a function; negative: none
let missing = null; // the name and module of a chosen function that this profile does not have
const sandwichPanes = []; // callers and callees, for each side

function makeSandwich() {
	const host = byId('halves');
	for (const which of compared ? [BEFORE, AFTER] : [null]) {
		const column = element(HTML, 'div', host);
		column.setAttribute('class', 'column');
		for (const kind of ['callers', 'callees']) {
			const pane = makeSide(column, function () { return which === null ? kind : kind + ', ' + sideHeading(which); }, kind, which);
			pane.kind = kind;
			pane.icicle = kind === 'callees';
			attachPointer(pane, function (node) {
				if (pane.shape.func[node] >= 0 && pane.shape.func[node] !== chosen)
					choose(pane.shape.func[node], 'sandwich');
			}, function () {});
			sandwichPanes.push(pane);
		}
	}
}

// Shows a function in a view.
function choose(func, where) {
	chosen = func;
	missing = null;
	setView(where);
}

// The chosen function, or the most expensive one if none was chosen.
function chosenOrFirst() {
	if (chosen < 0 && !missing) {
		const self = tally(value).self;
		for (let func = 0; func < self.length; func++)
			if (chosen < 0 || self[func] > self[chosen])
				chosen = func;
	}
	return chosen;
}

function costWords(func) {
	const words = function (which) {
		const cost = tally(which);
		return 'self ' + quantity(cost.self[func], unitOf(which)) + ' (' + percent(cost.self[func], cost.whole) + ') \u00b7 total ' +
			quantity(cost.total[func], unitOf(which)) + ' (' + percent(cost.total[func], cost.whole) + ')';
	};
	return compared ? 'before: ' + words(BEFORE) + '; after: ' + words(AFTER) : words(value);
}

function showChosen(place) {
	const func = chosenOrFirst();
	place.textContent = '';
	if (missing) {
		element(HTML, 'strong', place, missing.name).title = missing.name;
		element(HTML, 'span', place, 'has no samples here');
	}
	if (func < 0)
		return;
	element(HTML, 'strong', place, profile.functions.name[func]).title = profile.functions.name[func];
	element(HTML, 'span', place, (profile.functions.module[func] ? profile.functions.module[func] + ' \u00b7 ' : '') + costWords(func));
	const isSource = view === 'source';
	if (isSource || (VIEWS.source && profile.functions.source[func] > 0))
		makeButton(place, isSource ? 'Callers, callees' : 'Source', 'link', isSource ? 'its callers and callees ( s )' : 'its source lines ( l )',
			function () { choose(func, isSource ? 'sandwich' : 'source'); });
	makeButton(place, 'Show in graph', 'link', 'search for it in the graph', function () {
		setView('graph');
		byId('search').value = '^' + profile.functions.name[func].replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') + '$';
		search(byId('search').value);
	});
}

function showSandwich() {
	const func = chosenOrFirst();
	showChosen(byId('chosen'));
	byId('halves').hidden = func < 0;
	showFoot();
	if (func < 0)
		return;
	for (const pane of sandwichPanes) {
		pane.shape = keep(pane.kind + ' ' + [func, value, version].join(), function () {
			return pane.kind === 'callers' ? callersShape(func) : calleesShape(func);
		});
		pane.empty = 'no samples here';
		pane.end = compared && absolute ? Math.max(costOf(pane.shape, BEFORE).total[0], costOf(pane.shape, AFTER).total[0]) : 0;
		layOut(pane);
		toRoot(pane);
		draw(pane);
	}
}
