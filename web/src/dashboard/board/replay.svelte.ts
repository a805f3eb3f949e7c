// Plays a past day on the board: applies the events up to the time that is shown.

import type { Point } from '../../map/project.ts';
import { call, query } from '../api.ts';
import type { Records } from './records.ts';
import { latest, play, Tape, type History, type LogEntry } from './tape.ts';
import type { ApiTask, BoardTask, Position } from './wire.ts';

export const speeds = [1, 10, 60, 600] as const;

const hour = 3_600_000;
const quarter = 900_000;
const slice = 8; // ms of a frame in which entries are applied
const mostHours = 6; // hours of positions kept in memory
const lead = 60_000; // ms that are shown before the first event
const rest = 90; // ms between two updates while it plays

export class Replay {
  time = $state(0);
  from = $state(0); // beginning of the part of the day in which something happened
  to = $state(0);
  partly = $state(false); // earlier events are not stored any more
  playing = $state(false);
  speed = $state<number>(60);
  done = $state(0); // number of entries that are applied
  count = $state(0); // number of entries that are loaded
  complete = $state(false); // all entries are loaded
  storedSince = $state<number | null>(null);
  name = $state(''); // trigger of the last event applied
  failure = $state.raw<unknown>();
  private midnight = 0;
  private tape: Tape | undefined;
  private applied = 0;
  private located = 0; // positions up to this time are applied
  private wanted = 0; // number of entries to apply
  private frame = 0;
  private tick = 0; // performance.now of the last step
  private readonly hours = new Map<number, Position[] | 'asked'>();
  private readonly stop = new AbortController();

  constructor(
    date: string, // '' for today
    private readonly records: Records,
    private readonly shown: (first: boolean) => void, // called when the records have changed
  ) {
    void this.load(date).catch((error: unknown) => {
      if (!this.stop.signal.aborted) this.failure = error;
    });
  }

  close() {
    this.stop.abort();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  private async load(date: string) {
    const { signal } = this.stop;
    const history = await call<History>('GET', `/board/history${query({ date })}`, undefined, signal);
    if (signal.aborted) return;
    const { from, to, cursor } = history.board;
    this.tape = new Tape(history);
    this.storedSince = history.storedSince;
    this.partly = (history.storedSince ?? to) > from && Number(cursor) > 0;
    [this.from, this.to] = [from, Math.min(to, Date.now())];
    this.time = this.located = this.midnight = from;
    this.records.load(history.board);
    this.shown(true);
    let begun = false;
    for (let since: number | null = Number(cursor); since !== null && since < history.lastEvent;) {
      const page: { events: LogEntry[]; next: number | null } = await call(
        'GET',
        `/events/log${query({ since, until: history.lastEvent })}`,
        undefined,
        signal,
      );
      if (signal.aborted) return;
      const ahead = this.time > (this.tape.entries.at(-1)?.time ?? from); // playback waits for these events
      this.tape.add(page.events);
      this.count = this.tape.entries.length;
      if (ahead) this.want(this.tape.at(this.time));
      since = page.next;
      if (!begun && this.count > 0) {
        begun = true;
        this.from = Math.max(from, Math.floor((this.tape.entries[0]!.time - lead) / quarter) * quarter);
        if (this.time < this.from) this.seek(Math.max(from, this.tape.entries[0]!.time - lead));
      }
    }
    this.tape.end();
    this.count = this.tape.entries.length;
    if (this.time > (this.tape.entries.at(-1)?.time ?? from)) this.want(this.count);
    this.complete = true;
    const last = this.tape.entries.at(-1)?.time;
    if (last !== undefined) this.to = Math.min(this.to, last + quarter);
    this.plan();
  }

  // places returns the destinations of the loaded tasks for which wanted returns true.
  places(wanted: (task: BoardTask | ApiTask) => boolean): Point[] {
    return this.tape?.places(wanted) ?? [];
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.time >= this.to) this.seek(this.from);
    this.tick = performance.now();
    this.plan();
  }

  // faster changes the speed by a number of steps.
  faster(by: number) {
    const at = speeds.indexOf(this.speed as (typeof speeds)[number]);
    this.speed = speeds[Math.max(0, Math.min(speeds.length - 1, at + by))]!;
  }

  seek(time: number) {
    this.time = Math.max(this.from, Math.min(this.to, time));
    this.want(this.tape?.at(this.time) ?? 0);
  }

  // step goes to the next event, or back to the one before.
  step(by: 1 | -1) {
    const entries = this.tape?.entries ?? [];
    const next = this.wanted + by;
    if (next < 0 || next > entries.length) return;
    this.playing = false;
    this.time = next === 0 ? this.from : entries[next - 1]!.time;
    this.want(next);
  }

  // want sets the number of entries to apply. To go back, it starts over at the beginning of
  // the day.
  private want(entries: number) {
    this.wanted = entries;
    if (entries < this.applied || this.time < this.located) {
      this.records.load(this.tape!.history.board);
      this.applied = 0;
      this.located = this.midnight;
    }
    this.plan();
  }

  private plan() {
    if (this.frame || !this.tape || this.stop.signal.aborted) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.run();
    });
  }

  private run() {
    const { tape, records } = this;
    if (!tape) return;
    const now = performance.now();
    if (this.playing && now - this.tick >= rest) {
      const until = this.time + (now - this.tick) * this.speed;
      this.tick = now;
      // Playback waits for events that are not loaded yet.
      const known = this.complete ? this.to : (tape.entries.at(-1)?.time ?? this.time);
      this.time = Math.max(this.time, Math.min(until, known, this.to));
      this.wanted = tape.at(this.time);
      if (this.time >= this.to) this.playing = false;
    } else if (this.playing && this.applied === this.wanted) {
      this.plan();
      return;
    }
    while (this.applied < this.wanted && performance.now() - now < slice) play(records, tape.entries[this.applied++]!);
    this.locate();
    this.done = this.applied;
    this.name = tape.entries[this.applied - 1]?.event?.triggerName ?? '';
    this.shown(false);
    if (this.playing || this.applied < this.wanted) this.plan();
  }

  // locate moves workers to where they were at the time that is shown. The positions of an
  // hour are requested when the hour is shown.
  private locate() {
    const first = Math.floor((this.time - this.midnight) / hour);
    for (const n of [first - 1, first]) {
      if (n < 0) continue;
      const positions = this.hours.get(n);
      if (positions === undefined) void this.read(n);
      else if (positions !== 'asked') {
        for (const p of latest(positions, this.located, this.time)) this.records.position(p);
      }
    }
    if ([first - 1, first].every((n) => n < 0 || this.hours.get(n) instanceof Array)) this.located = this.time;
  }

  private async read(n: number) {
    this.hours.set(n, 'asked');
    try {
      const from = this.midnight + n * hour;
      const { positions } = await call<{ positions: Position[] }>('GET', `/board/positions${query({ from })}`, undefined, this.stop.signal); // prettier-ignore
      this.hours.set(n, positions);
      if (this.complete) this.failure = undefined;
      for (const old of this.hours.keys()) {
        if (this.hours.size <= mostHours) break;
        if (Math.abs(old - n) > 1) this.hours.delete(old);
      }
      this.plan();
    } catch (error) {
      if (this.stop.signal.aborted) return;
      this.failure = error;
      setTimeout(() => {
        this.hours.delete(n);
        this.plan(); // requests it again if it is still shown
      }, 5000);
    }
  }
}
