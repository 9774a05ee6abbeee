// SPDX-License-Identifier: BSD-2-Clause
// Checks the page in a frame, as the web page has it: the messages between them, and that another
// profile is shown in the same state.
//
//	node page_frame.mjs X.html SCREENSHOT-FOLDER WICK
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boxes, named, ready, rows } from './lib/html.mjs';
import { check, finish, openFile } from './lib/page.mjs';

const wick = process.argv[4], folder = mkdtempSync(join(tmpdir(), 'frame-'));

// The file of some stacks.
function file(stacks) {
	writeFileSync(join(folder, 'x.folded'), stacks.join('\n') + '\n');
	execFileSync(wick, ['flame', join(folder, 'x.folded'), '-o', join(folder, 'x.html')], { stdio: 'ignore' });
	return readFileSync(join(folder, 'x.html'), 'utf8');
}

// What /api/profile?format=page answers: the data of the file without its program.
function dataOf(html) {
	const about = Buffer.from(/id="about">(.*?)<\/script>/s.exec(html)[1]), packed = Buffer.from(/id="profile">(.*?)<\/script>/s.exec(html)[1], 'base64');
	const size = Buffer.alloc(4);
	size.writeUInt32LE(about.length);
	return Buffer.concat([size, about, packed]);
}

const deep = Array.from({ length: 60 }, (_, i) => `d${i}`).join(';');
const first = ['app;main;parse;skip 30', 'app;main;parse;word 20', 'app;main;write 40', `app;main;${deep} 10`];
const second = ['app;main;aaa 50', 'app;main;parse;skip 10', 'app;main;parse;word 30', 'app;main;write 10', `app;main;${deep};more;and;more 10`];

const opened = await openFile(process.argv[2]);
const { browser } = opened;
opened.requests.length = 0;
const site = await browser.newPage({ viewport: { width: 1200, height: 500 } });
site.on('pageerror', (error) => opened.problems.push(String(error)));
site.on('dialog', (dialog) => { opened.problems.push('dialog'); dialog.dismiss(); });
const parent = `<!DOCTYPE html><meta charset="utf-8"><title>parent</title><body style="margin:0">
<iframe id="frame" title="flame graph" sandbox="allow-scripts" style="border:0;width:1200px;height:500px"></iframe>
<script>window.heard = []; addEventListener('message', (e) => e.source === document.getElementById('frame').contentWindow && heard.push(e.data));</script>`;
const frameFile = file(first);
await site.route('**/*', (route) => {
	const path = new URL(route.request().url()).pathname;
	const body = path === '/' ? parent : path === '/frame' ? frameFile : null;
	return body ? route.fulfill({ contentType: 'text/html', body }) : route.abort();
});
await site.goto('http://wick.test/');

const heard = (kind) => site.evaluate((wanted) => window.heard.filter((m) => m.wick === wanted), kind);
// Waits for the n-th message of a kind.
const hear = async (kind, count) => {
	await site.waitForFunction(([wanted, n]) => window.heard.filter((m) => m.wick === wanted).length >= n, [kind, count]);
	return (await heard(kind))[count - 1];
};
const post = (message) => site.evaluate((m) => document.getElementById('frame').contentWindow.postMessage(m, '*'), message);
const update = (data) => site.evaluate((text) => {
	const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	document.getElementById('frame').contentWindow.postMessage({ wick: 'update', data: bytes.buffer }, '*', [bytes.buffer]);
}, data.toString('base64'));

await site.evaluate(() => { document.getElementById('frame').src = '/frame#z=app/main&s=skip'; });
check('the frame says when it has drawn', (await hear('ready', 1)).boxes > 60, JSON.stringify(await heard('ready')));
const frame = site.frames()[1];
await ready(frame);
check('it has no origin', await frame.evaluate(() => self.origin === 'null'));
check('it starts in the state of its address', named(await boxes(frame), 'main').dim === false && named(await boxes(frame), 'app').dim && named(await boxes(frame), 'skip').hit);

// Its state

await frame.click('#table-tab');
check('a change of the view is told as a step', JSON.stringify(await hear('state', 1)) === JSON.stringify({ wick: 'state', text: '#z=app/main&s=skip&w=table', isStep: true }),
	JSON.stringify(await heard('state')));
check('the address of the frame stays', await frame.evaluate(() => location.hash) === '#z=app/main&s=skip');
await post({ wick: 'restore', text: '#z=app/main/parse' });
await hear('ready', 2);
check('a state can be restored', !named(await boxes(frame), 'parse').dim && named(await boxes(frame), 'main').dim && (await frame.textContent('#found')) === '');
await frame.evaluate(() => window.postMessage({ wick: 'restore', text: 'w=table' }, '*'));
await post({ wick: 'unknown' });
await post(null);
await post({ wick: 'restore', text: 'z=app/main/parse&s=word' });
await hear('ready', 3);
check('messages of others are not for it', await frame.isVisible('#graph-view') && await frame.isHidden('#table-view'));
await post({ wick: 'theme', theme: 'dark' });
await frame.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
check('dark or light is what the page around it says', await frame.evaluate(() => document.querySelectorAll('button.theme').length === 0));
await post({ wick: 'theme', theme: null });

