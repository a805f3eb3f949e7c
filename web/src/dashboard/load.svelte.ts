// Data of a screen: it is loading, it is loaded, or it could not be read.

import { untrack } from 'svelte';
import { Failure } from './api.ts';
import { app } from './app.svelte.ts';

export class Load<T> {
  data = $state.raw<T>();
  failure = $state.raw<unknown>();
  loading = $state(true);
  private latest = 0;

  constructor(private readonly get: (shown?: T) => Promise<T>) {
    void this.again();
    // After a lost connection, the data may be old, or missing. If a person has begun to change
    // it, it is read again only when the change is saved or given up.
    let seen = app.reconnected;
    $effect(() => {
      if (app.reconnected === seen || (app.drafts > 0 && this.data !== undefined)) return;
      seen = app.reconnected;
      untrack(() => void this.again());
    });
  }

  // again reads the data again. The old data is shown until then, and after an error, unless
  // the error is that it no longer exists for the reader.
  again(): Promise<void> {
    return this.read(untrack(() => this.data));
  }

  // reset reads the data from the beginning, for example after a change of a filter.
  reset(): Promise<void> {
    return this.read(undefined);
  }

  // extend replaces the data by more of it, unless it was read again meanwhile.
  async extend(more: (shown: T) => Promise<T>) {
    const shown = this.data;
    if (shown === undefined) return;
    try {
      const data = await more(shown);
      if (this.data === shown) this.data = data;
    } catch (error) {
      app.complain(error);
    }
  }

  private async read(shown: T | undefined) {
    const mine = ++this.latest;
    this.loading = true;
    try {
      const data = await this.get(shown);
      if (mine !== this.latest) return;
      this.data = data;
      this.failure = undefined;
    } catch (error) {
      if (mine === this.latest) {
        this.failure = error;
        if (error instanceof Failure && (error.status === 403 || error.status === 404)) this.data = undefined;
      }
      if (!(error instanceof Failure)) console.error(error);
    } finally {
      if (mine === this.latest) this.loading = false;
    }
  }
}
