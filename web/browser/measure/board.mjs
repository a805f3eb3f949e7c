// Measures the board on a busy day: the time until it is usable, long tasks of the main thread
// (more than 50 ms), the heap, and whether it shows the same as the API after an interruption.
// For each long task, it also reports the processor time, and the time for which other threads
// had the processor instead: at:whole/processor/others, in ms.
//
//   go build -o bin/dray ./cmd/dray && node web/browser/measure/board.mjs
//
// TASKS, WORKERS, SECONDS, EVENTS (per second) and CUT (of the stream, in seconds) change
// what is measured. MAP=0 leaves out the map, LOW=1 lets the server and the simulated workers
// have the processor only when the browser does not need it, as if they had their own machine,
// TRACE names a file for a trace of Chromium, and PROFILE one for a profile of the server.
// CONTROL is the number of seconds, before the board is opened, in which an empty page that
// needs the processor for 4 ms at a time is measured next to the same server: it shows how
// often this machine alone makes a short task take over 50 ms.

import { readFileSync } from 'node:fs';
import { differences, env, pause, run, start } from './demo.mjs';

const [tasks, workers, seconds, cut] = [env('TASKS', 5000), env('WORKERS', 200), env('SECONDS', 60), env('CUT', 20)];
const [rate, control] = [env('EVENTS', 50), env('CONTROL', 0)];
const categories = ['toplevel', 'devtools.timeline', 'blink', 'cc', 'gpu', 'v8', 'disabled-by-default-v8.cpu_profiler'];
const { origin, dray, folder, link, key, api, chrome, server, profile, stop: end } = await start(0);

// seed creates tasks around the hubs and gives most of them to workers.
async function seed() {
  let day = await api('GET', '/board');
  while (day.workers.filter((w) => w.onDuty).length < workers * 0.9) {
    await pause(1000);
    day = await api('GET', '/board');
  }
  const { hubs, workers: people } = day;
  const spread = () => (Math.random() - 0.5) * 0.04;
  const [lon, lat] = hubs[0].location;
  const made = [];
  while (made.length < tasks) {
    const batch = Array.from({ length: Math.min(100, tasks - made.length) }, (_, i) => ({
      destination: {
        address: { number: String(made.length + i + 1), street: 'Main Street', city: 'Alderbrook', country: 'US' },
        location: [lon + spread(), lat + spread()],
      },
      recipients: [
        { name: `Recipient ${made.length + i}`, phone: `+1212555${String(1000 + ((made.length + i) % 9000))}` },
      ],
      completeBefore: Date.now() + (1 + Math.random() * 8) * 3600_000,
    }));
    const response = await api('POST', '/tasks/batch', { tasks: batch });
    if (response.errors?.length) throw new Error(JSON.stringify(response.errors[0]));
    made.push(...response.tasks.map((t) => t.id));
  }
  const each = Math.floor((tasks * 0.8) / people.length);
  for (const [i, person] of people.entries()) {
    await api('PUT', `/containers/workers/${person.id}`, { tasks: [-1, ...made.slice(i * each, (i + 1) * each)] });
  }
  return made;
}

// change changes tasks at the rate, until the function that it returns is called.
function change(made) {
  const begun = Date.now();
  let [sent, stopped] = [0, false];
  const one = async () => {
    while (!stopped) {
      const early = begun + (sent++ * 1000) / rate - Date.now();
      if (early > 0) await pause(early);
      const id = made[Math.floor(Math.random() * made.length)];
      await api('PUT', `/tasks/${id}`, { notes: `Ring twice, ${sent}` }).catch(() => {}); // completed meanwhile
    }
  };
  const all = Promise.all(Array.from({ length: rate > 0 ? 4 : 0 }, one));
  return () => ((stopped = true), all);
}

const processes = async () =>
  (await (await chrome.newBrowserCDPSession()).send('SystemInfo.getProcessInfo')).processInfo;

// used returns the processor time of all programs, by name, in seconds.
async function used() {
  const times = { server: timeOf(server.pid), workers: timeOf(fleet.pid) };
  const { user, system } = process.cpuUsage();
  times['this measure'] = (user + system) / 1e6;
  for (const { type, cpuTime } of await processes()) times[type] = (times[type] ?? 0) + cpuTime;
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].split(/\s+/).map(Number);
  const busy = [0, 1, 2, 5, 6].reduce((sum, i) => sum + ticks[i] / 100, 0); // without idle and stolen time
  times['other programs'] = busy - Object.values(times).reduce((a, b) => a + b);
  times['other machines'] = ticks[7] / 100;
  return times;
}

function timeOf(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\)/, '').trim().split(' ').slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

// watch records how long the main thread of the page has run, and how long it was ready to run
// while others had the processor. It returns a function that returns both for a period, in ms.
async function watch() {
  const processInfo = await processes();
  const [{ id }] = processInfo.filter((p) => p.type === 'renderer').sort((a, b) => b.cpuTime - a.cpuTime);
  const notes = [];
  const timer = setInterval(() => {
    let text;
    try {
      text = readFileSync(`/proc/${id}/task/${id}/schedstat`, 'utf8');
    } catch {
      return; // the page is closed
    }
    const [ran, waited] = text.split(' ');
    notes.push([performance.timeOrigin + performance.now(), Number(ran) / 1e6, Number(waited) / 1e6]);
  }, 4);
  chrome.on('disconnected', () => clearInterval(timer));
  const at = (time) => {
    let [low, high] = [0, notes.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (notes[middle][0] <= time) low = middle;
      else high = middle;
    }
    const [before, after] = [notes[low], notes[high]];
    const part = (time - before[0]) / (after[0] - before[0]);
    return before.map((n, i) => n + part * (after[i] - n));
  };
  return (from, to) => {
    const [begin, end] = [at(from), at(to)];
    return { ran: end[1] - begin[1], waited: end[2] - begin[2] };
  };
}

