// SPDX-License-Identifier: BSD-2-Clause
// What went wrong, and what to do.
import { Problem } from './api.js';
import { fill, make, makeButton } from './dom.js';

/** @param {unknown} problem */
function wordsOf(problem) {
	return problem instanceof Error ? problem.message : String(problem);
}

/**
 * @param {Element} host
 * @param {unknown} problem
 * @param {(() => void)} [again]
 */
export function showProblem(host, problem, again) {
	if (problem instanceof DOMException && problem.name === 'AbortError')
		return; // the view was left
	if (problem instanceof Problem && problem.status === 401)
		return; // the login is shown
	const words = wordsOf(problem), remedy = problem instanceof Problem ? problem.remedy : '';
	fill(host, make('div', { class: 'problem', role: 'alert' },
		make('strong', { text: words.charAt(0).toUpperCase() + words.slice(1) }),
		remedy && make('span', { text: remedy.charAt(0).toUpperCase() + remedy.slice(1) }),
		again && makeButton('Try again', again)));
}
