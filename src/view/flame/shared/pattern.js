// SPDX-License-Identifier: BSD-2-Clause
// The search pattern.

// Case matters only if the pattern has capitals. Null: everything; undefined: invalid.
function testOf(text) {
	try {
		return text ? new RegExp(text, /[A-Z]/.test(text) ? '' : 'i') : null;
	} catch (problem) {
		return undefined;
	}
}

function hitWords(share, hit, count) {
	return share + ' matched, ' + (hit >= 0 ? hit + 1 + ' of ' + count : count + (count === 1 ? ' box' : ' boxes'));
}
