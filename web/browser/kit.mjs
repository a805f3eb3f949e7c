// Shared by the browser tests: a phone, the API, the outbox.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const { DRAY_TEST_URL, DRAY_TEST_KEY, DRAY_TEST_DATA, DRAY_TEST_ZONE, DRAY_SHOTS } = process.env;
if (!DRAY_TEST_URL || !DRAY_TEST_KEY || !DRAY_TEST_DATA || !DRAY_TEST_ZONE) {
  throw new Error('run these tests with make test-browser');
}

export const url = DRAY_TEST_URL;

// zone is the time zone of the organizations and of their browsers; it is daytime there.
export const zone = DRAY_TEST_ZONE;

export const dray = fileURLToPath(new URL('../../bin/dray', import.meta.url));

// apiWith returns a function that calls the public API with a key.
const apiWith = (key) => async (method, path, body) => {
  const response = await fetch(`${url}/api/v2${path}`, {
    method,
    headers: { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
};

export const api = apiWith(DRAY_TEST_KEY);

// organization creates another organization, and returns its id and a function that calls the
// API with its key.
export function organization(name) {
  const out = execFileSync(
    dray,
    ['org', 'create', '--data', DRAY_TEST_DATA, '--name', name].concat('--country', 'US', '--timezone', zone, '--json'), // prettier-ignore
    { encoding: 'utf8' },
  );
  const made = JSON.parse(out);
  return { id: made.organization.id, api: apiWith(made.apiKey) };
}

// administrator invites a person, and opens the dashboard as that person.
export async function administrator(chrome, name, more = { type: 'super' }, as = api) {
  const admin = await as('POST', '/admins', { name, email: `${name.replaceAll(' ', '.')}@example.com`, ...more });
  const { link } = await as('POST', `/admins/${admin.id}/invitation`, {});
  const opened = await desk(chrome, url, { bypassCSP: true });
  await opened.page.goto(link);
  await opened.page.getByLabel('New password').fill('correct horse battery');
  await opened.page.getByRole('button', { name: 'Join' }).click();
  await opened.page.getByRole('tree').waitFor();
  return { ...opened, id: admin.id };
}

// disconnect disconnects the pages of a browser from the network, and connect reconnects
// them. On a machine without a network, the browser reports neither, so these functions do.
export const disconnect = (context) => network(context, 'offline');
export const connect = (context) => network(context, 'online');

async function network(context, state) {
  await context.setOffline(state === 'offline');
  for (const page of context.pages()) await page.evaluate((type) => dispatchEvent(new Event(type)), state);
}

// work signs a worker in over the worker's API, without the app, and returns a
// function that calls this API.
export async function work(worker) {
  let token = '';
  const call = async (method, path, body) => {
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const response = await fetch(`${url}/driver/v1${path}`, { method, headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  };
  ({ token } = await call('POST', '/login', { phone: worker.number, password: worker.password }));
  await call('POST', '/password', { password: 'correct horse battery' });
  await call('PUT', '/duty', { onDuty: true });
  return call;
}

// temporaryPassword returns the password that was texted to a new worker.
export function temporaryPassword(phone) {
  const out = execFileSync(dray, ['outbox', '--data', DRAY_TEST_DATA, '--to', phone, '--json'], { encoding: 'utf8' });
  const found = /temporary password (\S+) within/.exec(out);
  if (!found) throw new Error(`no password for ${phone} in ${out}`);
  return found[1];
}

export function browser(more = []) {
  const { DRAY_CHROMIUM: chosen } = process.env;
  const executablePath = chosen || ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync);
  if (!executablePath || !existsSync(executablePath))
    throw new Error('no Chromium: install it, or say where it is in DRAY_CHROMIUM');
  return chromium.launch({
    executablePath,
    // Only this machine is reachable.
    args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', ...more],
  });
}

export const manhattan = { latitude: 40.7484, longitude: -73.9857, accuracy: 12 };

// phone opens a page of phone size. `faults` collects what must never happen:
// dialogs, scripts injected with data, violations of the content security policy,
// requests to other hosts than `origin`, uncaught errors, and errors for what may be missing.
export async function phone(chrome, options = {}, origin = url) {
  const context = await chrome.newContext({
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
    locale: 'en-US',
    geolocation: manhattan,
    permissions: ['geolocation'],
    ...options,
  });
  context.setDefaultTimeout(Number(process.env.DRAY_TIMEOUT ?? 60_000));
  const faults = [];
  await context.addInitScript(() => {
    globalThis.hit = () => console.error('FAULT a script from the data ran');
    document.addEventListener('securitypolicyviolation', (e) =>
      console.error(`FAULT ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}`),
    );
  });
  const page = await context.newPage();
  page.on('dialog', (d) => {
    faults.push(`dialog: ${d.message()}`);
    void d.dismiss();
  });
  page.on('pageerror', (e) => faults.push(`error: ${e.stack ?? e.message}`));
  page.on('console', (m) => {
    if (m.text().startsWith('FAULT') || m.text().includes('Content Security Policy')) faults.push(m.text());
  });
  page.on('response', (r) => {
    const expected = r.url().endsWith('/tiles.json') || r.url().includes('/explanation');
    if (r.status() >= 400 && expected) faults.push(`${r.url()} is an error: ${r.status()}`);
  });
  page.on('request', (r) => {
    if (!/^(blob|data):/.test(r.url()) && new URL(r.url()).origin !== origin) faults.push(`request to ${r.url()}`);
  });
  return { context, page, faults };
}

// shot saves a screenshot if DRAY_SHOTS names a folder.
export async function shot(page, name) {
  if (!DRAY_SHOTS) return;
  mkdirSync(DRAY_SHOTS, { recursive: true });
  await page.screenshot({ path: `${DRAY_SHOTS}/${name}.png` });
}

// look returns the number of colors of an element as shown, and how light they are, from 0 to
// 255. A map has many colors.
export async function look(locator) {
  const image = await locator.screenshot({ animations: 'disabled' });
  const blank = await locator.page().context().browser().newPage();
  const seen = await blank.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
    context.drawImage(picture, 0, 0);
    const { data } = context.getImageData(0, 0, picture.width, picture.height);
    let light = 0;
    for (let i = 0; i < data.length; i += 4) light += data[i + 1];
    return { count: new Set(new Uint32Array(data.buffer)).size, light: (light * 4) / data.length };
  }, image.toString('base64'));
  await blank.close();
  return seen;
}

// eventually waits until a condition holds.
export async function eventually(what, ask, tries = 300) {
  let last;
  for (let i = 0; i < tries; i++) {
    last = await ask();
    if (last) return last;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`never: ${what}`);
}

// gone waits until the locator matches nothing.
export const gone = (locator) => eventually(`gone: ${locator}`, async () => (await locator.count()) === 0);

// hire creates a team with a worker and returns the worker's id, number and
// password.
export async function hire(name, number) {
  const team = await api('POST', '/teams', { name: `Team ${number}`, workers: [], managers: [] });
  const worker = await api('POST', '/workers', { name, phone: number, teams: [team.id] });
  return { id: worker.id, number, password: temporaryPassword(number) };
}

// signIn signs a new worker in and sets the password.
export async function signIn(page, worker) {
  await page.goto(`${url}/driver`);
  await page.getByLabel('Phone number').fill(worker.number);
  await page.getByLabel('Password').fill(worker.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('New password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Save password' }).click();
  await page.getByRole('switch').waitFor();
}

export async function goOnDuty(page, worker) {
  await page.getByRole('switch', { name: 'Off duty' }).click();
  await page.getByRole('switch', { name: 'On duty' }).waitFor();
  await eventually('on duty', async () => (await api('GET', `/workers/${worker.id}`)).onDuty);
}

// open opens a task of the list.
export async function open(page, name) {
  await page.getByText(name).click();
  await page.getByRole('button', { name: 'Back' }).waitFor();
}

// swipe drags the knob of the start button.
export async function swipe(page) {
  const button = page.getByRole('button', { name: 'Start task' });
  await button.hover(); // waits until it stops moving
  const box = await button.boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + 32, y);
  await page.mouse.down();
  for (const part of [0.25, 0.5, 0.75, 1]) await page.mouse.move(box.x + 32 + (box.width - 64) * part, y);
  await page.mouse.up();
}

export async function sign(page) {
  const pad = page.getByLabel('Sign here');
  await pad.scrollIntoViewIfNeeded();
  const box = await pad.boundingBox();
  await page.mouse.move(box.x + 40, box.y + box.height * 0.7);
  await page.mouse.down();
  for (let i = 1; i <= 24; i++) {
    await page.mouse.move(
      box.x + 40 + (i * (box.width - 100)) / 24,
      box.y + box.height * (0.55 + 0.28 * Math.sin(i * 0.9)),
    );
  }
  await page.mouse.up();
}

// desk opens a page of the dashboard, in the size of a desktop screen.
export const desk = (chrome, origin, options = {}) =>
  phone(
    chrome,
    {
      viewport: { width: 1440, height: 900 },
      deviceScaleFactor: 1,
      isMobile: false,
      hasTouch: false,
      permissions: ['clipboard-read', 'clipboard-write'],
      timezoneId: zone,
      ...options,
    },
    origin,
  );

// freePort returns an unused port.
export const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

// install starts a server without an organization. It returns the server's address, the
// one-time link that it prints, and a function that stops it.
export async function install() {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'dray-desk.'));
  const receiver = join(dirname(DRAY_TEST_DATA), 'receiver', 'ca.pem'); // created by scripts/with-server.sh
  const server = spawn(
    dray,
    ['serve', '--data', folder, '--listen', `127.0.0.1:${port}`, '--admin-listen', ''].concat(
      ['--webhook-allow-cidr', '127.0.0.1/32'],
      existsSync(receiver) ? ['--webhook-ca-file', receiver] : [],
    ),
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  server.stdout.on('data', (chunk) => (printed += chunk));
  server.stderr.on('data', (chunk) => (printed += chunk));
  const origin = `http://127.0.0.1:${port}`;
  const link = await eventually('the one-time link', () => {
    if (server.exitCode !== null) throw new Error(`the server stopped: ${printed}`);
    return /^\s+(http:\S+#\/link\/\S+)$/m.exec(printed)?.[1];
  });
  const stop = async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return { origin, link, stop };
}

const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

// violations returns the serious and critical problems (or all) that axe finds in a page or
// within an element, one line for each rule. Color schemes differ only in colors, so that the
// check of a page's second scheme can be limited to the rules about colors.
export async function violations(page, { within, all = false, onlyColors = false } = {}) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  const options = {
    resultTypes: ['violations'],
    ...(onlyColors && { runOnly: ['color-contrast', 'link-in-text-block'] }),
  };
  const found = await page.evaluate(([at, how]) => globalThis.axe.run(at ?? document, how), [within, options]);
  return found.violations
    .filter((v) => all || v.impact === 'serious' || v.impact === 'critical')
    .map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 140)).join(' | ')}`);
}
