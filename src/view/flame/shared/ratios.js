// SPDX-License-Identifier: BSD-2-Clause
// Ratios of two value types, as colours: what is better than the whole is blue, what is
// worse is orange.

// The class of the colour of a box whose ratio is so many times that of the whole.
function ratioStep(which, relative) {
	const factor = which.more_is_worse ? relative : 1 / relative;
	if (Number.isNaN(factor))
		return 'g';
	const steps = [[2, 'm4'], [1.5, 'm3'], [1.2, 'm2'], [1.05, 'm1'], [1 / 1.05, 'same'], [1 / 1.2, 'd1'], [1 / 1.5, 'd2'], [0.5, 'd3']];
	const step = steps.find(function (each) { return factor >= each[0]; });
	return step ? step[1] : 'd4';
}

function ratioMeaning(which, whole) {
	return which.name + ': ' + whole.toFixed(3) + ' overall; orange is ' + (which.more_is_worse ? 'more' : 'less') +
		', blue is ' + (which.more_is_worse ? 'less' : 'more');
}

// A line of a tooltip.
function ratioLine(which, own, whole) {
	return which.name + ' ' + (own === undefined ? 'unknown' : own.toFixed(3)) + ', overall ' + whole.toFixed(3);
}
