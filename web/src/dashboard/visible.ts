// Streams of pages that nobody looks at. A browser has few connections to a server, which
// tabs in the background must not use up.

const patience = 10_000; // milliseconds

// whileShown does work with a signal that ends it when the page has been hidden for a while,
// and reports whether it was.
export async function whileShown<T>(stop: AbortSignal, work: (signal: AbortSignal) => Promise<T>) {
  const cut = new AbortController();
  const end = () => cut.abort();
  let hidden = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (!document.hidden) return;
    timer = setTimeout(() => {
      hidden = true;
      end();
    }, patience);
  };
  stop.addEventListener('abort', end);
  document.addEventListener('visibilitychange', look);
  look();
  try {
    const result = await work(cut.signal);
    return { result, hidden };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
    document.removeEventListener('visibilitychange', look);
  }
}

// shown waits until the page is shown, or stop.
export const shown = (stop: AbortSignal) =>
  new Promise<void>((resolve) => {
    const look = () => {
      if (document.hidden && !stop.aborted) return;
      document.removeEventListener('visibilitychange', look);
      stop.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    stop.addEventListener('abort', look);
    look();
  });
