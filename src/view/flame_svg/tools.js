// SPDX-License-Identifier: BSD-2-Clause
// What is above the graph: search, switches, the way to the zoomed box; and the help.

const TOOLS = 560, SWITCHES = 640, HELP = 560;

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

// The way to the zoomed box. Of a long one the middle is left out.
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

// Help

const help = element(SVG, 'foreignObject', svg);
help.setAttribute('class', 'help');
help.setAttribute('width', HELP);
help.setAttribute('display', 'none');

function fillHelp() {
	const panel = element(HTML, 'div', help);
	panel.setAttribute('role', 'dialog');
	panel.setAttribute('aria-label', 'keys');
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
	help.setAttribute('y', (alone ? window.scrollY : 0) + HEAD + 10);
	help.removeAttribute('display');
	help.firstChild.focus({ preventScroll: true });
}
