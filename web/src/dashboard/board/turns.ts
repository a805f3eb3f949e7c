// Work that shares the main thread: each piece has its own frame, so that many pieces
// at a time do not make one long frame.

const waiting = new Map<unknown, () => void>(); // by who does it, in the order of requests
let due = 0;

// turn does a piece of work in the first free frame.
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
