// Work that shares the main thread: each piece has a frame of its own, so that many pieces
// at a time do not make one long frame.

const waiting = new Map<unknown, () => void>(); // by who does it, in the order of requests
let due = 0;

// turn does a piece of work in the first frame that nobody else has.
export function turn(of: unknown, work: () => void) {
  waiting.set(of, work);
  due ||= requestAnimationFrame(next);
}

// forgo withdraws a request.
export function forgo(of: unknown) {
  waiting.delete(of);
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
