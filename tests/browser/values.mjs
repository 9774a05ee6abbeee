// SPDX-License-Identifier: BSD-2-Clause
// Checks the graph of a profile with several value types (make_values.py).
//
//	node values.mjs VALUES.svg [SCREENSHOT-FOLDER]
import { readFileSync } from 'node:fs';
import { ready } from './lib/html.mjs';
import { boxes, check, finish, middle, open, sound, tooltip, width } from './lib/page.mjs';

const opened = await open(400);
const { page, shot } = opened;
const shown = () => page.evaluate(boxes);
const named = (list, name) => list.find((b) => b.name === name);
const near = (a, b) => Math.abs(a - b) < 1;
const choose = (kind, name) => page.evaluate(([which, wanted]) => {
	const choice = document.querySelector('select.' + which);
	choice.selectedIndex = [...choice.children].findIndex((o) => o.textContent === wanted);
	choice.dispatchEvent(new Event('change'));
}, [kind, name]);

const folded = async (from) => {
	const [download] = await Promise.all([from.waitForEvent('download'), from.click('.folded')]);
	return readFileSync(await download.path(), 'utf8');
};

const cycles = await shown();
check('folded stacks have the value that is shown', /^[^;]*;main;load;read 100\n[^;]*;main;work;add 300\n[^;]*;main;work;walk 600\n$/.test(await folded(page)), await folded(page));
const headText = () => page.evaluate(() => document.querySelector('.head .about').textContent + '|' + document.documentElement.getAttribute('aria-label'));
check('the head tells the value', /^cycles 1,000 · 100 samples.*: cycles 1,000 · 100 samples$/.test(await headText()), await headText());
check('widths are cycles', near(width(named(cycles, 'walk')), 768) && near(width(named(cycles, 'read')), 128));
const at = await middle(page, 'walk');
await page.mouse.move(at.x, at.y);
const tip = await tooltip(page);
check('the tooltip lists all values', /60 samples · 600 · 60\.0%/.test(tip) && /instructions 300 · 20\.0%/.test(tip) && /alloc_space 4\.00 KiB/.test(tip), tip);
check('and the ratio', /IPC 0\.500, overall 1\.500/.test(tip), tip);
await choose('value', 'alloc_space');
const bytes = await shown();
check('widths can be bytes', sound(bytes) && near(width(named(bytes, 'read')), 1280 * 0.9375) && !named(bytes, 'add'));
check('and so are folded stacks', /^[^;]*;main;load;read 61440\n[^;]*;main;work;walk 4096\n$/.test(await folded(page)), await folded(page));
check('the head is of the chosen value', /^alloc_space 64\.0 KiB\|flame graph of .*: alloc_space 64\.0 KiB$/.test(await headText()), await headText());
check('the address tells it', await page.evaluate(() => location.hash) === '#v=2');
await page.keyboard.press('v');
check('the key v shows the next value', JSON.stringify(await shown()) === JSON.stringify(cycles));
await choose('ratio', 'IPC');
const colored = await shown();
check('colours can be a ratio', named(colored, 'walk').color === 'm4' && named(colored, 'add').color === 'd4' && named(colored, 'main').color === 'same',
	JSON.stringify(colored.map((b) => [b.name, b.color])));
check('and say what they mean', /IPC: 1\.500 overall; orange is less/.test(await page.textContent('.meaning')));
await shot('values-ratio');
await page.goBack();
check('back shows the usual ones', JSON.stringify(await shown()) === JSON.stringify(cycles));
await page.keyboard.press('i');
await choose('value', 'instructions');
check('the inverted tree has all values', near(width(named(await shown(), 'add')), 1280 * 1100 / 1500) && sound(await shown()));

// The page of the same profile.
const html = await opened.browser.newPage();
await html.goto(opened.file.replace('.svg', '.html'));
await ready(html);
check('folded stacks count samples, as the command does', / 60$/m.test(await folded(html)) && !/ 600$/m.test(await folded(html)), await folded(html));
await html.selectOption('#switches select', 'alloc_space');
check('the head of the page is of the chosen value', /^alloc_space 64\.0 KiB$/.test(await html.textContent('#summary')), await html.textContent('#summary'));
check('and so are its folded stacks', / 61440$/m.test(await folded(html)), await folded(html));
await finish(opened);
