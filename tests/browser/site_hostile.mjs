// SPDX-License-Identifier: BSD-2-Clause
// Names of services, functions, labels, releases, hosts and tokens that are markup stay texts in every view:
// no element is made from them, nothing is executed, nothing is asked from elsewhere.
//
//	node site_hostile.mjs BUILD [SCREENSHOT-FOLDER]
import { boxes, named } from './lib/html.mjs';
import { check } from './lib/page.mjs';
import { done, flame, ingest, makeFolder, openBrowser, startServer } from './lib/site.mjs';

const markup = (what) => `a"'><img src=http://evil.test/${what} onerror=alert('${what}')><script>alert('${what}')</script>`;
const SERVICE = markup('service'), FUNCTION = markup('function'), HOST = markup('host'), ZONE = markup('label'), RELEASE = markup('release');

const server = await startServer(makeFolder());
const now = Math.floor(Date.now() / 1000);
const labels = { host: HOST, zone: ZONE };
await ingest(server.url, SERVICE, { ...labels, release: 'old' }, ['main;' + FUNCTION + ' 100', 'main;write 300'], now - 1200, now - 1190);
await ingest(server.url, SERVICE, { ...labels, release: RELEASE }, ['main;' + FUNCTION + ' 300', 'main;write 100'], now - 30, now - 20);

const opened = await openBrowser(server.url);
const { page } = opened;

// What a name could have made: elements that load or run something, and attributes that do.
const made = (frame) => frame.evaluate((isFrame) => {
	const wrong = [...document.querySelectorAll('img, object, embed, video, audio, base, form[action], a[href^="javascript:"]')];
	wrong.push(...[...document.querySelectorAll('script')].filter((each) => (isFrame ? each.src : !each.src.startsWith(location.origin + '/page/'))));
	wrong.push(...[...document.querySelectorAll('iframe')].filter((each) => isFrame || !each.closest('.flame') || !each.src.startsWith(location.origin + '/api/')));
	wrong.push(...[...document.querySelectorAll('*')].filter((each) => [...each.attributes].some((attribute) => /^on/.test(attribute.name))));
	return wrong.map((each) => each.outerHTML.slice(0, 100));
}, frame !== page.mainFrame());

async function sound(name) {
	const wrong = [];
	for (const frame of page.frames().filter((each) => !/^chrome-error:/.test(each.url()))) // the browser's own page
		wrong.push(...await made(frame));
	check(`${name}: no element is made from a name`, wrong.length === 0, wrong.join(' '));
	if (process.argv[3])
		await page.screenshot({ path: `${process.argv[3]}/hostile-${name.replaceAll(' ', '-')}.png` });
}

const hasText = (text) => page.waitForFunction((wanted) => document.body.innerText.includes(wanted), text);

await page.goto(server.url);
await hasText(SERVICE);
await sound('services');
await page.click('.list a');
const graph = await flame(page);
check('the service is found by its name', named(await boxes(graph), FUNCTION)?.total > 0);
check('the title of the page has it', (await page.title()).includes(SERVICE), await page.title());
await hasText(HOST.slice(0, 5));
await sound('service');
await page.mouse.move(700, 190); // the strip tells what is there
await sound('strip');
for (const summary of await page.$$('summary'))
	await summary.click();
await sound('lists');

// Filters: a label and its values are chosen from lists.
const service = page.url().split('?')[0];
const where = encodeURIComponent(`zone=${JSON.stringify(ZONE)}`);
await page.goto('about:blank');
await page.goto(`${service}?where=${where}`);
check('a filter by a hostile value finds its samples', named(await boxes(await flame(page)), FUNCTION)?.total > 0);
await sound('filter');
for (const button of await page.$$('.filters button'))
	if (await button.isVisible())
		await button.click();
await sound('choice of labels');

// A comparison of releases
await page.goto('about:blank');
await page.goto(`${service.replace('#/service/', '#/compare/')}?release_before=old&release_after=${encodeURIComponent(RELEASE)}`);
await page.waitForSelector('.changes tbody tr');
await hasText(FUNCTION.slice(0, 20));
check('the comparison names the function', /^m\d$/.test(named(await boxes(await flame(page), 1), FUNCTION)?.class));
await sound('compare');

await page.goto('about:blank');
await page.goto(`${service.replace('#/service/', '#/live/')}?window=600`);
check('the live view shows it', named(await boxes(await flame(page)), FUNCTION)?.total > 0);
await sound('live');
await page.goto(`${server.url}/#/agents`);
await page.waitForSelector('h1');
await sound('agents');

// Addresses that nobody made by a click
for (const [name, fragment] of [['unknown view', `/${encodeURIComponent(FUNCTION)}`], ['unknown service', `/service/${encodeURIComponent(FUNCTION)}`],
	['broken filter', `/service/x?where=${encodeURIComponent(FUNCTION)}`], ['broken times', `/service/x?from=${encodeURIComponent(FUNCTION)}&part=1-x`],
	['unknown type', `/service/x?type=${encodeURIComponent(FUNCTION)}&flame=${encodeURIComponent('z=' + FUNCTION)}`], ['object names', '/__proto__/constructor?type=__proto__']]) {
	await page.goto('about:blank');
	await page.goto(`${server.url}/#${fragment}`);
	await page.waitForFunction(() => document.querySelector('#view').childElementCount > 0);
	await page.waitForLoadState('networkidle');
	await sound(name);
}
opened.problems = opened.problems.filter((text) => !/status of 4\d\d|^Framing/.test(text)); // of addresses that are wrong
await done(opened);
