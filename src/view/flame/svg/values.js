// SPDX-License-Identifier: BSD-2-Clause
// For a profile with several value types: which one widths show, and ratios of two of them as
// colours.

const told = JSON.parse(svg.querySelector('metadata').textContent);
const values = told.drawn.values;
let ratio = null; // null: the default colours

const ratios = told.drawn.ratios;

// Undefined if a box is too narrow in one of the two.
function ratioOf(which, frame) {
	const part = frame.places[values.indexOf(which.part)];
	const whole = frame.places[values.indexOf(which.whole)];
	const isThere = whole.end > whole.begin && (part.end > part.begin || part.begin > 0);
	return isThere ? (part.end - part.begin) / (whole.end - whole.begin) : undefined;
}

function wholeRatio(which) {
	return totals[values.indexOf(which.part)] / totals[values.indexOf(which.whole)];
}

// How a box compares with the overall ratio, in steps.
function ratioClass(which, frame) {
	return ratioStep(which, ratioOf(which, frame) / wholeRatio(which));
}

function showRatio() {
	for (const frame of ratios.length > 0 ? way.frames : []) {
		if (frame.usual === undefined)
			frame.usual = colorOf(frame);
		paint(frame, ratio ? ratioClass(ratio, frame) : frame.usual);
	}
	showMeaning();
}

// Replaces the legend.
function showMeaning() {
	foot.classList.toggle('ratio', ratio !== null);
	const old = foot.querySelector('.meaning');
	if (old)
		old.remove();
	if (!ratio)
		return;
	const text = element(SVG, 'text', foot, ratioMeaning(ratio, wholeRatio(ratio)));
	text.setAttribute('class', 'meaning');
	text.setAttribute('x', MARGIN);
	text.setAttribute('y', 22);
}

// The lines of a tooltip.
function ratioWords(frame) {
	return ratios.map(function (each) {
		return ratioLine(each, ratioOf(each, frame), wholeRatio(each));
	});
}

function makeChoice(names, kind, tells, choose) {
	const choice = element(HTML, 'select', switches);
	choice.setAttribute('class', kind);
	choice.setAttribute('aria-label', tells);
	choice.setAttribute('title', tells);
	names.forEach(function (name) { element(HTML, 'option', choice, name); });
	choice.addEventListener('change', function () {
		choose(choice.selectedIndex);
		redraw();
		remember(true);
	});
	return choice;
}

const valueChoice = values.length > 1 ? makeChoice(values, 'value', 'what box widths show ( v )', function (i) { layer = i; }) : null;
const ratioChoice = ratios.length > 0 ? makeChoice(['default colours'].concat(ratios.map(function (each) { return each.name; })), 'ratio',
	'what colours show; blue is better than the overall value, orange is worse', function (i) { ratio = ratios[i - 1] || null; }) : null;
if (valueChoice)
	keys.push(['v', 'widths: next value']);

// Updates the head and the label of the picture for the value.
function showWhole() {
	const whole = told.drawn.wholes[layer];
	if (compared || whole === undefined)
		return;
	svg.setAttribute('aria-label', 'flame graph of ' + titleText + ': ' + whole);
	aboutWords = whole + told.drawn.judgement;
	layHead();
}

function showValues() {
	showWhole();
	if (valueChoice)
		valueChoice.selectedIndex = layer;
	if (ratioChoice)
		ratioChoice.selectedIndex = ratios.indexOf(ratio) + 1;
	showRatio();
}

function nextValue() {
	if (!valueChoice)
		return;
	layer = (layer + 1) % values.length;
	redraw();
	remember(true);
}
