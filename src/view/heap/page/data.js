// SPDX-License-Identifier: BSD-2-Clause
// The data of the heap (view/heap/page/heap_page.c), and names to show. Names go through
// textContent only.

let heap = null;
let chosen = -1; // a site

const bytesText = function (bytes) { return quantity(bytes, 'bytes'); };
const timeText = function (ns) { return quantity(ns, 'nanoseconds'); };

// Control characters could hide the real text.
function plain(text) {
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

function fileText(file, line) {
	return file ? plain(file) + (line > 0 ? ':' + line : '') : '';
}

// The last part of a path, where space is short.
function shortFile(site) {
	return fileText(site.file.replace(/^.*\//, ''), site.line);
}

function placeText(site) {
	const file = shortFile(site);
	return plain(site.function_name) + (file ? ' (' + file + ')' : '');
}

function readHeap(buffer) {
	heap = JSON.parse(new TextDecoder().decode(buffer));
	heap.count = heap.steps.live.length;
	heap.whole_ns = Math.max(1, heap.count * heap.step_ns);
}
