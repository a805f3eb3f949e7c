// The snapshot of a day, and the event stream from there on. After an interruption, the
// stream resumes where it ended or, if that is too long ago, from a new snapshot. A page in
// the background does not follow it.

import { follow, type Message } from '../../driver/stream.ts';
import { call, query, url } from '../api.ts';
import { shown, whileShown } from '../visible.ts';
import { nextTurn } from './turns.ts';
import type { Snapshot } from './wire.ts';

const shortestWait = 500; // milliseconds between attempts
const longestWait = 10_000;
const longestAbsence = 300_000; // after that, a snapshot is read faster than the missed events
const shortestDay = 60_000; // after which a snapshot is renewed if this computer's clock is ahead
const silence = 15_000; // the server sends a comment at least every 5 seconds

export interface StreamHandlers {
  loaded: (snapshot: Snapshot, signal: AbortSignal) => Promise<void>; // must do nothing after the signal is aborted
  message: (message: Message) => void;
  alive: () => void; // data was received
  connected: (connected: boolean) => void;
  failed: (error: unknown) => void; // the snapshot could not be read
  signedOut: () => void; // the session has ended, and the stream with it
}

export class Stream {
  private readonly stop = new AbortController();
  private wait = shortestWait;
  private wake = () => {}; // ends the wait
  private end = Infinity; // end of the day that was read

  constructor(
    private readonly date: string, // '' for today
    private readonly team: string, // '' for all
    private readonly handlers: StreamHandlers,
  ) {
    void this.run();
  }

  close() {
    this.stop.abort();
  }

  // hurry ends the wait for the next attempt: the connection is back.
  hurry() {
    this.wait = shortestWait;
    this.wake();
  }

  // outdated reports whether the day has ended that was today when it was read.
  outdated(now: number): boolean {
    return this.date === '' && now >= this.end;
  }

  private async run() {
    const { signal } = this.stop;
    let cursor: string | undefined;
    while (!signal.aborted) {
      if (cursor === undefined) {
        try {
          const snapshot = await call<Snapshot>(
            'GET',
            `/board${query({ date: this.date, teams: this.team })}`,
            undefined,
            signal,
          );
          await nextTurn(); // decoding a large snapshot takes long, and so does what follows
          if (signal.aborted) return;
          cursor = String(snapshot.cursor);
          this.end = snapshot.to > Date.now() ? snapshot.to : Date.now() + shortestDay;
          await this.handlers.loaded(snapshot, signal);
          if (signal.aborted) return;
        } catch (error) {
          if (signal.aborted) return;
          this.handlers.failed(error);
          await this.pause();
          continue;
        }
      }
      const { result: ended, hidden } = await whileShown(signal, (open) =>
        follow(
          url('/events?lists=1&positions=1'),
          { 'Last-Event-ID': cursor! },
          open,
          () => {
            this.wait = shortestWait;
            this.handlers.connected(true);
          },
          (message) => {
            if (message.id) cursor = message.id;
            this.handlers.message(message);
          },
          silence,
          this.handlers.alive,
        ),
      );
      if (hidden) {
        const since = Date.now();
        await shown(signal);
        if (Date.now() - since > longestAbsence) cursor = undefined;
        continue;
      }
      if (signal.aborted) return;
      this.handlers.connected(false);
      if (ended === 'signedOut') {
        this.handlers.signedOut();
        return;
      }
      if (ended === 'stale') {
        cursor = undefined;
        continue;
      }
      await this.pause();
    }
  }

  // pause waits before the next attempt; hurry ends it.
  private pause(): Promise<void> {
    const { signal } = this.stop;
    return new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, this.wait);
      this.wait = Math.min(this.wait * 2, longestWait);
      this.wake = end;
      signal.addEventListener('abort', end);
    });
  }
}
