// SPDX-License-Identifier: BSD-2-Clause
// A table that sorts on a click on a heading. Only visible rows are in the document, so that there
// can be many rows.
//
// The page passes: host (scrolls, and contains the table with an empty head and body), columns, the
// key of the column to sort by, upwards (ascending), list() of row ids, tie(id, id) to order equal
// rows, choose(id), and changed() after a click on a heading. Columns have a key, a title,
// text(id), number(id) or words, and may be a share, be empty or have dress(cell, id).

const LINE = 24; // pixels of a row

function makeSortedTable(table) {
	table.rows = []; // ids in sort order
	table.row = 0;   // the selected row
	table.body = table.host.querySelector('tbody');
	for (const column of table.columns) {
		const head = element(HTML, 'th', table.host.querySelector('thead tr'));
		head.setAttribute('scope', 'col');
		head.setAttribute('class', kindOf(column));
		column.head = head;
		makeButton(head, column.title, 'sort', 'sort by ' + (column.tells || column.title), function () { sortBy(table, column.key); });
	}
	table.host.addEventListener('scroll', function () { fillRows(table); });
	table.body.addEventListener('click', function (event) {
		const line = event.target.closest('tr[data-id]');
		if (!line || String(window.getSelection()) !== '') // selecting text is not a click
			return;
		table.row = table.rows.indexOf(Number(line.getAttribute('data-id')));
		table.choose(table.rows[table.row]);
	});
	return table;
}

function kindOf(column) {
	return column.words ? 'words' : column.share ? 'share' : 'number';
}

function columnOf(table, key) {
	return table.columns.find(function (column) { return column.key === key; });
}

// Those that have something to show.
function filledColumns(table) {
	return table.columns.filter(function (column) { return !column.isEmpty; });
}

function sortBy(table, key) {
	table.upwards = table.sort === key ? !table.upwards : Boolean(columnOf(table, key).words);
	table.sort = key;
	table.changed();
}

// The sort order as in the address: "-total".
function orderText(table) {
	return (table.upwards ? '+' : '-') + table.sort;
}

function readOrder(table, text, otherwise) {
	const order = /^([+-])(\w+)$/.exec(text || '');
	const isColumn = Boolean(order && columnOf(table, order[2]));
	table.sort = isColumn ? order[2] : otherwise;
	table.upwards = isColumn && order[1] === '+';
}

function showRows(table) {
	const column = columnOf(table, table.sort) || table.columns[0], direction = table.upwards ? 1 : -1;
	const ids = table.list(), values = ids.map(column.words ? column.text : column.number);
	const order = ids.map(function (id, i) { return i; });
	order.sort(function (a, b) {
		return values[a] < values[b] ? -direction : values[a] > values[b] ? direction : table.tie(ids[a], ids[b]) || a - b;
	});
	table.rows = order.map(function (i) { return ids[i]; });
	table.row = Math.min(table.row, Math.max(0, ids.length - 1));
	for (const each of table.columns) {
		each.head.hidden = Boolean(each.isEmpty);
		if (each === column)
			each.head.setAttribute('aria-sort', table.upwards ? 'ascending' : 'descending');
		else
			each.head.removeAttribute('aria-sort');
	}
	table.host.querySelector('table').setAttribute('aria-rowcount', ids.length + 1);
	fillRows(table);
}

function fillCell(cell, column, id) {
	cell.textContent = column.text(id);
	cell.className = kindOf(column);
	if (column.words)
		cell.title = column.text(id);
	if (column.share)
		cell.style.setProperty('--share', column.text(id));
	if (column.dress)
		column.dress(cell, id);
}

// Fills the visible rows and some around them.
function fillRows(table) {
	const host = table.host, rows = table.rows;
	const first = Math.max(0, Math.floor(host.scrollTop / LINE) - 10);
	const last = Math.min(rows.length, first + Math.ceil(host.clientHeight / LINE) + 20);
	table.body.textContent = '';
	spaceRow(table.body, first);
	for (let i = first; i < last; i++) {
		const line = element(HTML, 'tr', table.body);
		line.setAttribute('data-id', rows[i]);
		line.setAttribute('aria-rowindex', i + 2);
		line.classList.toggle('at', i === table.row);
		line.classList.toggle('chosen-row', rows[i] === table.chosen);
		for (const column of filledColumns(table))
			fillCell(element(HTML, 'td', line), column, rows[i]);
	}
	spaceRow(table.body, rows.length - last);
}

function spaceRow(body, count) {
	const line = element(HTML, 'tr', body);
	line.setAttribute('aria-hidden', 'true');
	line.style.height = count * LINE + 'px';
}

// The cells of all rows, in their order.
function tableTexts(table) {
	const columns = filledColumns(table);
	return table.rows.map(function (id) { return columns.map(function (column) { return column.text(id); }); });
}

function goToRow(table, row) {
	const host = table.host, top = row * LINE;
	table.row = row;
	if (top < host.scrollTop)
		host.scrollTop = top;
	else if (top + 3 * LINE > host.scrollTop + host.clientHeight)
		host.scrollTop = top + 3 * LINE - host.clientHeight;
	fillRows(table);
}

function moveRow(table, step) {
	table.host.focus({ preventScroll: true });
	goToRow(table, Math.max(0, Math.min(table.rows.length - 1, table.row + step)));
	byId('say').textContent = filledColumns(table).map(function (column) { return column.title + ' ' + column.text(table.rows[table.row]); }).join(', ');
}

// Handles a key that moves between rows; returns whether it did.
function rowKey(table, key) {
	const count = table.rows.length;
	const steps = { ArrowUp: -1, ArrowDown: 1, Home: -count, PageUp: -20, PageDown: 20, End: count };
	if (!Object.hasOwn(steps, key) || count === 0)
		return false;
	moveRow(table, steps[key]);
	return true;
}
