// SPDX-License-Identifier: BSD-2-Clause
// Checks that the flame graph of use.folded can be inverted and turned over, and that
// the numbers are those of the stacks.
//
//	node ways.mjs USE.svg [SCREENSHOT-FOLDER]
import { readFileSync } from 'node:fs';
import { boxes, check, clickBox, finish, open, sound, tooltip, width } from './lib/page.mjs';

const opened = await open(500);
const { page, shot, file } = opened;
const shown = () => page.evaluate(boxes);
const stacks = readFileSync('use.folded', 'utf8').trim().split('\n').map((line) => {
	const at = line.lastIndexOf(' ');
	return { frames: line.slice(0, at).split(';').slice(1), samples: Number(line.slice(at + 1)) };
});
const total = stacks.reduce((sum, s) => sum + s.samples, 0);

// What each chain of callers, from the leaf on, costs by the file.
const truth = new Map();
for (const { frames, samples } of stacks)
	for (let n = 1; n <= frames.length; n++) {
		const key = frames.slice(-n).reverse().join(';');
		truth.set(key, (truth.get(key) ?? 0) + samples);
	}
const chains = () => page.evaluate(() => [...document.querySelectorAll('.frames:not([display]) rect')].filter((rect) => rect.flameFrame.row > 1).map((rect) => {
	const path = [];
	for (let f = rect.flameFrame; f.row > 1; f = f.parent)
		path.unshift(f.name);
	return { key: path.join(';'), width: rect.flameFrame.end - rect.flameFrame.begin };
}));

const first = await shown();
await page.keyboard.press('i');
const inverted = await shown();
check('i shows the inverted tree', await page.getAttribute('.inverted', 'aria-pressed') === 'true' && sound(inverted));
const list = await chains();
check('each box is what the stacks say', list.length === truth.size && list.every((c) => truth.get(c.key) === c.width),
	`${list.length} boxes of ${truth.size}`);
check('labels are there', inverted.find((b) => b.name === 'copy' && b.depth === 2).text === 'copy');
await shot('ways-inverted');
check('the address tells it', await page.evaluate(() => location.hash) === '#i=1');
await clickBox(page, 'lex');
check('boxes of it zoom', (await shown()).find((b) => b.name === 'lex' && width(b) > 1279));
await page.goBack();
await page.goBack();
check('back shows the stacks as called', JSON.stringify(await shown()) === JSON.stringify(first));

// Downloads

const folded = async () => {
	const [download] = await Promise.all([page.waitForEvent('download'), page.click('.folded')]);
	return readFileSync(await download.path(), 'utf8').trim().split('\n');
};
const sorted = (lines) => [...lines].sort().join('\n');
check('the stacks can be downloaded', sorted(await folded()) === sorted(readFileSync('use.folded', 'utf8').trim().split('\n')));
await clickBox(page, 'reply');
check('those of a zoomed box alone', sorted(await folded()) === 'app;main;serve;reply;copy 60\napp;main;serve;reply;write 200');
await page.keyboard.press('Escape');
await page.keyboard.press('i');
await clickBox(page, 'lex');
check('and those of the inverted tree', sorted(await folded()) === 'app;lex;parse;serve;main 300');
await page.keyboard.press('Escape');
await page.keyboard.press('i');

// Print

await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
check('paper is light and has no tools', !(await page.isVisible('.tools')) &&
	(await page.evaluate(() => getComputedStyle(document.querySelector('.page')).fill)) === 'rgb(255, 255, 255)');
await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
const told = await page.evaluate(() => JSON.parse(document.querySelector('metadata').textContent));
check('the file tells how it was made', /^\d/.test(told.wick) && told.samples === total && told.drawn.value === 'samples', JSON.stringify(told));

await page.keyboard.press('c');
const icicle = await shown();
check('c turns the boxes over', icicle[0].top === 0 && icicle.every((b) => b.top === b.depth * 18) &&
	JSON.stringify(icicle.map((b) => [b.name, b.left, b.right])) === JSON.stringify(first.map((b) => [b.name, b.left, b.right])));
await page.keyboard.press('ArrowDown');
await page.keyboard.press('ArrowDown');
check('the arrow down goes to the callee', (await shown()).find((b) => b.focus)?.name === 'app');
await page.click('.inverted');
await shot('ways-both');
const other = await opened.browser.newPage({ viewport: { width: 1300, height: 500 } });
await other.goto(await page.evaluate(() => location.href));
check('a link shows both switches', JSON.stringify(await other.evaluate(boxes)) === JSON.stringify(await shown()));
await other.emulateMedia({ colorScheme: 'dark' });
if (process.argv[3])
	await other.screenshot({ path: `${process.argv[3]}/ways-dark.png` });
await other.close();
await finish(opened);
