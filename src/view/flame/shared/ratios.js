// SPDX-License-Identifier: BSD-2-Clause
// Ratios of two value types, as colours: better than the overall ratio is blue, worse is orange.

// The colour class of a box by its ratio relative to the overall ratio.
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
