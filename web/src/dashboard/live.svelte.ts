// The organization's event stream, while a screen is open and the page is not in the
// background.

import { follow, type Message } from '../driver/stream.ts';
import { call, handlers, query, url } from './api.ts';
import { app } from './app.svelte.ts';
import { shown, whileShown } from './visible.ts';

const shortestWait = 500; // milliseconds between attempts
const longestWait = 15_000;

// newest returns the number of the newest event; undefined if it could not be read.
const newest = (signal: AbortSignal) =>
  call<{ last: number }>('GET', `/events/log${query({ since: Number.MAX_SAFE_INTEGER })}`, undefined, signal).then(
    ({ last }) => String(last),
    () => undefined,
  );

export class Live {
  private open = $state(false);
  private readonly stop = new AbortController();
  private wait = shortestWait;
  private wake = () => {}; // ends the wait

  constructor(private readonly receive: (message: Message) => void) {
    void this.run();
    $effect(() => () => this.stop.abort());
    $effect(() => {
      if (!app.reconnected) return;
      this.wait = shortestWait;
      this.wake();
    });
  }

  // A stream may seem to be open for a while after the connection is lost.
  get connected(): boolean {
    return this.open && !app.lost;
  }

  private async run() {
    const { signal } = this.stop;
    let last: string | undefined;
    while (!signal.aborted) {
      const before = app.reconnected;
      // Without this number, a stream that breaks before its first event could not be resumed.
      last ??= await newest(signal);
      if (last !== undefined) {
        const { result: ended, hidden } = await whileShown(signal, (open) =>
          follow(
            url('/events'),
            { 'Last-Event-ID': last! },
            open,
            () => {
              this.open = true;
              this.wait = shortestWait;
            },
            (message) => {
              if (message.id) last = message.id;
              this.receive(message);
            },
          ),
        );
        this.open = false;
        if (hidden) {
          await shown(signal);
          continue;
        }
        if (ended === 'signedOut') handlers.signedOut(); // the screen is opened again after signing in
        if (ended === 'signedOut' || ended === 'absent') return;
        if (ended === 'stale') last = undefined;
        else if (!signal.aborted) void app.probe(); // the network may be down, and no other request under way
      }
      if (app.reconnected !== before) continue; // the connection was back before the stream broke
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, this.wait);
        this.wait = Math.min(this.wait * 2, longestWait);
      });
    }
  }
}
