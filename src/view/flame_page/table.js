// SPDX-License-Identifier: BSD-2-Clause
// The table of functions: self and total, sorted and filtered. Only rows in the window are
// in the document.

const LINE = 24; // pixels of a row
let sort = compared ? 'change' : 'self';
let upwards = false;
let rows = [];     // functions, as they are sorted
let row = 0;       // the one that the keys are at

function amountColumn(key, title, which, part) {
	return { key: key, title: title, number: function (func) { return tally(which())[part][func]; },
		text: function (func) { return quantity(tally(which())[part][func], unitOf(which())); } };
}

function shareColumn(key, title, which, part) {
	return { key: key, title: title, share: true, number: function (func) { return tally(which())[part][func]; },
		text: function (func) { return percent(tally(which())[part][func], tally(which()).whole); } };
}

function sidesOfFunction(func) {
	return [0, 1, 2, 3].map(function (which) { return tally(which).total[func]; });
}

function changeOfFunction(func) {
	return compareSides(sidesOfFunction(func), [0, 1, 2, 3].map(function (which) { return tally(which).whole; }), absolute);
}

function namedColumn(key, title, texts) {
	return { key: key, title: title, words: true, number: null, text: function (func) { return texts()[func]; } };
}

const shown = function () { return value; };
const side = function (which) { return function () { return which; }; };
const nameColumns = [
	namedColumn('name', 'Function', function () { return profile.functions.name; }),
	namedColumn('module', 'Module', function () { return profile.functions.module; }),
	namedColumn('file', 'File', function () { return profile.functions.file; }),
];
const tableColumns = (compared ? [
	{ key: 'change', title: 'Change', number: function (func) { return Math.abs(changeOfFunction(func).points); },
		text: function (func) { return changeOfFunction(func).text; }, paint: function (func) { return changeOfFunction(func).color; } },
	amountColumn('before', 'Total before', side(BEFORE), 'total'), shareColumn('beforeshare', '%', side(BEFORE), 'total'),
	amountColumn('after', 'Total after', side(AFTER), 'total'), shareColumn('aftershare', '%', side(AFTER), 'total'),
	amountColumn('selfbefore', 'Self before', side(BEFORE), 'self'), amountColumn('selfafter', 'Self after', side(AFTER), 'self'),
] : [
	amountColumn('self', 'Self', shown, 'self'), shareColumn('selfshare', '%', shown, 'self'),
	amountColumn('total', 'Total', shown, 'total'), shareColumn('totalshare', '%', shown, 'total'),
]).concat(nameColumns);

function makeTable() {
	const heads = byId('heads');
	for (const key of ['module', 'file']) // which other formats do not tell
		if (!profile.functions[key].some(function (text) { return text !== ''; }))
			tableColumns.splice(tableColumns.findIndex(function (each) { return each.key === key; }), 1);
	for (const column of tableColumns) {
		const head = element(HTML, 'th', heads);
		head.setAttribute('scope', 'col');
		head.setAttribute('class', column.words ? 'words' : column.share ? 'share' : 'number');
		column.head = head;
		makeButton(head, column.title, 'sort', 'sort by ' + column.title, function () { sortBy(column.key); });
	}
	byId('table').addEventListener('scroll', fillTable);
	byId('rows').addEventListener('click', function (event) {
		const line = event.target.closest('tr[data-func]');
		if (line && String(window.getSelection()) === '') // who marks a name wants to copy it
			choose(Number(line.getAttribute('data-func')), 'sandwich');
	});
}

function sortBy(key) {
	const column = tableColumns.find(function (each) { return each.key === key; });
	upwards = sort === key ? !upwards : Boolean(column.words);
	sort = key;
	showTable();
	remember(true);
}

function isInTable(func) {
	if (pattern && !hitFunctions[func])
		return false;
	return compared ? tally(BEFORE).total[func] !== 0 || tally(AFTER).total[func] !== 0 : tally(value).total[func] !== 0;
}

function showTable() {
	const column = tableColumns.find(function (each) { return each.key === sort; }) || tableColumns[0];
	const direction = upwards ? 1 : -1;
	rows = [];
	for (let func = 0; func < profile.functions.count; func++)
		if (isInTable(func))
			rows.push(func);
	// Functions are in alphabetical order: this is the last key.
	const keys = column.words ? column.key === 'name' ? null : rows.map(column.text) : rows.map(column.number);
	const order = rows.map(function (func, i) { return i; });
	const totals = tally(compared ? AFTER : value).total; // of those that are equal, the dearer one comes first
	order.sort(function (a, b) {
		const first = keys ? keys[a] : a, second = keys ? keys[b] : b;
		return first < second ? -direction : first > second ? direction : totals[rows[b]] - totals[rows[a]] || a - b;
	});
	rows = order.map(function (i) { return rows[i]; });
	row = Math.min(row, Math.max(0, rows.length - 1));
	for (const each of tableColumns)
		if (each === column)
			each.head.setAttribute('aria-sort', upwards ? 'ascending' : 'descending');
		else
			each.head.removeAttribute('aria-sort');
	byId('functions').setAttribute('aria-rowcount', rows.length + 1);
	fillTable();
	showFoot();
}

function fillCell(cell, column, func) {
	cell.textContent = column.text(func);
	cell.className = column.words ? 'words' : column.share ? 'share' : 'number';
	if (column.words)
		cell.title = column.text(func);
	if (column.share)
		cell.style.setProperty('--share', column.text(func));
	if (column.paint && column.paint(func) !== 'same') {
		cell.style.background = fillOf(column.paint(func), 0).color;
		cell.style.color = page.text;
	}
}

// Rows in the window and some around them.
function fillTable() {
	const host = byId('table'), body = byId('rows');
	const first = Math.max(0, Math.floor(host.scrollTop / LINE) - 10);
	const last = Math.min(rows.length, first + Math.ceil(host.clientHeight / LINE) + 20);
	body.textContent = '';
	spaceRow(body, first);
	for (let i = first; i < last; i++) {
		const line = element(HTML, 'tr', body);
		line.setAttribute('data-func', rows[i]);
		line.setAttribute('aria-rowindex', i + 2);
		line.classList.toggle('at', i === row);
		for (const column of tableColumns)
			fillCell(element(HTML, 'td', line), column, rows[i]);
	}
	spaceRow(body, rows.length - last);
}

function spaceRow(body, count) {
	const line = element(HTML, 'tr', body);
	line.setAttribute('aria-hidden', 'true');
	line.style.height = count * LINE + 'px';
}

function moveRow(step) {
	const host = byId('table');
	row = Math.max(0, Math.min(rows.length - 1, row + step));
	const top = row * LINE;
	host.focus({ preventScroll: true });
	if (top < host.scrollTop)
		host.scrollTop = top;
	else if (top + 3 * LINE > host.scrollTop + host.clientHeight)
		host.scrollTop = top + 3 * LINE - host.clientHeight;
	fillTable();
	byId('say').textContent = tableColumns.map(function (column) { return column.title + ' ' + column.text(rows[row]); }).join(', ');
}
