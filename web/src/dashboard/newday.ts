// Notices that a day has begun while a page is open.

import { day } from './format.ts';

const interval = 30_000; // milliseconds

// onNewDay calls run with the date of the new day and of the day before, until the function that
// it returns is called. Timers of hidden pages and sleeping computers are late, so that it also
// compares the dates when the page is shown again.
export function onNewDay(run: (now: string, before: string) => void): () => void {
  let known = day(Date.now());
  const compare = () => {
    const [now, before] = [day(Date.now()), known];
    known = now;
    if (now !== before) run(now, before);
  };
  const timer = setInterval(compare, interval);
  document.addEventListener('visibilitychange', compare);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', compare);
  };
}
