// SPDX-License-Identifier: BSD-2-Clause
// Mistakes, and what would let a name of a profile become markup or code. Layout is nobody's business here.
const browser = Object.fromEntries(['AbortController', 'AbortSignal', 'Blob', 'CanvasRenderingContext2D', 'ClipboardItem', 'DOMException', 'Element', 'Event',
	'EventSource', 'HTMLCanvasElement', 'HTMLElement', 'HTMLInputElement', 'HTMLIFrameElement', 'MessageEvent', 'Node', 'ResizeObserver', 'Response', 'URL', 'URLSearchParams', 'cancelAnimationFrame', 'clearInterval', 'clearTimeout', 'document', 'fetch',
	'getComputedStyle', 'globalThis', 'history', 'location', 'navigator', 'performance', 'requestAnimationFrame', 'setInterval', 'setTimeout', 'window'].map((name) => [name, 'readonly']));

const unsafe = ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'srcdoc'].map((name) => ({
	selector: `MemberExpression[property.name="${name}"]`, message: 'texts must stay texts: use textContent or make()' }));

export default [{
	files: ['page/*.js'],
	ignores: ['page/quantity.js', 'page/theme.js'], // shared with the flame page, whose tests they have
	languageOptions: { ecmaVersion: 2022, sourceType: 'module', globals: browser },
	linterOptions: { reportUnusedDisableDirectives: 'error' },
	rules: {
		'array-callback-return': 'error', 'complexity': ['error', 15], 'consistent-return': 'error', 'constructor-super': 'error', 'default-case-last': 'error', 'eqeqeq': 'error',
		'for-direction': 'error', 'getter-return': 'error', 'max-depth': ['error', 4], 'max-lines': ['error', 500], 'max-lines-per-function': ['error', 60], 'max-params': ['error', 6],
		'no-async-promise-executor': 'error', 'no-await-in-loop': 'error', 'no-compare-neg-zero': 'error', 'no-cond-assign': 'error', 'no-const-assign': 'error', 'no-constant-condition': 'error',
		'no-control-regex': 'error', 'no-debugger': 'error', 'no-dupe-args': 'error', 'no-dupe-class-members': 'error', 'no-dupe-else-if': 'error', 'no-dupe-keys': 'error',
		'no-duplicate-case': 'error', 'no-duplicate-imports': 'error', 'no-empty': 'error', 'no-eval': 'error', 'no-extra-boolean-cast': 'error', 'no-fallthrough': 'error',
		'no-global-assign': 'error', 'no-implied-eval': 'error', 'no-loss-of-precision': 'error', 'no-new-func': 'error', 'no-new-wrappers': 'error', 'no-redeclare': 'error',
		'no-restricted-syntax': ['error', ...unsafe], 'no-return-assign': 'error', 'no-script-url': 'error', 'no-self-assign': 'error', 'no-self-compare': 'error', 'no-shadow': 'error',
		'no-sparse-arrays': 'error', 'no-this-before-super': 'error', 'no-throw-literal': 'error', 'no-undef': 'error', 'no-unmodified-loop-condition': 'error', 'no-unreachable': 'error',
		'no-unsafe-finally': 'error', 'no-unsafe-negation': 'error', 'no-unused-expressions': ['error', { allowShortCircuit: true }], 'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
		'no-use-before-define': ['error', { functions: false, classes: false, variables: false }], 'no-useless-catch': 'error', 'no-useless-escape': 'error', 'no-useless-return': 'error',
		'no-var': 'error', 'prefer-const': 'error', 'prefer-promise-reject-errors': 'error', 'require-atomic-updates': 'off', 'sort-imports': ['error', { ignoreDeclarationSort: true, ignoreCase: true }],
		'use-isnan': 'error', 'valid-typeof': 'error',
	},
}];
