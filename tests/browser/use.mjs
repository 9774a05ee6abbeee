// SPDX-License-Identifier: BSD-2-Clause
// Checks what a person does with the flame graph of use.folded: links, history, the way
// back, searching, the keyboard.
//
//	node use.mjs USE.svg [SCREENSHOT-FOLDER]
import { boxes, check, clickBox, finish, middle, open, sound, tooltip, width } from './lib/page.mjs';

const opened = await open(500);
const { page, shot, file } = opened;
const shown = () => page.evaluate(boxes);
const named = (list, name) => list.find((b) => b.name === name);
const hash = () => page.evaluate(() => location.hash);
const found = () => page.textContent('.found');
const zoomedTo = async (name) => {
	const list = (await shown()).filter((b) => !b.dim);
	return list[0].name === name && Math.abs(width(list[0]) - 1280) < 1;
};
const first = await shown();

// History and links

await clickBox(page, 'serve');
await clickBox(page, 'parse');
check('the address tells the zoom', (await hash()) === '#z=app/main/serve/parse', await hash());
await page.goBack();
check('back goes to the zoom before', await zoomedTo('serve'));
await page.goBack();
check('and to everything', JSON.stringify(await shown()) === JSON.stringify(first));
await page.goForward();
await page.goForward();
check('forward zooms again', await zoomedTo('parse'));
await page.keyboard.press('/');
await page.keyboard.type('COPY|lex');
await page.keyboard.press('Enter');
check('capitals count', /^30\.\d% matched, 1 box$|^29\.\d% matched, 1 box$/.test(await found()), await found());
await page.fill('.tools input', 'copy|lex');
await page.keyboard.press('Enter');
const link = await page.evaluate(() => location.href);
const linked = await shown();
const other = await opened.browser.newPage({ viewport: { width: 1300, height: 500 } });
await other.goto(link);
check('a link shows the same view', JSON.stringify(await other.evaluate(boxes)) === JSON.stringify(linked), link);
check('and the same search', (await other.evaluate(() => document.querySelector('.tools input').value)) === 'copy|lex' && (await other.textContent('.found')) === await found());
await page.keyboard.press('Escape');
await page.keyboard.press('Escape');
check('escape leaves an empty address', (await hash()) === '', await hash());

await clickBox(page, 'two/parts~1');
await clickBox(page, 'a&b=c#d%zz');
const odd = await page.evaluate(() => location.href);
await other.goto('about:blank');
await other.goto(odd);
check('names with marks of addresses are found again', (await other.evaluate(boxes)).filter((b) => !b.dim)[0].name === 'a&b=c#d%zz', odd);
for (const bad of ['#z=%E0%A4', '#z=nobody/here', '#z=app/main~7', '#p=1e999&z=app', '#s=(&z=app/main/serve', '#i=9&c=x&v=-1&a=2', '#&&==&z']) {
	await other.goto('about:blank');
	await other.goto(file + bad);
	check(`an odd link is no problem: ${bad}`, sound(await other.evaluate(boxes)) && (await other.evaluate(boxes)).length > 1);
}
await other.close();
await page.keyboard.press('Escape');

// The way back

await clickBox(page, 'parse');
const crumbs = await page.$$eval('.crumb', (list) => list.map((b) => b.textContent));
check('the path to the box is told', crumbs.join(' ') === 'all app main serve parse', crumbs.join(' '));
await shot('use-zoomed');
await page.click('.crumb >> nth=3');
check('a step of it zooms there', await zoomedTo('serve'));
await page.keyboard.press('Backspace');
check('backspace zooms out', await zoomedTo('main'));
await clickBox(page, 'parse');
await page.mouse.dblclick(650, 480);
check('a double click on the background shows everything', JSON.stringify(await shown()) === JSON.stringify(first));

// Moving sideways

await clickBox(page, 'reply');
let at = await middle(page, 'reply');
await page.mouse.move(at.x, at.y);
await page.mouse.down();
await page.mouse.move(at.x + 300, at.y, { steps: 5 });
await page.mouse.up();
const panned = await shown();
check('dragging brings in the neighbour', sound(panned) && named(panned, 'parse') && Math.abs(named(panned, 'reply').left - 310) < 3,
	JSON.stringify(named(panned, 'reply')));