// observe makes a page record its long tasks.
const observe = (page) =>
  page.addInitScript(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) globalThis.long.push({ at: e.startTime, ms: e.duration });
    }).observe({ type: 'longtask', buffered: true });
  });

// measureControl returns the long tasks of an empty page that uses a fifth of a processor.
async function measureControl() {
  const page = await chrome.newPage();
  await observe(page);
  await page.goto(`${origin}/healthz`);
  await page.evaluate(() => {
    const work = () => {
      const until = performance.now() + 4;
      while (performance.now() < until);
      setTimeout(work, 16);
    };
    work();
  });
  await pause(control * 1000);
  const long = await page.evaluate(() => globalThis.long.map((t) => Math.round(t.ms)));
  await page.close();
  return long;
}

// The demonstration has at most 42 workers; the simulation can drive any number.
const fleet = run(
  dray,
  ['simulate', '--data', folder, '--url', origin, '--key', key, '--workers', String(workers)].concat([
    '--duration',
    '0',
    '--speed',
    '4',
    '--every',
    '2s',
  ]),
  { stdio: 'ignore' },
);
try {
  console.log(`seeding ${tasks} tasks for ${workers} workers`);
  const made = await seed();
  const stop = change(made);
  if (control > 0) {
    const long = await measureControl();
    console.log(`an empty page: ${long.length} tasks over 50 ms in ${control} s: ${long.join(' ')}`);
  }
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await observe(page);
  if (env('MAP', 1) === 0) {
    await page.addInitScript(() => {
      const { getContext } = HTMLCanvasElement.prototype;
      HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
        return kind === 'webgl2' ? null : getContext.call(this, kind, ...more);
      };
    });
  }
  await page.goto(link);
  await page.getByRole('tree').waitFor();
  await page.goto('about:blank');
  const begun = performance.now();
  await page.goto(`${origin}/dashboard/`);
  await page.getByRole('treeitem').nth(5).waitFor();
  console.log(`usable after ${Math.round(performance.now() - begun)} ms`);
  if (env('MAP', 1) !== 0) await page.locator('[data-stops]').waitFor();
  await pause(5000); // the map's first draw
  const heap = () => page.evaluate(() => (globalThis.gc?.(), Math.round(performance.memory.usedJSHeapSize / 1e6)));
  const time = await watch();
  const [begunAt, from] = await page.evaluate(() => [performance.timeOrigin, performance.now()]);
  const before = await heap();
  const head = async () => (await api('GET', '/board')).cursor;
  const cursor = await head();
  const usedBefore = await used();
  if (process.env.TRACE) await chrome.startTracing(page, { path: process.env.TRACE, categories });
  const profiled = profile(seconds);
  const last = Date.now() + seconds * 1000;
  let n = 0;
  while (Date.now() < last) {
    // Acts like a dispatcher: scrolls, filters, selects, moves the map.
    await page.mouse.move(300, 500);
    await page.mouse.wheel(0, n % 2 ? 4000 : -4000);
    if (n % 5 === 1) await page.getByRole('searchbox').fill(n % 10 === 1 ? 'Main Street 1' : '');
    if (n % 4 === 2) await page.keyboard.press('j');
    if (n % 3 === 0) {
      await page.mouse.move(900, 300);
      await page.mouse.down();
      await page.mouse.move(900 + (n % 2 ? 80 : -80), 320, { steps: 6 });
      await page.mouse.up();
    }
    n++;
    await pause(400);
  }
  await profiled;
  await page.getByRole('searchbox').fill('');
  const events = (await head()) - cursor;
  if (process.env.TRACE) await chrome.stopTracing();
  const long = await page.evaluate((since) => globalThis.long.filter((t) => t.at > since), from);
  const until = await page.evaluate(() => performance.now());
  const share = time(begunAt + from, begunAt + until).ran / (until - from);
  console.log(`${(events / seconds).toFixed(1)} events/s; heap ${before} → ${await heap()} MB; main thread ${Math.round(share * 100)} % of a processor`); // prettier-ignore
  const usedAfter = await used();
  const shares = Object.entries(usedAfter).map(([name, s]) => [name, (100 * (s - (usedBefore[name] ?? 0)) * 1000) / (until - from)]); // prettier-ignore
  console.log(`of a processor: ${shares.filter(([, s]) => s >= 1).map(([name, s]) => `${name} ${Math.round(s)} %`).join(', ')}`); // prettier-ignore
  for (const t of long) Object.assign(t, time(begunAt + t.at, begunAt + t.at + t.ms));
  const own = long.filter((t) => t.ran > 50);
  const longest = (of) => Math.round(Math.max(0, ...of));
  console.log(`tasks over 50 ms: ${long.length}, longest ${longest(long.map((t) => t.ms))} ms; of processor time: ${own.length}, longest ${longest(long.map((t) => t.ran))} ms`); // prettier-ignore
  console.log(
    long.map((t) => `${Math.round(t.at - from)}:${[t.ms, t.ran, t.waited].map(Math.round).join('/')}`).join(' '),
  );
  await stop();
  console.log('equal to the API:', JSON.stringify(await differences(page)));
  if (cut > 0) {
    await context.setOffline(true);
    const again = change(made);
    await pause(cut * 1000);
    await again();
    await context.setOffline(false);
    await pause(12_000);
    console.log(`equal after ${cut} s without a connection:`, JSON.stringify(await differences(page)));
  }
} finally {
  fleet.kill('SIGKILL');
  await end();
}
