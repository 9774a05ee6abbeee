// SPDX-License-Identifier: BSD-2-Clause
// Dark or light: as the system says, or as the user chose. The browser stores only this choice.
// Pages provide showAll(), which redraws everything.

const darkPage = window.matchMedia('(prefers-color-scheme: dark)');
let theme = null; // "dark" or "light"; null: like the system
let printing = false;

function isDark() {
	return !printing && (theme ? theme === 'dark' : darkPage.matches);
}

// Tells the style sheet.
function showTheme() {
	document.documentElement.setAttribute('data-theme', isDark() ? 'dark' : 'light');
}

function toggleTheme() {
	theme = isDark() ? 'light' : 'dark';
	if ((theme === 'dark') === darkPage.matches)
		theme = null;
	try {
		localStorage.setItem('wick-theme', theme || '');
	} catch (problem) {
		// Some browsers have no storage for local files.
	}
	showAll();
}

// name: "dark" or "light"; anything else: like the system.
function setTheme(name) {
	const was = isDark();
	theme = name === 'dark' || name === 'light' ? name : null;
	if (isDark() !== was)
		showAll();
}

function readTheme() {
	try {
		theme = { dark: 'dark', light: 'light' }[localStorage.getItem('wick-theme')] || null;
	} catch (problem) {
		theme = null;
	}
	showTheme();
}

function watchTheme() {
	const repaint = function (isPrint) {
		printing = isPrint;
		showAll();
	};
	readTheme();
	darkPage.addEventListener('change', function () { repaint(false); });
	window.addEventListener('beforeprint', function () { repaint(true); });
	window.addEventListener('afterprint', function () { repaint(false); });
}

// Colours of timelines and charts.
function timelineColors() {
	return isDark() ? { bar: '#7fa8d0', away: '#5f5873', dull: '#2b2e35', memory: '#b98a64', gauge: '#6fae9a', off: '#3d444e', line: '#2a2d34', edge: '#dfe6ee', site: '#f0a35e' } : { bar: '#5b8fc0', away: '#d6cde2', dull: '#efeef0', memory: '#d9a27c', gauge: '#4f9a84', off: '#cfd6dd', line: '#ececea', edge: '#274a6d', site: '#c4500b' };
}
