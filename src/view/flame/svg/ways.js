// SPDX-License-Identifier: BSD-2-Clause
// Switches between the trees of callees and callers, both exact, and flips them.

function toggleWay() {
	way = ways[1 - ways.indexOf(way)] || way;
	zoom = null;
	offset = 0;
	redraw();
	remember(true);
	toRoot();
}

function toggleIcicle() {
	icicle = !icicle;
	redraw();
	remember(true);
	toRoot();
}

// Scrolls to the root.
function toRoot() {
	if (alone)
		window.scrollTo(0, icicle ? 0 : height);
}

const inverting = makeButton(switches, 'Inverted', 'inverted', 'from the leaves to their callers ( i )', toggleWay);
const turning = makeButton(switches, 'Icicle', 'icicle', 'the root at the top ( c )', toggleIcicle);
keys.push(['i', 'inverted: from the leaves to their callers'], ['c', 'icicle: the root at the top']);

function showWay() {
	inverting.setAttribute('aria-pressed', way.inverted);
	turning.setAttribute('aria-pressed', icicle);
}
