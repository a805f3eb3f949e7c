// The organization's event stream, while a screen is open.

import { follow, type Message } from '../driver/stream.ts';
import { call, query, url } from './api.ts';
import { app } from './app.svelte.ts';

const longestWait = 15_000; // milliseconds between attempts

// newest returns the number of the newest event; undefined if it could not be read.
const newest = (signal: AbortSignal) =>
  call<{ last: number }>('GET', `/events/log${query({ since: Number.MAX_SAFE_INTEGER })}`, undefined, signal).then(
    ({ last }) => String(last),
    () => undefined,
  );

export class Live {
  connected = $state(false);
  private readonly stop = new AbortController();

  constructor(private readonly heard: (message: Message) => void) {
    void this.run();
    $effect(() => () => this.stop.abort());
  }

  private async run() {
    const { signal } = this.stop;
    let last: string | undefined;
    let wait = 500;
    while (!signal.aborted) {
      // Without it, a stream that breaks before its first event could not be resumed.
      last ??= await newest(signal);
      if (last !== undefined) {
        const ended = await follow(
          url('/events'),
          { 'Last-Event-ID': last },
          signal,
          () => {
            this.connected = true;
            wait = 500;
          },
          (message) => {
            if (message.id) last = message.id;
            this.heard(message);
          },
        );
        this.connected = false;
        if (ended !== 'broken') return;
        if (!signal.aborted) void app.probe(); // it may be the network: nothing else may be asked for
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(wait * 2, longestWait);
    }
  }
}
