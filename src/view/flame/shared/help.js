// SPDX-License-Identifier: BSD-2-Clause
// The list of keys; other scripts add their own.

const keys = [];

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
