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

addEventListener('hashchange', () => {
  here.path = read();
  here.query = values();
  void tick().then(() => {
    scrollTo(0, 0);
    // Readers hear the new screen, and the next Tab starts at its top.
    document.getElementById('main')?.focus({ preventScroll: true });
  });
});

// go opens a screen; with `replace`, Back skips the present one.
export function go(path: string, replace = false) {
  if (replace) {
    history.replaceState(null, '', `#/${path}`);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = `#/${path}`;
}

// onLeave calls a function when another screen is opened, while the component is shown: what
// is above the screen, such as a dialog, is about the one before.
export function onLeave(run: () => void) {
  $effect(() => {
    addEventListener('hashchange', run);
    return () => removeEventListener('hashchange', run);
  });
}
