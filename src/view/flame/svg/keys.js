// SPDX-License-Identifier: BSD-2-Clause
// The keyboard. One box has the focus; the graph is one Tab stop.

function blurFrame() {
	if (focus)
		focus.rect.classList.remove('focus');
	focus = null;
	placeRing();
	hover(null);
}

function reveal(frame) {
	const at = frame.rect.getBoundingClientRect();
	if (alone && at.top < headHigh)
		window.scrollBy(0, at.top - headHigh - 60);
	else if (alone && at.bottom > window.innerHeight)
		window.scrollBy(0, at.bottom - window.innerHeight + 60);
}

function focusOn(frame) {
	if (focus === frame)
		hover(null);
	else
		blurFrame();
	focus = frame;
	frame.rect.setAttribute('tabindex', -1);
	frame.rect.setAttribute('role', 'treeitem');
	frame.rect.setAttribute('aria-level', frame.row + 1);
	frame.rect.setAttribute('aria-label', [frame.name].concat(aboutOf(frame)).join(', '));
	frame.rect.classList.add('focus');
	frame.rect.focus({ preventScroll: true });
	placeRing();
	reveal(frame);
	hover(frame);
	const at = frame.rect.getBoundingClientRect();
	moveTip(at.left + Math.min(at.width / 2, 60), at.top + at.height / 2);
}

function isThere(frame) {
	return frame && frame.shown;
}

function widestChild(frame) {
	let widest = null;
	for (const child of frame.children)
		if (isThere(child) && (!widest || child.end - child.begin > widest.end - widest.begin))
			widest = child;
	return widest;
}

function neighbour(frame, step) {
	const row = way.rows[frame.row];
	let at = frame.index + step;
	while (at >= 0 && at < row.length && !isThere(row[at]))
		at += step;
	return row[at];
}

function moveFocus(key) {
	const towardsLeaves = icicle ? 'ArrowDown' : 'ArrowUp';
	let to = null;
	if (!isThere(focus) || key === 'Home')
		to = zoom || way.rows[0] && way.rows[0][0];
	else if (key === 'ArrowLeft' || key === 'ArrowRight')
		to = neighbour(focus, key === 'ArrowLeft' ? -1 : 1);
	else
		to = key === towardsLeaves ? widestChild(focus) : focus.parent;
	if (isThere(to))
		focusOn(to);
}

function leave(typing) {
	if (helpIsOpen())
		toggleHelp();
	else if (typing || !zoom)
		clearSearch();
	else
		zoomTo(null);
	blurFrame();
}

function enterFrame() {
	if (!isThere(focus))
		return;
	zoomTo(focus);
	focusOn(focus);
}

// What the keys do outside fields and buttons.
const actions = {
	n: function () { goToHit(1); },
	N: function () { goToHit(-1); },
	'?': toggleHelp,
	Enter: enterFrame,
	Backspace: zoomOut,
	i: toggleWay,
	c: toggleIcicle,
	d: downloadFolded,
	v: nextValue,
	'[': function () { pan(-width / 4); },
	']': function () { pan(width / 4); },
};
for (const key of ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home'])
	actions[key] = function () { moveFocus(key); };
if (compared) {
	actions.b = switchSide;
	actions.a = switchScale;
}

function wantsSearch(event, typing) {
	if (typing)
		return false;
	return event.key === '/' || (alone && event.key === 'f' && (event.ctrlKey || event.metaKey));
}

function isControl(target) {
	return /^(input|select|button|a)$/i.test(target.localName || '');
}

window.addEventListener('keydown', function (event) {
	const typing = event.target === input;
	// Inside another page, keys belong to that page unless the graph has the focus.
	if (!alone && !svg.contains(event.target) && event.key !== '/' && event.key !== 'Escape')
		return;
	if (wantsSearch(event, typing)) {
		event.preventDefault();
		input.focus();
		input.select();
	} else if (event.key === 'Escape') {
		leave(typing);
	} else if (typing && event.key === 'Enter') {
		search(input.value);
		if (alone)
			input.blur(); // so that n and N work as keys again
	} else if (!event.ctrlKey && !event.metaKey && !event.altKey && Object.hasOwn(actions, event.key)) {
		// A button keeps the keys that press it, a field keeps all keys.
		if (typing || event.target.localName === 'select' || (isControl(event.target) && event.key === 'Enter'))
			return;
		event.preventDefault();
		actions[event.key]();
	}
});

for (const each of ways) {
	each.group.setAttribute('tabindex', 0);
	each.group.setAttribute('role', 'tree');
	each.group.setAttribute('aria-label', 'boxes; arrow keys move between them');
	each.group.addEventListener('focus', function () { moveFocus('Home'); });
}
