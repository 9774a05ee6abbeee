// SPDX-License-Identifier: BSD-2-Clause
// The agents, and a burst that is started from the page: its limits, who may start one, where it shows. And what
// the page says where there is nothing: no agents, no samples, nothing to compare.
//
//	node site_agents.mjs BUILD [SCREENSHOT-FOLDER]
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { check } from './lib/page.mjs';
import { BUILD, closeAll, done, flame, ingest, makeFolder, noSampling, openBrowser, skip, start, startServer, wick } from './lib/site.mjs';

const folder = makeFolder(), reason = noSampling(folder);
if (reason) {
	skip('agents and bursts', reason);
	await closeAll();
	process.exit(0);
}
const add = (access) => execFileSync(wick, ['token', 'add', access, '--name', access, '--data', join(folder, 'data')], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
const admin = add('admin'), read = add('read');
const server = await startServer(folder);
const now = Math.floor(Date.now() / 1000);
await ingest(server.url, 'old', {}, ['main;parse 100'], now - 30000, now - 29990, admin);

const opened = await openBrowser(server.url);
const { page, context } = opened;
const shot = async (name) => process.argv[3] && page.screenshot({ path: `${process.argv[3]}/${name}.png` });
const hasText = (selector, text) => page.waitForFunction(([where, wanted]) => (document.querySelector(where)?.innerText ?? '').includes(wanted), [selector, text]);

async function logIn(token) {
	await context.clearCookies();
	await page.goto('about:blank');
	await page.goto(`${server.url}/#/agents`);
	await page.fill('.login input', token);
	await page.keyboard.press('Enter');
	await page.waitForSelector('.bursts p');
}

await logIn(read);
await hasText('.bursts', 'needs an admin token');
check('a read token shows the limits of bursts, and no form', /At most 1000 Hz for 10 min/.test(await page.innerText('.bursts')) && !await page.$('.burst'), await page.innerText('.bursts'));
check('without an agent the page says how to start one', /wick agent --server http/.test(await page.innerText('#view')) && !/healthy/.test(await page.innerText('.summary')), await page.innerText('.summary'));

// An agent comes; its host runs a service.
await start([wick, 'agent', '--server', server.url, '--window', '10s', '--spool', join(folder, 'spool'), '--overhead', 'off', '--breaker', 'off'], null,
	{ env: { ...process.env, WICK_TOKEN: admin } });
await start([join(BUILD, 'tests/workloads/split'), '600000', '50'], null, { env: { ...process.env, WICK_SERVICE: 'shop' } });
await logIn(admin);
await page.waitForSelector('.agents tbody tr');
const row = (await page.innerText('.agents tbody tr')).replace(/\s+/g, ' ');
check('the agent has its rate, cost, breaker, memory, spool, window and version', /99 Hz.*%.*off.*MiB of.*empty.*10 s/.test(row) && /0\.\d/.test(row), row);
await shot('agents');

await page.fill('.burst input[list]', 'shop');
await page.fill('.burst label:has-text("Rate") input', '499');
await page.fill('.burst label:has-text("Seconds") input', '15');
await page.click('.burst button');
await hasText('.bursts table', '499 Hz');
check('a burst is in the list', /shop 499 Hz 15 s/.test((await page.innerText('.bursts table')).replace(/\s+/g, ' ')), await page.innerText('.bursts table'));
await page.click('.burst button');
await page.waitForSelector('.burst .problem');
check('the next one of the service must wait, in words', /burst/i.test(await page.innerText('.burst .problem')), await page.innerText('.burst .problem'));
await shot('agents-burst');

// A page of another server cannot start one: the cookie is not sent, and its origin is refused.
const forged = await page.evaluate(() => fetch('/api/burst', { method: 'POST', body: '{"service": "shop2", "rate": 100, "seconds": 5}' }).then((answer) => answer.status));
const cookie = (await context.cookies()).map((each) => `${each.name}=${each.value}`).join('; ');
const from = (origin) => fetch(`${server.url}/api/burst`, { method: 'POST', headers: { cookie, ...(origin ? { origin } : {}) }, body: '{"service": "shop3", "rate": 100, "seconds": 5}' }).then((answer) => answer.status);
check('this page may start another one, a page of another server may not', forged === 200 && await from('http://other.test') === 403 && await from('') === 403, `${forged}`);

// The burst is marked once an agent has it.
for (let started = 0; !started;) {
	const { bursts } = await (await fetch(`${server.url}/api/bursts`, { headers: { Authorization: `Bearer ${admin}` } })).json();
	started = bursts.find((burst) => burst.service === 'shop').started;
	await new Promise((again) => { setTimeout(again, 300); });
}
await page.goto(`${server.url}/#/service/shop`);
await flame(page);
await hasText('.events', '1 burst');
await page.click('.events summary');
check('the service shows it with its rate, length and who asked', /burst: 499 Hz for 15 s at .*requested by/.test(await page.innerText('.events ul')), await page.innerText('.events ul'));
await shot('service-burst');

// Nothing to show
await page.goto(`${server.url}/#/service/old`);
await page.waitForSelector('.empty button');
check('where the newest samples are is said', /newest samples are from/.test(await page.innerText('.empty')), await page.innerText('.empty'));
await page.click('.empty button');
check('and one click shows them', (await (await flame(page)).evaluate(() => window.wickPage.boxes(0).map((box) => box.name))).includes('parse'));
await page.goto(`${server.url}/#/service/nothing`);
await hasText('.empty', 'in the last 30 days');
await page.goto(`${server.url}/#/compare/old?from=${now - 40000}&to=${now - 35000}&diff_from=${now - 30100}&diff_to=${now - 29000}`);
await page.waitForSelector('.changeset');
check('a side without samples is not "no change"', /^Before has no samples, so there is nothing to compare/.test(await page.innerText('.changeset')), await page.innerText('.changeset'));
opened.problems = opened.problems.filter((text) => !/status of (401|409|429)/.test(text));
await done(opened);
