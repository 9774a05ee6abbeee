// SPDX-License-Identifier: BSD-2-Clause
// Numbers as people read them: what base/quantity.c writes.

const STEPS = {
	nanoseconds: [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']],
	bytes: [[1 << 30, 'GiB'], [1 << 20, 'MiB'], [1024, 'KiB'], [1, 'B']],
};

function countText(count) {
	return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

function scaledText(value, steps) {
	const last = steps.length - 1;
	let i = 0;
	if (value === 0)
		return '0';
	while (i < last && Math.abs(value) < steps[i][0])
		i++;
	const power = i === last ? 1 : 10;
	if (i > 0 && Math.round(Math.abs(value) / steps[i][0] * power) / power * steps[i][0] >= steps[i - 1][0])
		i--;
	const scaled = value / steps[i][0];
	return scaled.toFixed(i === last ? 0 : Math.abs(scaled) < 9.995 ? 2 : 1) + ' ' + steps[i][1];
}

function quantity(value, unit) {
	return Object.hasOwn(STEPS, unit) ? scaledText(value, STEPS[unit]) : countText(value);
}

function changeText(change, unit) {
	return (change > 0 ? '+' : '') + quantity(change, unit);
}

// A rounded 0 has no sign.
function signed(value, suffix) {
	return Math.abs(value) < 0.05 ? '0.0' + suffix : (value > 0 ? '+' : '') + value.toFixed(1) + suffix;
}

function pointsText(change) {
	return signed(100 * change, ' pp');
}

function relativeText(before, after) {
	if (before === 0 || after === 0)
		return before === after ? '-' : before === 0 ? 'new' : 'gone';
	return signed(100 * (after / before - 1), '%');
}

// The next larger of 1, 2, 5, 10, 20 ...: distances of marks on an axis.
function roundStep(least) {
	const power = Math.pow(10, Math.floor(Math.log10(least)));
	return [1, 2, 5, 10].map(function (times) { return times * power; }).find(function (each) { return each >= least; });
}
