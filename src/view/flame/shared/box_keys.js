// SPDX-License-Identifier: BSD-2-Clause
// The keys for boxes.

keys.push(['click, Enter', 'zoom to the box'],
	['Esc, double click background', 'show everything; clear the search'],
	['Backspace', 'zoom out to the caller'],
	['drag, Shift + wheel, [ ]', 'move sideways while zoomed'],
	['/, Ctrl + F', 'search function names by regular expression'],
	['n, N', 'next and previous match'],
	['Tab, arrow keys, Home', 'move from box to box'],
	['?', 'this help']);
