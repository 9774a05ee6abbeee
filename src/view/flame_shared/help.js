// SPDX-License-Identifier: BSD-2-Clause
// The list of keys; other parts add their own.

const keys = [
	['click, Enter', 'zoom to the box'],
	['Esc, double click on the ground', 'show everything; clear the search'],
	['Backspace', 'zoom out to the caller'],
	['drag, Shift + wheel, [ ]', 'move sideways while zoomed'],
	['/, Ctrl + F', 'search function names by regular expression'],
	['n, N', 'next and previous match'],
	['Tab, arrow keys, Home', 'go from box to box'],
	['?', 'this help'],
];

function putRows(panel, rows) {
	const table = element(HTML, 'table', panel);
	for (const words of rows) {
		const row = element(HTML, 'tr', table);
		element(HTML, 'th', row, words[0]);
		element(HTML, 'td', row, words[1]);
	}
}

function putKeys(panel) {
	putRows(panel, keys);
}
