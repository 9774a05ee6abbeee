// SPDX-License-Identifier: BSD-2-Clause
// The lines of a function with what they cost, and their text where the file has it.

const AROUND = 6; // lines before the first and behind the last one with samples

// The lines to show: those with text, and those with costs where there is none.
function linesToShow(file, func) {
	const first = profile.functions.first[func] - AROUND, last = profile.functions.last[func] + AROUND;
	const lines = new Set();
	for (const line of file.lines.keys())
		if (line >= first && line <= last)
			lines.add(line);
	for (const line of file.costs.keys())
		if (line >= first && line <= last)
			lines.add(line);
	return Array.from(lines).sort(function (a, b) { return a - b; });
}

function putSourceLine(body, file, line, whole) {
	const row = element(HTML, 'tr', body), cost = file.costs.get(line);
	for (const part of ['self', 'total']) {
		const cell = element(HTML, 'td', row, cost && cost[part] ? percent(cost[part], whole) : '');
		cell.setAttribute('class', 'share');
		if (cost)
			cell.style.setProperty('--share', percent(cost[part], whole));
	}
	element(HTML, 'td', row, line).setAttribute('class', 'line');
	element(HTML, 'td', row, file.lines.get(line) || '').setAttribute('class', 'code');
	if (cost && cost.self > 0)
		row.classList.add('hot');
}

function sourceNote(file) {
	if (file.lines.size === 0)
		return ' \u00b7 the source was not at hand, or left out: lines with samples only';
	return file.changed ? ' \u00b7 the file was changed after the recording: lines may be shifted' : '';
}

function showSource() {
	const func = chosenOrFirst(), body = byId('lines'), about = byId('file');
	showChosen(byId('sourceof'));
	body.textContent = '';
	about.textContent = 'no source lines are known of this function';
	showFoot();
	const file = func >= 0 && profile.functions.source[func] > 0 ? profile.sources[profile.functions.source[func] - 1] : null;
	byId('code').hidden = !file;
	if (!file)
		return;
	const entries = profile.entries.values[page.value];
	const whole = entries.reduce(function (sum, cost) { return sum + cost; }, 0);
	about.textContent = file.name + ' \u00b7 shares of ' + valueName(page.value) + ' of the whole recording' + sourceNote(file);
	let last = 0;
	for (const line of linesToShow(file, func)) {
		if (last > 0 && line > last + 1)
			element(HTML, 'td', element(HTML, 'tr', body), '\u22ee').setAttribute('colspan', 4);
		putSourceLine(body, file, line, whole);
		last = line;
	}
	const dearest = Array.from(body.querySelectorAll('.hot')).sort(function (a, b) {
		return parseFloat(b.firstChild.textContent) - parseFloat(a.firstChild.textContent);
	})[0];
	if (dearest)
		dearest.scrollIntoView({ block: 'center' });
}
