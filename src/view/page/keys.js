// SPDX-License-Identifier: BSD-2-Clause
// The keyboard. In a pane one box has the focus; a pane is one Tab stop.

function unfocus() {
	for (const pane of panes) {
		pane.focus = -1;
		pane.host.removeAttribute('aria-activedescendant');
	}
}

// Tells screen readers which box has the focus.
function tellFocus(pane) {
	pane.item.setAttribute('aria-level', pane.shape.depth[pane.focus] + 1);
	pane.item.setAttribute('aria-label', wordsOf(pane, pane.focus).join(', '));
	pane.host.setAttribute('aria-activedescendant', pane.item.id);
}

function focusOn(pane, node) {
	unfocus();
	pane.focus = node;
	tellFocus(pane);
	pane.host.focus({ preventScroll: true });
	reveal(pane, pane.shape.depth[node]);
	draw(pane);
	hover(pane, node);
	const at = boxOf(pane, node), rect = pane.host.getBoundingClientRect();
	if (at >= 0)
		moveTip(rect.left + MARGIN + pane.left[at] + Math.min(60, (pane.right[at] - pane.left[at]) / 2),
			rect.top + topOf(pane, pane.shape.depth[node]) - pane.host.scrollTop + BOX / 2);
}

function paneWithFocus() {
	return panes.find(function (pane) { return pane.host === document.activeElement; });
}

function widestChild(pane, node) {
	const shape = pane.shape, total = pane.cost.total;
	let widest = -1;
	for (let child = node + 1; child < shape.end[node]; child = shape.end[child])
		if (boxOf(pane, child) >= 0 && (widest < 0 || total[child] > total[widest]))
			widest = child;
	return widest;
}

function neighbour(pane, node, step) {
	const row = pane.rows[pane.shape.depth[node]];
	const to = row[row.indexOf(boxOf(pane, node)) + step];
	return to === undefined ? -1 : pane.node[to];
}

function moveFocus(pane, key) {
	const towardsLeaves = pane.icicle ? 'ArrowDown' : 'ArrowUp';
	let to = -1;
	if (pane.focus < 0 || boxOf(pane, pane.focus) < 0 || key === 'Home')
		to = pane.node.length > 0 ? pane.zoom : -1;
	else if (key === 'ArrowLeft' || key === 'ArrowRight')
		to = neighbour(pane, pane.focus, key === 'ArrowLeft' ? -1 : 1);
	else if (key === towardsLeaves)
		to = widestChild(pane, pane.focus);
	else
		to = pane.shape.parent[pane.focus];
	if (to >= 0 && boxOf(pane, to) >= 0)
		focusOn(pane, to);
}

function moveKey(key) {
	if (view === 'table') {
		rowKey(functionTable, key);
		return;
	}
	const pane = paneWithFocus() || { graph: shownPanes()[0], sandwich: sandwichPanes[0] }[view];
	if (pane && /^(Arrow|Home)/.test(key))
		moveFocus(pane, key);
}

function enter() {
	const pane = paneWithFocus(), rows = functionTable.rows;
	if (view === 'table' && rows.length > 0) { // keys go to the table regardless of the focus
		choose(rows[functionTable.row], 'sandwich');
	} else if (pane && pane.focus >= 0 && graphPanes.includes(pane)) {
		const node = pane.focus;
		zoomTo(node);
		focusOn(pane, node);
	} else if (pane && pane.focus >= 0 && pane.shape.func[pane.focus] >= 0) {
		choose(pane.shape.func[pane.focus], 'sandwich');
	}
}

// The focused function, or that of the zoomed box.
function functionAtHand() {
	const pane = paneWithFocus(), rows = functionTable.rows;
	if (view === 'table') // the selected row
		return rows.length > 0 && byId('table').contains(document.activeElement) ? rows[functionTable.row] : chosen;
	if (pane && pane.focus >= 0)
		return pane.shape.func[pane.focus];
	return view === 'graph' && zoom > 0 ? graphPanes[0].shape.func[zoom] : chosen;
}

// Switches to a view; views of a single function show the current one.
function lookAt(where) {
	const func = functionAtHand();
	if (func >= 0 && (where === 'sandwich' || where === 'source')) {
		chosen = func;
		missing = null;
	}
	if (Object.hasOwn(VIEWS, where))
		setView(where);
}

function leave(typing) {
	const open = ['help', 'session'].filter(function (id) { return !byId(id).hidden; });
	if (open.length > 0)
		open.forEach(togglePanel);
	else if (typing || (zoom === 0 && pattern) || (view !== 'graph' && pattern))
		clearSearch();
	else if (view === 'graph' && zoom > 0)
		zoomTo(0);
	else if (slices || thread >= 0)
		selectPart(null, -1);
	unfocus();
	panes.forEach(draw);
	hover(null, -1);
}

function clearSearch() {
	byId('search').value = '';
	byId('search').blur();
	search('');
}

const actions = {
	n: function () { goToHit(1); },
	N: function () { goToHit(-1); },
	'?': toggleHelp,
	Enter: enter,
	Backspace: function () { if (view === 'graph') zoomOut(); },
	i: toggleWay,
	t: toggleTheme,
	r: toggleSession,
	c: toggleIcicle,
	d: downloadFolded,
	v: nextValue,
	b: function () { by = (by + 1) % switches.by.length; zoom = offset = 0; showAll(); remember(true); },
	s: function () { lookAt('sandwich'); },
	l: function () { lookAt('source'); },
	'[': function () { panBy(-roomOf(shownPanes()[0]) / 4); },
	']': function () { panBy(roomOf(shownPanes()[0]) / 4); },
};
for (const key of ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown'])
	actions[key] = function () { moveKey(key); };
['graph', 'table', 'sandwich', 'source'].forEach(function (name, i) {
	actions[i + 1] = function () { lookAt(name); };
});
if (compared) {
	actions.a = toggleScale;
	actions.o = nextSides;
}
keys.push(['1 2 3 4', 'flame graph, table, callers and callees, source'], ['s, Ctrl + click', 'callers and callees of the function'],
	['l', 'source lines of the function'], ['i', 'inverted: from the leaves to their callers'], ['c', 'icicle: the root at the top'],
	['b', 'group by process, thread or nothing'], ['d', 'download this view as folded stacks'],
	['t', 'dark or light'], ['r', 'how the recording was made']);
if (!compared && page.values.length > 1)
	keys.push(['v', 'widths: next value']);
if (compared)
	keys.push(['a', 'compare shares or amounts'], ['o', 'both graphs, or one of them']);

function isControl(target) {
	return /^(input|select|button|a)$/i.test(target.localName || '');
}

function onKey(event) {
	const typing = event.target === byId('search');
	if ((!typing && event.key === '/') || (event.key === 'f' && (event.ctrlKey || event.metaKey))) {
		event.preventDefault();
		byId('search').focus();
		byId('search').select();
	} else if (event.key === 'Escape') {
		leave(typing);
	} else if (typing && event.key === 'Enter') {
		search(byId('search').value);
		byId('search').blur(); // so that n and N work as keys again
	} else if (!event.ctrlKey && !event.metaKey && !event.altKey && Object.hasOwn(actions, event.key)) {
		// A button keeps the keys that press it, a field keeps all keys.
		if (typing || event.target.localName === 'select' || (isControl(event.target) && event.key === 'Enter'))
			return;
		event.preventDefault();
		actions[event.key]();
	}
}
