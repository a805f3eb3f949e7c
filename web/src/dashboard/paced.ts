// paced plans work some time after plan is called, once for all calls until then. Calls while
// it is running plan it once more after it has ended.
export function paced(work: () => Promise<unknown>, delay: number): { plan: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let [running, again, stopped] = [false, false, false];
  const plan = () => {
    if (stopped) return;
    if (running) again = true;
    else timer ??= setTimeout(() => void run(), delay);
  };
  const run = async () => {
    timer = undefined;
    running = true;
    try {
      await work();
    } finally {
      running = false;
    }
    if (again) plan();
    again = false;
  };
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
  };
  return { plan, stop };
}

// spaced returns a function that does the work for a key at once. Calls with the same key while
// it is running, or in the rest after it, do it once more.
export function spaced<K>(work: (key: K) => Promise<unknown>, rest: number): (key: K) => void {
  const again = new Map<K, boolean>(); // of the keys whose work is running or resting
  const run = async (key: K) => {
    do {
      again.set(key, false);
      await work(key);
      await new Promise((resolve) => setTimeout(resolve, rest));
    } while (again.get(key));
    again.delete(key);
  };
  return (key) => {
    if (again.has(key)) again.set(key, true);
    else void run(key);
  };
}
