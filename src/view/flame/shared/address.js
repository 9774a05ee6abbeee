// SPDX-License-Identifier: BSD-2-Clause
// The fragment of the address: how it stores a view, and a path through a tree.

const STEP = 60; // characters kept of a name in a path

function cut(name) {
	return name.length <= STEP ? name : Array.from(name).slice(0, STEP).join('');
}

function encode(text) {
	return encodeURIComponent(text).replace(/[~'()*!]/g, function (c) {
		return '%' + c.charCodeAt(0).toString(16).toUpperCase();
	});
}

function decode(text) {
	try {
		return decodeURIComponent(text);
	} catch (problem) {
		return text;
	}
}

// A step of a path: the name, and which of several siblings with that name.
function stepText(name, which) {
	return encode(name) + (which > 0 ? '~' + which : '');
}

function readStep(step) {
	const parts = step.split('~');
	return { name: decode(parts[0]), which: Number(parts[1] || 0) };
}

function readState(fragment) {
	const state = {};
	for (const part of fragment.replace(/^#/, '').split('&')) {
		const at = part.indexOf('=');
		if (at > 0)
			state[part.slice(0, at)] = part.slice(at + 1);
	}
	return state;
}

// The fragment for these parts and for every switch [key, value, default] that is not at its default.
function joinState(parts, switches) {
	for (const state of switches)
		if (state[1] !== state[2])
			parts.push(state[0] + '=' + state[1]);
	return '#' + parts.join('&');
}

// A step gets an entry in the browser's history; a small change replaces the last entry.
function writeState(text, isStep) {
	try {
		history[isStep ? 'pushState' : 'replaceState'](null, '', text);
	} catch (problem) {
		// Where the address must not change, there is nothing to go back to.
	}
}
