// Work that shares the main thread: each piece has its own task after a frame, so that many
// pieces at a time, or a piece and the layout of the page, do not make one long task.

const usual = 17; // ms until the next frame on an idle machine
const part = 5; // ms of work at a time
const most = 100; // maximum ms of lateness counted for one frame, as after the page was hidden

const waiting = new Map<unknown, () => void>(); // by requester, in the order of requests
const parts = new Map<unknown, ReturnType<typeof setTimeout>>(); // by requester
let due = 0;
let asked = 0; // performance.now when the next frame was requested
let late = 0; // average lateness of the last few frames, in ms

// turn does a piece of work after the first free frame. It replaces work of the same requester
// that has not begun.
export function turn(of: unknown, work: () => void) {
  waiting.set(of, work);
  if (!due) ask();
}

// inParts does work that is not visible until it is complete, a few ms at a time.
export function inParts(of: unknown, work: Generator<void>) {
  clearTimeout(parts.get(of));
  const go = () => {
    const until = performance.now() + part;
    let done = work.next().done;
    while (!done && performance.now() < until) done = work.next().done;
    if (done) parts.delete(of);
    else parts.set(of, setTimeout(go, 1));
  };
  parts.set(of, setTimeout(go, 1));
}

// nextTurn waits until the browser has had a chance to handle input and to draw.
export const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve));

// forgo cancels the work of a requester.
export function forgo(of: unknown) {
  waiting.delete(of);
  clearTimeout(parts.get(of));
  parts.delete(of);
}

// eased lengthens the interval between updates that no user has requested while frames are
// late: more updates would make them even later.
export const eased = (ms: number): number => Math.min(Math.max(ms, 1000), ms * Math.min(3, 1 + late / 20));

function ask() {
  asked = performance.now();
  due = requestAnimationFrame(next);
}

function next() {
  due = 0;
  late += (Math.min(most, Math.max(0, performance.now() - asked - usual)) - late) / 8;
  setTimeout(begin);
}

// begin does the first piece of work.
function begin() {
  for (const [of, work] of waiting) {
    waiting.delete(of);
    if (waiting.size > 0 && !due) ask();
    work();
    return;
  }
}
