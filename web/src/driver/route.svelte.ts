// The current screen, taken from the URL fragment, so that the phone's back button
// works and the page is never reloaded.

import { tick } from 'svelte';

export interface Route {
  screen: 'list' | 'map' | 'outbox' | 'account' | 'history' | 'done' | 'task' | 'complete' | 'fail';
  task: string;
}

const screens = ['map', 'outbox', 'account', 'history', 'done'] as const;

export function parse(hash: string): Route {
  const [first = '', task = '', verb = ''] = hash.replace(/^#\/?/, '').split('/');
  if (first === 'task' && task) {
    const id = decodeURIComponent(task);
    return { screen: verb === 'complete' || verb === 'fail' ? verb : 'task', task: id };
  }
  const screen = screens.find((s) => s === first) ?? 'list';
  return { screen, task: '' };
}

export const link = {
  list: '#/',
  map: '#/map',
  outbox: '#/outbox',
  account: '#/account',
  history: '#/history',
  done: '#/done',
  task: (id: string) => `#/task/${encodeURIComponent(id)}`,
  complete: (id: string) => `#/task/${encodeURIComponent(id)}/complete`,
  fail: (id: string) => `#/task/${encodeURIComponent(id)}/fail`,
};

class Here {
  route = $state<Route>(parse(location.hash));
  constructor() {
    addEventListener('hashchange', () => {
      this.route = parse(location.hash);
      begin();
    });
  }
}

// begin shows a screen from its start, where screen readers begin too.
function begin() {
  void tick().then(() => {
    const main = document.querySelector('main');
    main?.scrollTo(0, 0);
    main?.focus({ preventScroll: true });
  });
}

export const here = new Here();

// replace shows another screen and replaces the current history entry.
export function replace(hash: string) {
  history.replaceState(null, '', hash);
  here.route = parse(hash);
  begin();
}
