// SPDX-License-Identifier: BSD-2-Clause
// The lines of a function with their costs, and their text if the file has it.

const AROUND = 6; // lines shown before the first and after the last one with samples

// The cost of lines in the selection, by file: maps from line to self and total. A stack counts
// once.
function lineCosts() {
	return keep('linecosts ' + [value, version].join(), function () {
		const lines = profile.lines, entries = profile.entries, amounts = entryCosts(value), seen = new Int32Array(lines.count).fill(-1);
		const self = new Float64Array(lines.count), total = new Float64Array(lines.count);
		for (let i = 0; i < entries.count; i++) {
			if (amounts[i] === 0)
				continue;
			for (let node = entries.lines[i] >> 1; node > 0; node = lines.parent[node])
				if (seen[lines.at[node]] !== i) {
					seen[lines.at[node]] = i;
					total[lines.at[node]] += amounts[i];
				}
			if (entries.lines[i] & 1)
				self[lines.at[entries.lines[i] >> 1]] += amounts[i];
		}
		const files = profile.sources.map(function () { return new Map(); });
		for (let i = 0; i < lines.count; i++)
			if (total[i] !== 0)
				files[lines.file[i]].set(lines.line[i], { self: self[i], total: total[i] });
		return files;
	});
}

// A very large file has no lines of stacks: then only the costs of the whole recording are known.
function hasLineCosts() {
	return profile.lines.count > 0;
}

// The lines to show: those with text, and those with costs but without text.
function linesToShow(file, costs, func) {
	const first = profile.functions.first[func] - AROUND, last = profile.functions.last[func] + AROUND;
	const lines = new Set();
	for (const line of file.lines.keys())
		if (line >= first && line <= last)
			lines.add(line);
	for (const line of costs.keys())
		if (line >= first && line <= last)
			lines.add(line);
	return Array.from(lines).sort(function (a, b) { return a - b; });
}

function putSourceLine(body, file, costs, line, whole) {
	const row = element(HTML, 'tr', body), cost = costs.get(line);
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

// Indexed by the state of a file without text, see page_source.h.
const SOURCE_LACKS = ['', '', 'source not found', 'source left out: the file is outside its compilation directory (add its directory with --source-path DIR)',
	'source left out: recording, program, debug information and source do not all belong to the user who made this page, or to root (--source includes it)',
	'source left out: the owner of the program cannot read the file'];

function sourceNote(file) {
	if (file.lines.size === 0)
		return ' \u00b7 ' + (SOURCE_LACKS[file.state] || 'source left out') + '; showing only lines with samples';
	return file.state === 1 ? ' \u00b7 the file has changed since the recording: lines may have moved' : '';
}

function showSource() {
	const func = chosenOrFirst(), body = byId('lines'), about = byId('file');
	showChosen(byId('sourceof'));
	body.textContent = '';
	about.textContent = 'this function has no source line information';
	showFoot();
	const id = func >= 0 ? profile.functions.source[func] - 1 : -1, file = id >= 0 ? profile.sources[id] : null;
	byId('code').hidden = !file;
	if (!file)
		return;
	const costs = hasLineCosts() ? lineCosts()[id] : file.costs, amounts = hasLineCosts() ? entryCosts(value) : wholeOf(page.value);
	const whole = amounts.reduce(function (sum, cost) { return sum + cost; }, 0);
	about.textContent = file.name + ' \u00b7 shares of ' + valueName(hasLineCosts() ? value : page.value) +
		(hasLineCosts() && (slices || thread >= 0) ? ' in the selection' : ' in the whole recording') + sourceNote(file);
	let last = 0;
	for (const line of linesToShow(file, costs, func)) {
		if (last > 0 && line > last + 1)
			element(HTML, 'td', element(HTML, 'tr', body), '\u22ee').setAttribute('colspan', 4);
		putSourceLine(body, file, costs, line, whole);
		last = line;
	}
	const dearest = Array.from(body.querySelectorAll('.hot')).sort(function (a, b) {
		return parseFloat(b.firstChild.textContent) - parseFloat(a.firstChild.textContent);
	})[0];
	if (dearest)
		dearest.scrollIntoView({ block: 'center' });
}
