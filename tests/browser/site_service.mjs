// SPDX-License-Identifier: BSD-2-Clause
// The view of one service: the part of the time that is selected by pointer and by keys, filters, the state
// of the graph in the address, links that last, and times and selectors as people write them.
//
//	node site_service.mjs BUILD
import { check } from './lib/page.mjs';
import { done, flame, ingest, makeFolder, openBrowser, startServer } from './lib/site.mjs';

const NOW = Math.floor(Date.now() / 1000);
const server = await startServer(makeFolder());
for (let minute = 50; minute > 0; minute -= 5)
	for (const host of ['a1', 'a2'])
		await ingest(server.url, 'web', { host, release: minute > 25 ? '1.0' : '1.1' }, ['main;parse 300', `main;query ${host === 'a1' ? 200 : 202}`], NOW - 60 * minute, NOW - 60 * minute + 60);

const opened = await openBrowser(server.url);
const { page } = opened;
const hash = () => page.evaluate(() => decodeURIComponent(location.hash));
const part = async () => (/part=(\d+)-(\d+)/.exec(await hash()) || []).slice(1).map(Number);
const total = async () => (await flame(page)).evaluate(() => window.wickPage.boxes(0)[0].total);
// The graph of another selection is another document.
const graphOf = (text) => page.waitForFunction((wanted) => decodeURIComponent(document.querySelector('.flame iframe')?.src || '').includes(wanted), text);

await page.goto(`${server.url}/#/service/web`);
const whole = await total();
await page.waitForSelector('.flags button');
const hosts = await page.locator('.hosts span:not(.spacer)').allTextContents();
check('a row for each host', hosts.sort().join() === 'a1,a2', hosts.join());
check('the release that came is marked', (await page.textContent('.flags')).includes('1.1') && !(await page.textContent('.flags')).includes('1.0'));

const canvas = page.locator('.plot canvas'), box = await canvas.boundingBox();
await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
await page.mouse.down();
await page.mouse.move(box.x + box.width * 0.75, box.y + 20, { steps: 5 });
await page.mouse.up();
const [from, to] = await part();
check('dragging selects a part', to - from >= 1700 && to - from <= 1980 && from % 60 === 0, `${from} ${to}`);
await graphOf(`from=${from}`);
const some = await total();
check('the graph is about the part', some > 0 && some < whole, `${some} of ${whole}`);

await canvas.focus();
await page.keyboard.press('ArrowRight');
check('an arrow key moves it by a step', (await part()).join() === `${from + 60},${to + 60}`, await hash());
await page.keyboard.press('Shift+ArrowLeft');
check('with Shift it gets shorter', (await part()).join() === `${from + 60},${to}`, await hash());
check('screen readers hear the part', /\d+ min|\d+ s/.test(await canvas.getAttribute('aria-valuetext')), await canvas.getAttribute('aria-valuetext'));
await page.keyboard.press('Escape');
check('Escape removes it', (await part()).length === 0, await hash());
await page.goBack();
check('and "back" returns to it', (await part()).join() === `${from + 60},${to}`, await hash());
await page.goto('about:blank');

await page.goto(`${server.url}/#/service/web`);
await (await flame(page)).click('#tabs >> text=Table');
await page.waitForFunction(() => location.hash.includes('flame='));
check('the state of the graph is in the address', (await hash()).includes('flame=w=table'), await hash());
await page.goto('about:blank');
await page.goBack();
const restored = await (await page.waitForSelector('.flame iframe')).contentFrame(); // without boxes
await restored.waitForFunction(() => window.wickPage);
check('a link restores it', await restored.evaluate(() => document.querySelector('.tab[aria-selected=true]').textContent) === 'Table');
await restored.click('#tabs >> text=Flame graph');

await page.click('text=+ Filter');
await page.selectOption('[aria-label="label to filter by"]', 'host');
await page.selectOption('[aria-label="value of host"]', 'a1');
await graphOf('host="a1"');
check('a filter is a chip, and in the address', (await page.textContent('.chip')).includes('host = a1') && (await hash()).includes('where=host="a1"'), await hash());
check('half of the samples are left', Math.abs(await total() - whole / 2) < whole / 20);
await page.click('.chip button');
check('the chip removes it', !(await hash()).includes('where'), await hash());

await page.click('summary:has-text("Share")');
const link = await page.inputValue('.share .link');
check('a link has times that last', /from=\d{10}&to=\d{10}/.test(link), link);
const waiting = page.waitForEvent('download');
await page.click('.share a:has-text("pprof")');
check('a profile is a file', (await waiting).suggestedFilename() === 'wick-web.pb.gz');

const times = await page.evaluate(async () => {
	const { readConditions, selectorOf, whereText } = await import('/page/selector.js'), { readTime, writtenTime } = await import('/page/times.js');
	const hard = [{ label: 'unit', compare: '!=', value: 'a"b\\c, {d}' }];
	return { same: JSON.stringify(readConditions(whereText(hard))) === JSON.stringify(hard), unread: readConditions('host=a1'), plain: selectorOf('web', ''), odd: selectorOf('a b"', 'x="1"'),
		day: writtenTime('2026-11-16 14:05'), local: new Date(2026, 10, 16, 14, 5).getTime() / 1000, hour: readTime('now') - readTime('-1h'), server: readTime('14:05Z') };
});
check('conditions survive quotes and commas', times.same && times.unread === null);
check('selectors quote what is not a plain name', times.plain === 'web' && times.odd === '{service="a b\\"", x="1"}', times.odd);
check('times are local', Number(times.day) === times.local && times.hour === 3600 && Number.isNaN(times.server), times.day);
await done(opened);
