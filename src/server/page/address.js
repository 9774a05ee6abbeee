// SPDX-License-Identifier: BSD-2-Clause
// The address of a view, which is the fragment, so that servers and their logs never see it.
//
//	#/service/NAME?type=cpu&from=-1h&to=now&where=host="a1"&part=1763301900-1763302500&flame=…

/** @typedef {{ view: string, name: string, params: URLSearchParams }} Address */

/**
 * @param {string} fragment
 * @returns {Address}
 */
export function readAddress(fragment) {
	const text = fragment.replace(/^#\/?/, '');
	const cut = text.indexOf('?');
	const [view = '', name = ''] = (cut < 0 ? text : text.slice(0, cut)).split('/');
	return { view, name: decode(name), params: new URLSearchParams(cut < 0 ? '' : text.slice(cut + 1)) };
}

/** @param {string} text */
function decode(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** @param {Address} address */
export function addressText(address) {
	const query = address.params.toString();
	const path = [address.view, address.name].filter((part) => part !== '').map(encodeURIComponent).join('/');
	return '#/' + path + (query ? '?' + query : '');
}

/**
 * The same address with other parameters; an empty one is removed.
 * @param {Address} address
 * @param {Record<string, string | undefined>} changes
 * @param {string} [view]
 * @returns {Address}
 */
export function changed(address, changes, view = address.view) {
	const params = new URLSearchParams(address.params);
	for (const [name, value] of Object.entries(changes))
		if (value === '')
			params.delete(name);
		else if (value !== undefined)
			params.set(name, value);
	return { view, name: address.name, params };
}

/**
 * @param {Address} address
 * @param {string} name
 * @param {string} [otherwise]
 */
export function param(address, name, otherwise = '') {
	return address.params.get(name) || otherwise;
}

/**
 * Whether two addresses differ in the state of the frame alone.
 * @param {Address} a
 * @param {Address} b
 */
export function differOnlyInFlame(a, b) {
	return addressText(changed(a, { flame: '' })) === addressText(changed(b, { flame: '' }));
}
