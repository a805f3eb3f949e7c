/// <reference types="svelte" />
/// <reference types="vite/client" />
// Lets tests import modules with runes: state is plain, derived values are computed once, and
// effects do not run. It must be imported before them.

const wait = setTimeout;
const long = 5000; // ms; such timers do not keep a test from ending

const plain = (value: unknown) => value;

Object.assign(globalThis, {
  $state: Object.assign(plain, { raw: plain, snapshot: plain }),
  $derived: Object.assign(plain, { by: (compute: () => unknown) => compute() }),
  $effect: Object.assign(() => {}, { root: () => {} }),
  setTimeout: (work: () => void, ms = 0) => (ms > long ? wait(work, ms).unref() : wait(work, ms)),
  addEventListener: () => {},
  matchMedia: () => new EventTarget(),
  requestAnimationFrame: (work: () => void) => setTimeout(work),
  cancelAnimationFrame: (timer: number) => clearTimeout(timer),
  document: Object.assign(new EventTarget(), { hidden: false, documentElement: { lang: '' } }),
});