check('and is no click', (await hash()).startsWith('#z=app/main/serve/reply&p=-'), await hash());
await page.mouse.move(at.x, at.y);
await page.keyboard.down('Shift');
await page.mouse.wheel(0, 300);
await page.keyboard.up('Shift');
await page.waitForFunction(() => !location.hash.includes('p=-'), null, { timeout: 2000 }).catch(() => {});
check('the wheel with shift moves it back', Math.abs(named(await shown(), 'reply').left - 10) < 3, JSON.stringify(named(await shown(), 'reply')));
await page.keyboard.press('Escape');

// Searching

await page.keyboard.press('/');
await page.keyboard.type('^copy$|tiny');
await page.keyboard.press('Enter');
check('matches are counted', /matched, 5 boxes$/.test(await found()), await found());
await page.keyboard.press('n'); // Enter has left the field
const one = (await shown()).find((b) => b.focus);
check('n goes to the first match', one.hit && /1 of 5/.test(await found()), await found());
await page.keyboard.press('N');
check('N goes round to the last', /5 of 5/.test(await found()), await found());
await page.keyboard.press('N');
check('a match too narrow to be seen is zoomed to', (await shown()).some((b) => b.focus && b.name === 'tiny' && width(b) >= 20), await hash());
await page.keyboard.press('Escape');
await page.keyboard.press('Escape');

// Keys

const focused = async () => (await shown()).find((b) => b.focus)?.name;
await page.evaluate(() => document.querySelector('.frames').focus());
check('the graph can be tabbed to', (await focused()) === 'all', await focused());
for (const [key, name] of [['ArrowUp', 'app'], ['ArrowUp', 'main'], ['ArrowUp', 'serve'], ['ArrowLeft', 'idle'], ['ArrowRight', 'serve'],
	['ArrowUp', 'parse'], ['ArrowRight', 'reply'], ['ArrowDown', 'serve'], ['Home', 'all']]) {
	await page.keyboard.press(key);
	check(`${key} goes to ${name}`, (await focused()) === name, await focused());
}
await page.keyboard.press('ArrowUp');
await page.keyboard.press('ArrowUp');
await page.keyboard.press('ArrowUp');
check('the focus is told to screen readers', /^serve, .*samples.*%/.test(await page.evaluate(() => document.activeElement.getAttribute('aria-label'))));
check('and its tooltip is shown', /^serve\n/.test(await tooltip(page)), await tooltip(page));
await shot('use-focus');
await page.keyboard.press('Enter');
check('Enter zooms', (await zoomedTo('serve')) && (await focused()) === 'serve');
await page.keyboard.press('Escape');
await page.keyboard.press('?');
check('? shows the help', await page.isVisible('.help div') && /next and previous match/.test(await page.textContent('.help')));
await shot('use-help');
await page.keyboard.press('Escape');
check('escape closes it', !(await page.isVisible('.help div')));

// A narrow window: nothing of the head lies over anything else of it.
const parts = () => page.evaluate(() => [...document.querySelectorAll('.head .title, .head .about, .head input, .head button, .head select')]
	.map((e) => e.getBoundingClientRect()).filter((r) => r.width > 0).map((r) => [r.left, r.top, r.right, r.bottom]));
const apart = (list) => list.every((a, i) => list.every((b, k) => k <= i || a[2] <= b[0] + 1 || b[2] <= a[0] + 1 || a[3] <= b[1] + 1 || b[3] <= a[1] + 1));
for (const wide of [360, 700, 1000]) {
	await page.setViewportSize({ width: wide, height: 640 });
	await page.waitForFunction((w) => document.documentElement.getAttribute('width') <= w, wide);
	const list = await parts();
	await shot(`use-${wide}`);
	check(`at ${wide} px the head has room for all`, apart(list) && list.every((r) => r[0] >= 0 && r[2] <= wide + 1), JSON.stringify(list));
	const high = await page.evaluate(() => [document.querySelector('.head .page').getBoundingClientRect().bottom, document.querySelector('.frames:not([display])').getBoundingClientRect().top]);
	check(`at ${wide} px the boxes begin below it`, high[0] <= high[1], high.join());
}
await finish(opened);
