// SPDX-License-Identifier: BSD-2-Clause
// The part above the graph: search, switches, the path to the zoomed box; and the help.

const TOOLS = 530, SWITCHES = 640, HELP = 560;
const TITLE_LEAST = 160, LINE = 15;

function makeTools(y, high) {
	const box = element(SVG, 'foreignObject', head);
	box.setAttribute('y', y);
	box.setAttribute('height', high);
	const tools = element(HTML, 'div', box);
	tools.setAttribute('class', 'tools');
	return tools;
}

function makeButton(tools, text, kind, tells, act) {
	const button = element(HTML, 'button', tools, text);
	button.setAttribute('class', kind);
	button.setAttribute('title', tells);
	button.addEventListener('click', act);
	return button;
}

const tools = makeTools(8, 30);
const found = element(HTML, 'span', tools, '');
found.setAttribute('class', 'found');
found.setAttribute('role', 'status');
const input = element(HTML, 'input', tools);
input.setAttribute('placeholder', 'search, regex  ( / )');
input.setAttribute('spellcheck', 'false');
input.setAttribute('aria-label', 'search function names');
const previous = makeButton(tools, '\u2039', 'previous', 'previous match ( N )', function () { goToHit(-1); });
const next = makeButton(tools, '\u203a', 'next', 'next match ( n )', function () { goToHit(1); });
const reset = makeButton(tools, 'Reset zoom', 'reset', 'show everything ( Esc )', function () { zoomTo(null); });
previous.disabled = next.disabled = reset.disabled = true;
let waiting = 0;
input.addEventListener('input', function () {
	clearTimeout(waiting);
	waiting = setTimeout(function () { search(input.value); }, 150);
});

const switches = makeTools(36, 26);

// The path to the zoomed box. The middle of a long one is left out.
const trail = makeTools(61, 22);
trail.setAttribute('class', 'tools trail');
trail.setAttribute('role', 'navigation');
trail.setAttribute('aria-label', 'callers of the zoomed box');

function showPath() {
	const path = zoom ? pathTo(zoom) : [];
	const left = path.length > 9 ? path.length - 8 : 0;
	reset.disabled = !zoom;
	trail.textContent = '';
	path.forEach(function (frame, i) {
		if (i > 0 && i < left)
			return;
		if (i > 0)
			element(HTML, 'span', trail, i === left ? '\u2026' : '\u203a');
		makeButton(trail, frame.name, 'crumb', frame.name, function () { zoomTo(frame); });
	});
}

// The title and the summary are left of the tools. If they do not fit side by side, they are
// stacked, and the head is taller.

const titleLine = head.querySelector('.title');
const aboutLine = head.querySelector('.about');
let aboutWords = aboutLine.textContent;

// Puts words into a line of the head. Returns their width.
function putLine(line, words) {
	line.textContent = words;
	return line.getComputedTextLength();
}

function putTitle(room) {
	const wide = putLine(titleLine, titleText);
	if (wide > room)
		titleLine.textContent = label(titleText, Math.floor(room * titleText.length / wide));
}

// Breaks the line between its parts. Returns the number of lines.
function breakAbout(wide, room) {
	const columns = room * aboutWords.length / Math.max(1, wide);
	const lines = [''];
	aboutWords.split(' \u00b7 ').forEach(function (part, i) {
		const last = lines.length - 1;
		lines[last] += i > 0 ? ' \u00b7 ' : '';
		if (i > 0 && lines[last].length + part.length > columns)
			lines.push(part);
		else
			lines[last] += part;
	});
	aboutLine.textContent = '';
	lines.forEach(function (words, i) {
		const line = element(SVG, 'tspan', aboutLine, words);
		line.setAttribute('x', MARGIN);
		line.setAttribute('dy', i > 0 ? LINE : 0);
	});
	return lines.length;
}

function placeTools(row, x, y, wide, high) {
	row.parentNode.setAttribute('x', x);
	row.parentNode.setAttribute('y', y);
	row.parentNode.setAttribute('width', wide);
	row.parentNode.setAttribute('height', high);
}

// Returns where the path to the zoomed box begins.
function layStacked(wide, room) {
	const y = 47 + LINE * (breakAbout(wide, room) - 1) + 8;
	placeTools(tools, MARGIN, y, room, 30);
	placeTools(switches, MARGIN, y + 30, room, 200);
	const high = Math.max(26, switches.offsetHeight);
	placeTools(switches, MARGIN, y + 30, room, high);
	return y + 30 + high + 2;
}

function layHead() {
	const room = width - 2 * MARGIN;
	const buttons = Array.from(switches.children).reduce(function (sum, child) { return sum + child.offsetWidth + 6; }, 0);
	const wide = putLine(aboutLine, aboutWords);
	const isStacked = TITLE_LEAST + TOOLS > room || wide + buttons + 12 > room;
	tools.classList.toggle('stacked', isStacked);
	switches.classList.toggle('stacked', isStacked);
	switches.classList.toggle('wrapped', isStacked);
	putTitle(isStacked ? room : room - TOOLS - 12);
	let y = 61;
	if (isStacked) {
		y = layStacked(wide, room);
	} else {
		placeTools(tools, width - MARGIN - TOOLS, 8, TOOLS, 30);
		placeTools(switches, width - MARGIN - Math.min(SWITCHES, room), 36, Math.min(SWITCHES, room), 26);
	}
	placeTools(trail, MARGIN, y, room, 22);
	setHead(y + 23);
}

function setHead(high) {
	headHigh = high;
	head.querySelector('.page').setAttribute('height', high - 4);
	for (const each of ways)
		each.group.setAttribute('transform', 'translate(0 ' + high + ')');
	if (way.rows)
		stackRows();
}

// Help

const help = element(SVG, 'foreignObject', svg);
help.setAttribute('class', 'help');
help.setAttribute('width', HELP);
help.setAttribute('display', 'none');

function fillHelp() {
	const panel = element(HTML, 'div', help);
	panel.setAttribute('role', 'dialog');
	panel.setAttribute('aria-label', 'keyboard shortcuts');
	panel.setAttribute('tabindex', -1);
	putKeys(panel);
	help.setAttribute('height', 34 + 22 * keys.length);
}

function helpIsOpen() {
	return !help.hasAttribute('display');
}

function toggleHelp() {
	if (helpIsOpen()) {
		help.setAttribute('display', 'none');
		return;
	}
	if (!help.firstChild)
		fillHelp();
	help.setAttribute('x', Math.max(MARGIN, (width - HELP) / 2));
	help.setAttribute('y', (alone ? window.scrollY : 0) + headHigh + 10);
	help.removeAttribute('display');
	help.firstChild.focus({ preventScroll: true });
}
