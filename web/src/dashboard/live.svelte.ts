// The organization's event stream, while a screen is open.

import { follow, type Message } from '../driver/stream.ts';
import { url } from './api.ts';

const longestWait = 15_000; // milliseconds between attempts

export class Live {
  connected = $state(false);
  private readonly stop = new AbortController();

  constructor(private readonly heard: (message: Message) => void) {
    void this.run();
    $effect(() => () => this.stop.abort());
  }

  private async run() {
    let last = '';
    let wait = 500;
    while (!this.stop.signal.aborted) {
      const ended = await follow(
        url('/events'),
        last ? { 'Last-Event-ID': last } : {},
        this.stop.signal,
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
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(wait * 2, longestWait);
    }
  }
}
