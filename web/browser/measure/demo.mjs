// Shared by the measurements: a running demonstration, and the comparison of a board with it.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const env = (name, usual) => Number(process.env[name] ?? usual);
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// start starts a demonstration with a number of simulated workers, and a browser.
export async function start(workers) {
  const port = env('PORT', 18490);
  const origin = `http://127.0.0.1:${port}`;
  const dray = process.env.DRAY || fileURLToPath(new URL('../../../bin/dray', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'dray-measure.'));
  const admin = process.env.PROFILE ? `127.0.0.1:${port + 1}` : '';
  const listen = ['--listen', `127.0.0.1:${port}`, '--admin-listen', admin];
  const server = run(dray, ['demo', '--data', folder, ...listen, '--workers', String(workers), '--speed', '4'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  server.stdout.on('data', (chunk) => (printed += chunk));
  server.stderr.on('data', (chunk) => (printed += chunk));

  async function found(pattern) {
    for (let i = 0; i < 600; i++) {
      const match = pattern.exec(printed);
      if (match) return match[1];
      if (server.exitCode !== null) throw new Error(`the server stopped: ${printed}`);
      await pause(200);
    }
    throw new Error(`no ${pattern} in ${printed}`);
  }

  const link = await found(/(http:\S+#\/link\/\S+)/);
  const key = await found(/API key\s+(\S+)/);

  async function api(method, path, body) {
    const response = await fetch(`${origin}/api/v2${path}`, {
      method,
      headers: { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
      body: body && JSON.stringify(body),
    });
    if (response.status === 429) {
      await pause(500);
      return api(method, path, body);
    }
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  const chrome = await chromium.launch({
    executablePath: process.env.DRAY_CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--js-flags=--expose-gc'],
  });

  // profile records where the server spends the processor's time, for some seconds.
  async function profile(seconds) {
    if (!admin) return;
    const response = await fetch(`http://${admin}/debug/pprof/profile?seconds=${seconds}`);
    writeFileSync(process.env.PROFILE, Buffer.from(await response.arrayBuffer()));
  }

  async function stop() {
    await chrome.close();
    server.kill();
    await new Promise((resolve) => server.once('exit', resolve));
    rmSync(folder, { recursive: true, force: true });
  }

  return { origin, dray, folder, link, key, api, chrome, server, profile, stop };
}

// run starts a program. With LOW=1, it gets the processor only when no other program needs it,
// as if it had its own machine.
export const run = (program, args, options) =>
  env('LOW', 0) ? spawn('nice', ['-n', '19', program, ...args], options) : spawn(program, args, options);

// differences compares the board with the API, record by record. What differs because it has just
// changed does not differ three times.
export async function differences(page) {
  let found;
  for (let nth = 0; nth < 3 && found?.count !== 0; nth++) found = await compare(page);
  return found;
}

const compare = (page) =>
  page.evaluate(async () => {
    const { records } = document.querySelector('[role=tree]').board;
    const read = await (await fetch('/api/v2/board', { cache: 'no-store' })).json();
    await new Promise((resolve) => setTimeout(resolve, 2500)); // until pending events have arrived
    const later = await (await fetch('/api/v2/board', { cache: 'no-store' })).json();
    const stable = new Map(later.tasks.map((t) => [t.id, t.timeLastModified]));
    const wrong = [];
    const absent = [];
    let compared = 0;
    for (const task of read.tasks) {
      if (stable.get(task.id) !== task.timeLastModified) continue; // changed meanwhile
      const mine = records.tasks.get(task.id);
      if (mine && mine.timeLastModified > task.timeLastModified) continue;
      compared++;
      if (!mine) {
        absent.push(task.id);
        continue;
      }
      for (const name of ['state', 'worker', 'completeBefore', 'notes', 'shortId', 'timeLastModified']) {
        if (mine[name] !== task[name]) wrong.push(`${task.id} ${name}: ${mine[name]} instead of ${task[name]}`);
      }
    }
    for (const worker of read.workers) {
      const same = later.workers.find((w) => w.id === worker.id);
      if (same?.version !== worker.version) continue;
      if (records.orders.isOlder(`W${worker.id}`, worker.version)) continue; // changed since
      const mine = records.confirmedList(`W${worker.id}`).join();
      if (mine !== worker.tasks.join())
        wrong.push(`list of ${worker.name}: ${mine.length} instead of ${worker.tasks.join().length}`);
    }
    if (absent.length > 0) {
      const last = await (await fetch('/api/v2/board', { cache: 'no-store' })).json();
      const exists = new Set(last.tasks.map((t) => t.id)); // others were deleted meanwhile
      for (const id of absent) if (exists.has(id)) wrong.push(`${id} is missing`);
    }
    return { compared, wrong: wrong.slice(0, 10), count: wrong.length };
  });
