// SPDX-License-Identifier: BSD-2-Clause
// Notable events over time, and the sites that cause them.

let tellings = null;

// Spikes, steps and growth with their numbers; plateaus lie between them.
function told() {
	if (!tellings)
		tellings = heap.findings.map(function (finding, i) { return Object.assign({ index: i }, finding); })
			.filter(function (finding) { return finding.kind !== 'plateau'; })
			.map(function (finding, i) { return Object.assign(finding, { number: i + 1 }); });
	return tellings;
}

function findingWords(finding) {
	const when = timeText(finding.from_ns) + ' \u2013 ' + timeText(finding.to_ns);
	if (finding.kind === 'spike')
		return 'spike to ' + bytesText(finding.level) + ' (' + changeText(finding.change, 'bytes') + '), ' + when;
	if (finding.kind === 'growth')
		return 'growth to ' + bytesText(finding.level) + ' (' + changeText(finding.change, 'bytes') + '), ' + when;
	return (finding.change < 0 ? 'step down to ' : 'step up to ') + bytesText(finding.level) + ' (' + changeText(finding.change, 'bytes') + '), ' + when;
}

// Stacks of one site count as one cause; small ones are left out.
function causesOf(finding) {
	const sums = new Map();
	for (const cause of finding.causes)
		if (cause[0] !== null)
			sums.set(cause[0], (sums.get(cause[0]) || 0) + cause[1]);
	return Array.from(sums).filter(function (each) { return Math.abs(each[1]) >= 0.02 * Math.abs(finding.change); }).sort(function (a, b) { return Math.abs(b[1]) - Math.abs(a[1]); });
}

function putPlace(parent, site, words) {
	makeButton(parent, placeText(heap.sites[site]), 'plain place', 'show its stacks', function () { chooseSite(site, true); });
	element(HTML, 'span', parent, ' ' + words);
}

function mark(index) {
	marked = marked === index ? -1 : index;
	for (const button of document.querySelectorAll('[data-finding]'))
		button.setAttribute('aria-pressed', Number(button.getAttribute('data-finding')) === marked);
	drawChart();
}

function putFinding(list, finding) {
	const item = element(HTML, 'li', list);
	const button = makeButton(item, finding.number + '. ' + findingWords(finding), 'plain', 'mark in the chart', function () { mark(finding.index); });
	button.setAttribute('data-finding', finding.index);
	button.setAttribute('aria-pressed', false);
	for (const cause of causesOf(finding)) {
		const line = element(HTML, 'div', item);
		line.setAttribute('class', 'cause');
		putPlace(line, cause[0], changeText(cause[1], 'bytes'));
	}
}

// Sites that are live at the end, grew linearly and by enough to matter.
function growing() {
	const sums = new Map();
	for (const growth of heap.growths)
		if (growth[0] !== null && growth[1] > 0 && growth[2] >= 0.8 && growth[1] * heap.whole_ns / 1e9 >= 0.01 * heap.totals.peak.bytes) {
			const sum = sums.get(growth[0]) || { site: growth[0], rate: 0, fit: 1 };
			sum.rate += growth[1];
			sum.fit = Math.min(sum.fit, growth[2]);
			sums.set(growth[0], sum);
		}
	return Array.from(sums.values()).sort(function (a, b) { return b.rate - a.rate; });
}

function putColumn(heading, nothing) {
	const column = element(HTML, 'div', byId('findings'));
	element(HTML, 'h3', column, heading);
	const list = element(HTML, 'ul', column);
	list.setAttribute('class', 'told');
	if (nothing)
		element(HTML, 'li', list, nothing);
	return list;
}

function showFindings() {
	const plateaus = heap.findings.filter(function (finding) { return finding.kind === 'plateau' && finding.level > 0.02 * heap.totals.peak.bytes; });
	const grown = growing();
	const list = putColumn('Spikes and steps', told().length === 0 ? 'None: memory rises and falls gradually, or too fast to detect.' : '');
	for (const finding of told())
		putFinding(list, finding);
	const growths = putColumn('Growth and plateaus', grown.length + plateaus.length === 0 ? 'No site grows steadily, and there are no plateaus.' : '');
	for (const growth of grown) {
		const item = element(HTML, 'li', growths);
		element(HTML, 'span', item, 'grows steadily by ' + bytesText(growth.rate) + '/s (R\u00b2 ' + growth.fit.toFixed(2) + '): ');
		putPlace(item, growth.site, bytesText(heap.sites[growth.site].live.bytes) + ' at the end');
	}
	for (const plateau of plateaus) {
		const item = element(HTML, 'li', growths), index = heap.findings.indexOf(plateau);
		const button = makeButton(item, 'plateau at ' + bytesText(plateau.level) + ', ' + timeText(plateau.from_ns) + ' \u2013 ' + timeText(plateau.to_ns), 'plain',
			'mark in the chart', function () { mark(index); });
		button.setAttribute('data-finding', index);
		button.setAttribute('aria-pressed', false);
	}
}
