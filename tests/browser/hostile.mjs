// SPDX-License-Identifier: BSD-2-Clause
// Checks that the names of hostile.folded stay names: markup, escapes of terminals, bytes
// that are not UTF-8, marks that turn text round, 10 kB of template.
//
//	node hostile.mjs HOSTILE.svg [SCREENSHOT-FOLDER]
import { boxes, check, finish, middle, open, sound, tooltip } from './lib/page.mjs';

const opened = await open(500);
const { page, shot, file } = opened;
const shown = () => page.evaluate(boxes);
const first = await shown();
const names = first.filter((b) => b.depth === 2).map((b) => b.name);
check('all are boxes', names.length === 15 && sound(first), JSON.stringify(names.map((n) => n.slice(0, 40))));
check('markup is text', names.includes('</script><script>alert(1)</script>') && names.includes(']]><script>alert(2)</script>'));
check('no control bytes and no marks of direction', names.every((n) => !/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(n)));
check('long names are cut', names.every((n) => n.length <= 4096) && names.filter((n) => n.endsWith('..')).length === 2);
check('there is one script', await page.evaluate(() => document.querySelectorAll('script').length === 1 && document.querySelectorAll('img').length === 0));
await shot('hostile');

let told = 0, zoomed = 0, linked = 0;
const other = await opened.browser.newPage({ viewport: { width: 1300, height: 500 } });
for (const [i, name] of names.entries()) {
	const box = first.filter((b) => b.depth === 2)[i];
	const at = await middle(page, name);
	await page.mouse.move(box.left + 2, at.y);
	told += (await tooltip(page)).replaceAll('\n', '').startsWith(name.slice(0, 60)) ? 1 : 0;
	await page.mouse.click(box.left + 2, at.y);
	const list = (await shown()).filter((b) => !b.dim);
	zoomed += list[0].name === name ? 1 : 0;
	await other.goto('about:blank');
	await other.goto(await page.evaluate(() => location.href));
	linked += JSON.stringify(await other.evaluate(boxes)) === JSON.stringify(await shown()) ? 1 : 0;
	await page.keyboard.press('Escape');
}
check('each has its tooltip', told === 15, told);
check('each can be zoomed to', zoomed === 15, zoomed);
check('each can be linked to', linked === 15, linked);
await other.close();
await page.keyboard.press('i');
check('the inverted tree has them too', (await shown()).filter((b) => b.depth === 3).map((b) => b.name).sort().join() === [...names].sort().join());
await page.goto('about:blank');
await page.goto(`${file}#z=app/__proto__&s=${encodeURIComponent('constructor|__proto__')}`);
check('names of objects are nothing special', (await shown()).filter((b) => !b.dim)[0].name === '__proto__' && /2 boxes/.test(await page.textContent('.found')));
await finish(opened);
