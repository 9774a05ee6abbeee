// SPDX-License-Identifier: BSD-2-Clause
// Navigation. Views call go() to change the address; main.js shows the view that belongs to it.
import { addressText, readAddress } from './address.js';

/** @typedef {import('./address.js').Address} Address */

/** @type {(address: Address) => void} */
let show = () => {};

/** @param {(address: Address) => void} act Called for each address that the page shall show. */
export function onAddress(act) {
	show = act;
	window.addEventListener('popstate', () => show(readAddress(location.hash)));
}

export function currentAddress() {
	return readAddress(location.hash);
}

/**
 * @param {Address} address
 * @param {boolean} [isStep] "Back" leads to the address before.
 */
export function go(address, isStep = true) {
	note(address, isStep);
	show(address);
}

/**
 * Writes the address of what is shown already.
 * @param {Address} address
 * @param {boolean} isStep
 */
export function note(address, isStep) {
	const text = addressText(address);
	if (text !== location.hash)
		history[isStep ? 'pushState' : 'replaceState'](null, '', text);
}