// Another profile

const before = await boxes(frame);
await update(dataOf(file(second)));
await hear('ready', 4);
const after = await boxes(frame);
check('an update shows the other profile', named(after, 'app').total === 110 && named(after, 'word').total === 30, JSON.stringify(named(after, 'word')));
check('zoom and search stay', !named(after, 'parse').dim && named(after, 'main').dim && named(after, 'word').hit && /^27.3% matched, 1 box$/.test(await frame.textContent('#found')),
	await frame.textContent('#found'));
check('siblings keep their order and their row', ['skip', 'word'].every((name) => named(before, name).top === named(after, name).top)
	&& named(after, 'skip').right <= named(after, 'word').left + 0.1);
check('an update is not a change of state', (await heard('state')).length === 1);
await update(dataOf(file(['app;main;write 5'])));
await hear('ready', 5);
check('without the box, its caller is shown', !named(await boxes(frame), 'main').dim && named(await boxes(frame), 'app').dim);
await update(dataOf(file(first)));
await hear('ready', 6);
check('when it is back, so is the zoom', !named(await boxes(frame), 'parse').dim && named(await boxes(frame), 'main').dim);
await update(dataOf(file(['app;main;write 5'])));
await hear('ready', 7);
await frame.click('#reset');
await update(dataOf(file(first)));
await hear('ready', 8);
check('unless one has zoomed since', !named(await boxes(frame), 'app').dim);

// Where one looks

await post({ wick: 'restore', text: '' });
await hear('ready', 9);
const shownTop = async () => named(await boxes(frame), 'd30').top;
await frame.evaluate(() => { document.querySelector('#graph .pane').scrollTop -= 300; });
const scrolled = await shownTop();
await update(dataOf(file(second)));
await hear('ready', 10);
check('a deeper graph does not move rows', scrolled === await shownTop(), `${scrolled} ${await shownTop()}`);
await frame.focus('#graph .pane');
for (const key of ['Home', 'ArrowUp', 'ArrowUp', 'ArrowUp'])
	await frame.press('#graph .pane', key);
const focused = (await boxes(frame)).find((box) => box.focus).name;
await update(dataOf(file([...second, 'app;main;zzz 1'])));
await hear('ready', 11);
check('the focused box keeps the focus', focused === 'aaa' && (await boxes(frame)).find((box) => box.focus)?.name === 'aaa' &&
	/^aaa, 50 samples/.test(await frame.getAttribute('#graph .unseen', 'aria-label')), await frame.getAttribute('#graph .unseen', 'aria-label'));
await post({ wick: 'restore', text: 'w=sandwich&f=parse' });
await hear('ready', 12);
await update(dataOf(file(first)));
await hear('ready', 13);
check('the chosen function stays', /^parse/.test(await frame.textContent('#chosen')) && (await frame.evaluate(() => window.wickPage.sandwich(0)))[0].total === 50);
await update(dataOf(file(['app;main;write 5'])));
await hear('ready', 14);
check('also when it is not there', await frame.textContent('#chosen') === 'parsehas no samples here' && await frame.isHidden('#halves'), await frame.textContent('#chosen'));
await update(dataOf(file(second)));
await hear('ready', 15);
check('and when it is back', (await frame.evaluate(() => window.wickPage.sandwich(0)))[0].total === 40 && await frame.isVisible('#halves'));
await post({ wick: 'restore', text: 'w=table&o=-total' });
await hear('ready', 16);
await update(dataOf(file(first)));
await hear('ready', 17);
check('the table keeps its order', (await rows(frame)).map((row) => row.at(-1)).slice(0, 4).join() === 'main,parse,write,skip', (await rows(frame)).map((row) => row.at(-1)).slice(0, 4).join());

// What cannot be shown

const changed = (from, to) => dataOf(file(second).replace(from, to));
await update(changed(/"wick":"[^"]*"/, '"wick":"0.0.1"'));
check('data of another version is refused', /another page/.test((await hear('refused', 1)).reason));
await update(dataOf(file(second)).subarray(0, 3000));
await hear('refused', 2);
await post({ wick: 'update', data: 'nothing' });
await hear('refused', 3);
check('and broken data, without a change', (await rows(frame)).length > 60 && (await heard('ready')).length === 17);
await update(dataOf(file(second)));
await update(dataOf(file(['app;last 7'])));
await hear('ready', 18);
check('of two updates the last one counts', (await rows(frame)).map((row) => row.at(-1)).join() === 'last', (await rows(frame)).length);
const hostile = '<img src=x onerror=alert(1)>';
await update(dataOf(file([`app;${hostile} 5`])));
await frame.waitForFunction((name) => window.wickPage.rows().some((row) => row.includes(name)), hostile);
await frame.click('#graph-tab');
check('markup is text', named(await boxes(frame), hostile) && await frame.evaluate(() => document.querySelectorAll('img, script[src]').length === 0));
if (process.argv[3])
	await site.screenshot({ path: `${process.argv[3]}/page_frame.png` });
rmSync(folder, { recursive: true });
await finish(opened);
