// SPDX-License-Identifier: BSD-2-Clause
// The login. The server puts the token in a cookie that scripts cannot read; this page does not keep it.
import { post } from './api.js';
import { fill, make } from './dom.js';
import { showProblem } from './problem.js';

/**
 * @param {HTMLElement} host
 * @param {boolean} expired Somebody was logged in before.
 * @param {() => void} done
 */
export function showLogin(host, expired, done) {
	const token = make('input', { id: 'token', type: 'password', autocomplete: 'current-password', required: true, spellcheck: 'false', placeholder: 'wick_…' });
	const button = make('button', { type: 'submit', class: 'primary', text: 'Log in' });
	const trouble = make('div');
	const form = make('form', {
		class: 'login', onsubmit: (event) => {
			event.preventDefault();
			button.disabled = true;
			post('/api/login', { token: token.value.trim() }).then(done, (problem) => {
				button.disabled = false;
				showProblem(trouble, problem && problem.status === 401 ? new Error('this token is unknown or has expired') : problem);
				token.select();
			});
		},
	}, make('h1', { text: 'Log in' }), make('p', { text: expired ? 'Your login has ended. Log in again to return to this view.' : 'This server needs a token.' }),
	make('label', { for: 'token', text: 'Token' }), token, button, trouble,
	make('p', { class: 'soft', text: 'An administrator makes one with: wick token add read' }));
	fill(host, form);
	token.focus();
	return { close: () => {} };
}
