// SPDX-License-Identifier: BSD-2-Clause
// Comparisons: widths of after or before, shares or amounts.

let widths = null, scaling = null;

// Applies the colours of the comparison.
function showChange() {
	if (!compared)
		return;
	for (const frame of way.frames)
		paint(frame, frame.colors[absolute ? 1 : 0]);
	widths.textContent = 'Widths: ' + ['after', 'before'][layer];
	scaling.textContent = 'Compare: ' + (absolute ? 'amounts' : 'shares');
}

function switchSide() {
	layer = 1 - layer;
	redraw();
	remember(true);
}

function switchScale() {
	absolute = !absolute;
	redraw();
	remember(true);
}

if (compared) {
	widths = makeButton(switches, '', 'widths', 'switch widths between after and before ( b )', switchSide);
	scaling = makeButton(switches, '', 'scale', 'compare shares of the total, or amounts on one scale ( a )', switchScale);
	keys.push(['b', 'switch widths between after and before'], ['a', 'compare shares or amounts']);
}
