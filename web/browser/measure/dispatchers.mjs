// Two dispatchers and 30 simulated workers change the same lists: both boards must end
// equal to the server.
//
//   go build -o bin/dray ./cmd/dray && node web/browser/measure/dispatchers.mjs
//
// WORKERS and SECONDS change what is measured.

import { differences, env, pause, start } from './demo.mjs';

const [workers, seconds] = [env('WORKERS', 30), env('SECONDS', 60)];
const { api, chrome, stop } = await start(workers);
const pick = (of) => of[Math.floor(Math.random() * of.length)];

// dispatcher invites an administrator and opens the board.
async function dispatcher(name) {
  const admin = await api('POST', '/admins', { name, email: `${name}@example.com`, type: 'super' });
  const { link } = await api('POST', `/admins/${admin.id}/invitation`, {});
  const page = await (await chrome.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  await page.goto(link);
  await page.getByLabel('New password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('tree').waitFor();
  return page;
}

// dispatch acts like a dispatcher with the keyboard, and counts the actions.
async function dispatch(page, names, until) {
  const done = {};
  while (Date.now() < until) {
    await page.keyboard.press('Escape');
    await page.getByRole('tree').focus();
    for (let n = Math.ceil(Math.random() * 12); n > 0; n--)
      await page.keyboard.press(pick(['j', 'j', 'k', 'ArrowRight']));
    if (Math.random() < 0.4) await page.keyboard.press('Shift+J');
    const action = pick(['assign', 'assign', 'up', 'down', 'unassign', 'undo']);
    done[action] = (done[action] ?? 0) + 1;
    if (action === 'assign') {
      await page.keyboard.press('a');
      const box = page.getByRole('combobox', { name: 'Assign' });
      if (!(await box.isVisible())) continue; // a list is chosen, not a task
      await box.fill(pick(names));
      await page.keyboard.press('Enter');
    } else await page.keyboard.press({ up: 'Alt+ArrowUp', down: 'Alt+ArrowDown', unassign: 'u', undo: 'z' }[action]);
    await pause(100 + Math.random() * 600);
  }
  await page.keyboard.press('Escape');
  return done;
}

try {
  const pages = [await dispatcher('Ines'), await dispatcher('Jorge')];
  const names = (await api('GET', '/workers')).map((w) => w.name);
  const until = Date.now() + seconds * 1000;
  const done = await Promise.all(pages.map((page) => dispatch(page, names, until)));
  console.log('what each did:', JSON.stringify(done));
  await pause(3000);
  for (const page of pages) console.log('equal to the API:', JSON.stringify(await differences(page)));
} finally {
  await stop();
}
