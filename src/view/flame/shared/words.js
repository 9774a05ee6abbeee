// SPDX-License-Identifier: BSD-2-Clause
// Shared by the SVG and the page: sizes of boxes, labels, numbers, downloads. Names go through
// textContent only; nothing is loaded. The numbers below are those of flame.c.

const MARGIN = 10, TEXT = 3, CHARACTER = 7.3, ROW = 18, BOX = 17;
const HTML = 'http://www.w3.org/1999/xhtml';

function element(space, name, parent, text) {
	const made = document.createElementNS(space, name);
	if (text !== undefined)
		made.textContent = text;
	parent.appendChild(made);
	return made;
}

function columns(c) {
	return c.codePointAt(0) >= 0x1100 ? 2 : 1;
}

// The part of a name that fits, with ".." for the rest.
function label(name, room) {
	let used = 0, fits = 0, at = 0;
	for (const c of name) {
		used += columns(c);
		at += c.length;
		if (used > room)
			return name.slice(0, fits) + '..';
		if (used + 2 <= room)
			fits = at;
	}
	return name;
}

// The name followed by the change, or only its sign if space is short.
function changeLabel(name, change, room) {
	if (room < change.length + 5)
		change = change.replace(/^(new|gone) /, '');
	if (room >= change.length + 5)
		return label(name, room - change.length - 1) + ' ' + change;
	const sign = (/[+-]/.exec(change) || [''])[0];
	return sign + label(name, room - sign.length);
}

// Splits a name into the lines of a tooltip.
function wrap(name, room) {
	const lines = [];
	for (let at = 0; at < name.length && lines.length < 8; at += room)
		lines.push(name.slice(at, at + room));
	if (lines.length * room < name.length)
		lines[lines.length - 1] += '..';
	return lines;
}

function percent(part, whole) {
	return (whole > 0 ? 100 * part / whole : 0).toFixed(1) + '%';
}

// The format has no escapes: characters with a meaning are replaced.
function foldedName(name) {
	return name.replace(/;/g, ':').replace(/[\u0000-\u001f\u007f-\u009f]/g, '_').replace(/ (?=[0-9.]+$)/, '_');
}

function saveFolded(parent, name, text) {
	const link = element(HTML, 'a', parent);
	const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
	link.setAttribute('href', address);
	link.setAttribute('download', name.replace(/[^\w.-]+/g, '_').slice(0, 60) + '.folded');
	link.click();
	link.remove();
	setTimeout(function () { URL.revokeObjectURL(address); }, 10000);
}
