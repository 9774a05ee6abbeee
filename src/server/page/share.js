// SPDX-License-Identifier: BSD-2-Clause
// Links, files and images of a view.
import { addressText, changed } from './address.js';
import { Problem, request, urlOf } from './api.js';
import { make, makeButton, say } from './dom.js';
import { currentAddress } from './router.js';
import { readTime } from './times.js';

/**
 * @typedef {import('./api.js').Parameters} Parameters
 * @typedef {{ path: string, parameters: Parameters, formats: [format: string, text: string, file: string][] }} Shared
 */

const CHAT = { width: 600, height: 315 }; // of two pixels each: 1200 × 630

// A link means the same time tomorrow: "the last hour" becomes two times.
export function lastingLink() {
	const address = currentAddress();
	/** @type {Record<string, string>} */
	const times = {};
	for (const name of ['from', 'to', 'diff_from', 'diff_to']) {
		const text = address.params.get(name), isUsual = text === null && address.view === 'service';
		const usual = { from: '-1h', to: 'now' }[name] || '';
		if (text !== null || (isUsual && usual)) {
			const time_s = readTime(text === null ? usual : text);
			if (Number.isFinite(time_s))
				times[name] = String(time_s);
		}
	}
	return location.origin + location.pathname + addressText(changed(address, times));
}

/** @param {string} name */
function fileName(name) {
	return 'wick-' + (name.replace(/[^\w.-]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 60) || 'profile');
}

/**
 * @param {Blob} image
 * @param {string} name
 */
function saveFile(image, name) {
	const url = URL.createObjectURL(image), link = make('a', { href: url, download: name });
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/**
 * @param {Shared} shared
 * @param {string} name
 */
async function chatImage(shared, name) {
	const url = urlOf(shared.path, { ...shared.parameters, format: 'png', ...CHAT });
	const image = request(url).then((answer) => answer.blob());
	if (window.isSecureContext && navigator.clipboard && 'ClipboardItem' in window) {
		try {
			await navigator.clipboard.write([new ClipboardItem({ 'image/png': image })]);
			return 'Image copied: paste it into the chat.';
		} catch (problem) {
			if (problem instanceof Problem)
				throw problem;
			// The browser does not allow it: a file instead.
		}
	}
	saveFile(await image, fileName(name) + '.png');
	return 'Image saved as a file.';
}

/**
 * A button that opens the choices.
 * @param {string} name
 * @param {Shared} shared
 */
export function makeShare(name, shared) {
	const told = make('p', { class: 'told', role: 'status' });
	/** @param {() => Promise<string>} act */
	const attempt = (act) => () => {
		told.textContent = '…';
		act().then((text) => { told.textContent = text; }, (problem) => { told.textContent = [problem.message, problem.remedy].filter((part) => part).join(': '); });
	};
	const link = make('input', { type: 'text', class: 'link', readonly: true, 'aria-label': 'link to this view' });
	const copy = async () => {
		link.select();
		if (navigator.clipboard && window.isSecureContext)
			await navigator.clipboard.writeText(link.value);
		else
			document.execCommand('copy');
		return 'Link copied.';
	};
	const files = shared.formats.map(([format, text, ending]) => make('a', { class: 'button', download: fileName(name) + ending, text,
		href: urlOf(shared.path, { ...shared.parameters, format }) }));
	const panel = make('div', { class: 'share-panel', role: 'group', 'aria-label': 'share' },
		make('div', { class: 'row' }, link, makeButton('Copy link', attempt(copy))),
		make('div', { class: 'row' }, make('span', { text: 'Download' }), ...files),
		make('div', { class: 'row' }, makeButton('Image for a chat', attempt(() => chatImage(shared, name)), { title: 'a PNG of 1200 × 630 pixels at most, in the clipboard where the browser allows it' })), told);
	const details = make('details', { class: 'share' }, make('summary', { text: 'Share' }), panel);
	details.addEventListener('toggle', () => {
		if (details.open) {
			link.value = lastingLink();
			told.textContent = '';
			say('link and downloads');
		}
	});
	details.addEventListener('keydown', (event) => {
		if (event.key === 'Escape' && details.open) {
			details.open = false;
			/** @type {HTMLElement} */ (details.firstElementChild).focus();
		}
	});
	return details;
}

/** @type {[string, string, string][]} */
export const PROFILE_FORMATS = [['svg', 'SVG', '.svg'], ['png', 'PNG', '.png'], ['html', 'HTML', '.html'], ['pprof', 'pprof', '.pb.gz'], ['wick', '.wick', '.wick']];
/** @type {[string, string, string][]} */
export const DIFF_FORMATS = [['svg', 'SVG', '.svg'], ['png', 'PNG', '.png'], ['html', 'HTML', '.html'], ['csv', 'CSV', '.csv']];
