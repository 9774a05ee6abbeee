// SPDX-License-Identifier: BSD-2-Clause
// The table of functions: self and total, sorted and filtered.

const FIRST_ORDER = compared ? 'change' : 'self';
let functionTable = null;

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

function dressChange(cell, func) {
	const name = changeOfFunction(func).color;
	if (name === 'same')
		return;
	cell.style.background = fillOf(name, 0).color;
	cell.style.color = page.text;
}

function namedColumn(key, title, texts) {
	return { key: key, title: title, words: true, text: function (func) { return texts()[func]; } };
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
		text: function (func) { return changeOfFunction(func).text; }, dress: dressChange },
	amountColumn('before', 'Total before', side(BEFORE), 'total'), shareColumn('beforeshare', '%', side(BEFORE), 'total'),
	amountColumn('after', 'Total after', side(AFTER), 'total'), shareColumn('aftershare', '%', side(AFTER), 'total'),
	amountColumn('selfbefore', 'Self before', side(BEFORE), 'self'), amountColumn('selfafter', 'Self after', side(AFTER), 'self'),
] : [
	amountColumn('self', 'Self', shown, 'self'), shareColumn('selfshare', '%', shown, 'self'),
	amountColumn('total', 'Total', shown, 'total'), shareColumn('totalshare', '%', shown, 'total'),
]).concat(nameColumns);

// Other formats have no modules or files.
function findEmptyColumns() {
	for (const key of ['module', 'file'])
		columnOf(functionTable, key).isEmpty = !profile.functions[key].some(function (text) { return text !== ''; });
}

function makeTable() {
	functionTable = makeSortedTable({ host: byId('table'), columns: tableColumns, sort: FIRST_ORDER, upwards: false, list: listFunctions,
		tie: function (a, b) { // the more expensive one first, else alphabetical order
			const totals = tally(compared ? AFTER : value).total;
			return totals[b] - totals[a];
		},
		choose: function (func) { choose(func, 'sandwich'); },
		changed: function () {
			showTable();
			remember(true);
		} });
	findEmptyColumns();
}

function isInTable(func) {
	if (pattern && !hitFunctions[func])
		return false;
	return compared ? tally(BEFORE).total[func] !== 0 || tally(AFTER).total[func] !== 0 : tally(value).total[func] !== 0;
}

function listFunctions() {
	const list = [];
	for (let func = 0; func < profile.functions.count; func++)
		if (isInTable(func))
			list.push(func);
	return list;
}

function showTable() {
	showRows(functionTable);
	showFoot();
}
