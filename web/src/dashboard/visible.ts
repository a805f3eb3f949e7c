// Whether the page is visible. A browser has few connections to a server, which tabs in the
// background must not use up.

const patience = 10_000; // milliseconds

// whileShown does work with a signal that ends it when the page has been hidden for a while.
// It returns the result, and whether the page was hidden.
export async function whileShown<T>(stop: AbortSignal, work: (signal: AbortSignal) => Promise<T>) {
  const cut = new AbortController();
  const end = () => cut.abort();
  let hidden = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = () => {
    clearTimeout(timer);
    if (!document.hidden) return;
    timer = setTimeout(() => {
      hidden = true;
      end();
    }, patience);
  };
  stop.addEventListener('abort', end);
  document.addEventListener('visibilitychange', update);
  update();
  try {
    const result = await work(cut.signal);
    return { result, hidden };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
    document.removeEventListener('visibilitychange', update);
  }
}

// shown waits until the page is visible, or until stop is aborted.
export const shown = (stop: AbortSignal) =>
  new Promise<void>((resolve) => {
    const update = () => {
      if (document.hidden && !stop.aborted) return;
      document.removeEventListener('visibilitychange', update);
      stop.removeEventListener('abort', update);
      resolve();
    };
    document.addEventListener('visibilitychange', update);
    stop.addEventListener('abort', update);
    update();
  });
