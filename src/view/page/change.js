// SPDX-License-Identifier: BSD-2-Clause
// In a comparison: how a box changed, as text and as a colour, and whether that is more than noise.
// The same as view/flame/flame_change.c and model/significance.c, for trees made here.

const BEFORE = 0, AFTER = 1, SAMPLES = 2; // values: the samples of a side are SAMPLES + side
let absolute = page.absolute;

function sidesOf(shape, node) {
	return [0, 1, 2, 3].map(function (which) { return costOf(shape, which).total[node]; });
}

function variance(weight, samples) {
	return samples > 0 ? weight * weight / samples : 0;
}

function shareEstimate(weight, samples, whole, wholeSamples) {
	if (whole <= 0 || wholeSamples <= 0)
		return { value: 0, variance: Infinity, grain: 0 };
	const share = weight / whole;
	const likely = (share * wholeSamples + 0.5) / (wholeSamples + 1);
	const weighed = (1 - share) * (1 - share) * variance(weight, samples) + share * share * variance(whole - weight, wholeSamples - samples);
	return { value: share, grain: 1 / wholeSamples, variance: Math.max(likely * (1 - likely) / wholeSamples, weighed / (whole * whole)) };
}

function amountEstimate(weight, samples, whole, wholeSamples) {
	if (wholeSamples <= 0)
		return { value: weight, variance: Infinity, grain: 0 };
	const grain = whole / wholeSamples;
	return { value: weight, grain: grain, variance: Math.max(grain * grain * (samples + 0.5), variance(weight, samples)) };
}

function differs(before, after) {
	const excess = Math.abs(after.value - before.value) - (after.grain + before.grain) / 2;
	return excess > 0 && excess >= page.change_deviations * Math.sqrt(after.variance + before.variance);
}

// Compares part and whole, each [before, after, samples before, samples after].
function compareSides(part, whole, isAbsolute) {
	const estimate = isAbsolute ? amountEstimate : shareEstimate;
	const before = estimate(part[BEFORE], part[SAMPLES], whole[BEFORE], whole[SAMPLES]);
	const after = estimate(part[AFTER], part[SAMPLES + 1], whole[AFTER], whole[SAMPLES + 1]);
	let points = after.value - before.value;
	if (isAbsolute)
		points /= whole[BEFORE] > 0 ? whole[BEFORE] : whole[AFTER] > 0 ? whole[AFTER] : 1;
	const level = differs(before, after) ? page.change_steps.filter(function (step) { return Math.abs(points) >= step; }).length : 0;
	return { color: level === 0 ? 'same' : (points > 0 ? 'm' : 'd') + level,
		mark: part[BEFORE] === 0 ? 'new ' : part[AFTER] === 0 ? 'gone ' : '', points: points,
		text: isAbsolute ? changeText(part[AFTER] - part[BEFORE], unitOf(AFTER)) : pointsText(points),
		relative: relativeText(before.value, after.value) };
}

// Cached, because each is needed several times while a box is drawn.
function changeOf(shape, node, isAbsolute) {
	const known = shape.changes || (shape.changes = [new Map(), new Map()]), which = known[isAbsolute ? 1 : 0];
	if (!which.has(node))
		which.set(node, compareSides(sidesOf(shape, node), sidesOf(shape, 0), isAbsolute));
	return which.get(node);
}

function changeWords(shape, node) {
	const part = sidesOf(shape, node), whole = sidesOf(shape, 0), unit = unitOf(AFTER);
	const share = changeOf(shape, node, false), amount = changeOf(shape, node, true);
	return [countText(part[SAMPLES]) + ' \u2192 ' + countText(part[SAMPLES + 1]) + ' samples',
		'share ' + percent(part[BEFORE], whole[BEFORE]) + ' \u2192 ' + percent(part[AFTER], whole[AFTER]) + ': ' + share.text + ', ' + share.relative,
		valueName(AFTER) + ' ' + quantity(part[BEFORE], unit) + ' \u2192 ' + quantity(part[AFTER], unit) + ': ' + amount.text + ', ' + amount.relative];
}
