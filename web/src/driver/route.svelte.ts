// The current screen, taken from the URL fragment, so that the phone's back button
// works and the page is never reloaded.

import { tick } from 'svelte';

export interface Route {
  screen: 'list' | 'map' | 'outbox' | 'account' | 'task' | 'complete' | 'fail';
  task: string;
}

export function parse(hash: string): Route {
  const [first = '', task = '', verb = ''] = hash.replace(/^#\/?/, '').split('/');
  if (first === 'task' && task) {
    const id = decodeURIComponent(task);
    return { screen: verb === 'complete' || verb === 'fail' ? verb : 'task', task: id };
  }
  const screen = first === 'map' || first === 'outbox' || first === 'account' ? first : 'list';
  return { screen, task: '' };
}

export const link = {
  list: '#/',
  map: '#/map',
  outbox: '#/outbox',
  account: '#/account',
  task: (id: string) => `#/task/${encodeURIComponent(id)}`,
  complete: (id: string) => `#/task/${encodeURIComponent(id)}/complete`,
  fail: (id: string) => `#/task/${encodeURIComponent(id)}/fail`,
};

class Here {
  route = $state<Route>(parse(location.hash));
  constructor() {
    addEventListener('hashchange', () => {
      this.route = parse(location.hash);
      void tick().then(() => {
        const main = document.querySelector('main');
        main?.scrollTo(0, 0);
        main?.focus({ preventScroll: true }); // screen readers start there
      });
    });
  }
}

export const here = new Here();

// replace shows another screen and replaces the current history entry.
export function replace(hash: string) {
  history.replaceState(null, '', hash);
  here.route = parse(hash);
}
