// The current screen, taken from the fragment of the URL.

import { tick } from 'svelte';

const read = () =>
  location.hash
    .replace(/^#\/?/, '')
    .replace(/\?.*/, '')
    .split('/')
    .filter(Boolean)
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });

const values = () => new URLSearchParams(/\?(.*)/.exec(location.hash)?.[1] ?? '');

class Here {
  path = $state.raw(read());
  query = $state.raw(values());
}

export const here = new Here();

let shown = location.hash;
interface Guard {
  busy: () => boolean;
  ask: (leave: () => void) => void;
}
const guards = new Set<Guard>();
let leaving = false; // despite the guards

addEventListener('beforeunload', (event) => {
  if ([...guards].some((g) => g.busy())) event.preventDefault(); // the browser asks
});

addEventListener('hashchange', (event) => {
  const guard = leaving ? undefined : [...guards].find((g) => g.busy());
  leaving = false;
  if (guard) {
    const wanted = location.hash;
    history.replaceState(null, '', shown);
    event.stopImmediatePropagation(); // the screen is not left
    guard.ask(() => {
      leaving = true;
      location.hash = wanted;
    });
    return;
  }
  shown = location.hash;
  here.path = read();
  here.query = values();
  void tick().then(() => {
    scrollTo(0, 0);
    // Screen readers announce the new screen, and the next Tab starts at its top.
    document.getElementById('main')?.focus({ preventScroll: true });
  });
});

// go opens a screen. With replace, Back skips the current one.
export function go(path: string, replace = false) {
  if (replace) {
    history.replaceState(null, '', `#/${path}`);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = `#/${path}`;
}

// leave opens another screen, and gives up what this one has not saved: its record was deleted.
export function leave(path: string) {
  leaving = location.hash !== `#/${path}`;
  go(path);
}

// stayWhile keeps the screen open while it is busy: if another one is requested, ask is called
// with a function that opens it. If the page is closed or loaded again, the browser asks.
export function stayWhile(busy: () => boolean, ask: (leave: () => void) => void) {
  $effect(() => {
    const guard = { busy, ask };
    guards.add(guard);
    return () => guards.delete(guard);
  });
}

// onLeave calls a function if another screen is opened while the component is shown: a dialog
// above the screen, for example, belongs to the former screen and must be closed.
export function onLeave(run: () => void) {
  $effect(() => {
    addEventListener('hashchange', run);
    return () => removeEventListener('hashchange', run);
  });
}
