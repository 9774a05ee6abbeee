// SPDX-License-Identifier: BSD-2-Clause
// The start: which view is shown, the head of the page, the login.
import { addressText, differOnlyInFlame } from './address.js';
import { showAgents } from './agents.js';
import { onLoggedOut, post } from './api.js';
import { showCompare } from './compare.js';
import { byId, fill, make, makeButton } from './dom.js';
import { showLogin } from './login.js';
import { showProblem } from './problem.js';
import { currentAddress, onAddress } from './router.js';
import { showService } from './service.js';
import { showServices } from './services.js';
import { currentSession, has, isFiles, loadSession, mustLogIn } from './session.js';
import { isDark, showTheme, toggleTheme, watchTheme } from './theme.js';
import { hideTip } from './tip.js';

/**
 * What a view returns. close() ends its requests. follow() shows another state of the frame without
 * making the view again. redraw() paints with the colours of dark or light mode.
 * @typedef {{ close: () => void, follow?: (address: Address) => void, redraw?: () => void }} View
 * @typedef {import('./address.js').Address} Address
 */

/** @type {View | null} */
let view = null;
/** @type {Address | null} */
let shown = null;
let loggedIn = false;

/**
 * The live view is only loaded when it is looked at.
 * @param {HTMLElement} host
 * @param {Address} address
 * @returns {View}
 */
function showLiveLater(host, address) {
	/** @type {View | null} */
	let live = null;
	let closed = false;
	import('./live.js').then((module) => {
		if (!closed)
			live = module.showLive(host, address);
	}).catch((problem) => showProblem(host, problem));
	return {
		close: () => {
			closed = true;
			if (live)
				live.close();
		},
		redraw: () => live && live.redraw && live.redraw(),
	};
}

/** @type {Record<string, (host: HTMLElement, address: Address) => View>} */
const VIEWS = { '': showServices, service: showService, compare: showCompare, live: showLiveLater, agents: showAgents };

/** @param {Address} address */
function titleOf(address) {
	const words = { '': isFiles() ? 'Recordings' : 'Services', service: '', compare: 'compare', live: 'live', agents: 'Agents' }[address.view];
	return [address.name, words, 'wick'].filter((part) => part).join(' · ');
}

/** @param {Address} address */
function showView(address) {
	const make_view = VIEWS[Object.hasOwn(VIEWS, address.view) ? address.view : ''];
	if (!loggedIn || !make_view)
		return;
	if (view && view.follow && shown && differOnlyInFlame(shown, address)) {
		shown = address;
		view.follow(address);
		return;
	}
	leaveView();
	shown = address;
	document.title = titleOf(address);
	showPlaces(address);
	view = make_view(byId('view'), address);
}

function leaveView() {
	hideTip();
	if (view)
		view.close();
	view = null;
	fill(byId('view'));
}

/** @param {Address | null} address */
function showPlaces(address) {
	const places = [['', isFiles() ? 'Recordings' : 'Services'], ...(has('agents') ? [['agents', 'Agents']] : [])];
	fill(byId('places'), ...(address ? places : []).map(([key = '', text = '']) => make('a', {
		href: addressText({ view: key, name: '', params: new URLSearchParams() }), text,
		'aria-current': address && (address.view === key || (key === '' && address.view !== 'agents')) ? 'page' : false,
	})));
}

function showActions() {
	const session = currentSession();
	fill(byId('actions'), makeButton(isDark() ? 'Light' : 'Dark', () => toggleTheme(), { title: isDark() ? 'light mode' : 'dark mode' }),
		session.tokens && loggedIn && makeButton('Log out', logOut, { title: session.who ? 'logged in as ' + session.who : '' }));
}

/** @param {boolean} expired */
function askToken(expired) {
	if (view && !loggedIn)
		return; // the login is shown already
	loggedIn = false;
	leaveView();
	document.title = 'Log in · wick';
	showPlaces(null);
	showActions();
	view = showLogin(byId('view'), expired, () => {
		leaveView();
		start();
	});
}

async function logOut() {
	try {
		await post('/api/logout', {});
	} finally {
		askToken(false);
	}
}

// The theme calls this: the colours have changed.
globalThis.showAll = () => {
	showTheme();
	showActions();
	if (view && view.redraw)
		view.redraw();
};

async function start() {
	try {
		await loadSession();
	} catch (problem) {
		showProblem(byId('view'), problem, start);
		return;
	}
	if (mustLogIn()) {
		askToken(false);
		return;
	}
	loggedIn = true;
	showActions();
	showView(currentAddress());
}

// Links within the page are fragments, and each of them is a step of the history.
document.addEventListener('click', (event) => {
	const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
	if (link && link.getAttribute('href') === '#view') {
		event.preventDefault();
		byId('view').focus();
	}
});

watchTheme();
onAddress(showView);
onLoggedOut(() => askToken(loggedIn));
start();
