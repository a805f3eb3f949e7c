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
