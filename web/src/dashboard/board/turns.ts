// Work that shares the main thread: each piece has its own frame, so that many pieces
// at a time do not make one long frame.

const slice = 8; // ms of a part

const waiting = new Map<unknown, () => void>(); // by who does it, in the order of requests
const begun = new Map<unknown, ReturnType<typeof setTimeout>>(); // work in parts
let due = 0;

// turn does a piece of work in the first free frame.
export function turn(of: unknown, work: () => void) {
  waiting.set(of, work);
  due ||= requestAnimationFrame(next);
}

// parts does work that can be paused in as many pieces as it takes, and what follows it in a
// frame of its own.
export function parts(of: unknown, work: Iterator<unknown>, done: () => void) {
  forgo(of);
  const proceed = () => {
    const until = performance.now() + slice;
    while (performance.now() < until) {
      if (!work.next().done) continue;
      begun.delete(of);
      turn(of, done);
      return;
    }
    begun.set(of, setTimeout(proceed, 1));
  };
  begun.set(of, setTimeout(proceed, 1));
}

// forgo withdraws a request.
export function forgo(of: unknown) {
  waiting.delete(of);
  clearTimeout(begun.get(of));
  begun.delete(of);
}

function next() {
  due = 0;
  for (const [of, work] of waiting) {
    waiting.delete(of);
    if (waiting.size > 0) due = requestAnimationFrame(next);
    work();
    return;
  }
}
