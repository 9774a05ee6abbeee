// SPDX-License-Identifier: BSD-2-Clause
// Elements of the document. Texts are always texts: nothing here interprets markup.

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * @typedef {Object} Properties
 * @property {string} [class]
 * @property {string} [text]
 * @property {(event: Event) => void} [onclick]
 * @property {(event: Event) => void} [onchange]
 * @property {(event: Event) => void} [oninput]
 * @property {(event: Event) => void} [onsubmit]
 */

/**
 * Makes an element. Properties that are functions listen to events, `text` is its text, all others are
 * attributes; false and undefined leave an attribute out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} name
 * @param {Properties & Record<string, unknown>} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(name, properties = {}, ...children) {
	const element = document.createElement(name);
	for (const [key, value] of Object.entries(properties)) {
		if (typeof value === 'function')
			element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
		else if (key === 'text')
			element.textContent = String(value);
		else if (value !== undefined && value !== false)
			element.setAttribute(key, value === true ? '' : String(value));
	}
	for (const child of children)
		if (child)
			element.append(child);
	return element;
}

/**
 * @param {string} text
 * @param {(event: Event) => void} act
 * @param {Properties & Record<string, unknown>} [properties]
 */
export function makeButton(text, act, properties = {}) {
	return make('button', { type: 'button', text, onclick: act, ...properties });
}

/**
 * A field with its label before it.
 * @param {string} label
 * @param {HTMLElement} field
 */
export function labelled(label, field) {
	return make('label', { class: 'field' }, make('span', { text: label }), field);
}

/**
 * @param {[value: string, text: string][]} options
 * @param {string} chosen
 * @param {(value: string) => void} act
 * @param {Record<string, unknown>} [properties]
 */
export function makeSelect(options, chosen, act, properties = {}) {
	const select = make('select', { ...properties, onchange: () => act(select.value) });
	for (const [value, text] of options)
		select.append(make('option', { value, text, selected: value === chosen }));
	return select;
}

/** @param {string} id */
export function byId(id) {
	return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * Replaces what an element contains.
 * @param {Element} host
 * @param {...Child} children
 */
export function fill(host, ...children) {
	host.replaceChildren(...children.filter((child) => child || child === ''
	).map((child) => /** @type {Node | string} */ (child)));
}

/**
 * Tells screen readers.
 * @param {string} text
 */
export function say(text) {
	byId('say').textContent = text;
}
