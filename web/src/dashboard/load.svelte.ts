// Data of a screen: it is loading, there, or could not be read.

import { untrack } from 'svelte';
import { Failure } from './api.ts';
import { app } from './app.svelte.ts';

export class Load<T> {
  data = $state.raw<T>();
  failure = $state.raw<unknown>();
  loading = $state(true);
  private latest = 0;

  constructor(private readonly get: () => Promise<T>) {
    void this.again();
    // What could not be read for want of a connection is read when there is one: once, as the
    // reason may be another.
    let seen = app.reconnected;
    $effect(() => {
      if (app.reconnected === seen) return;
      seen = app.reconnected;
      untrack(() => this.failure && void this.again());
    });
  }

  // again reads the data; what is shown stays until it is there, or does not exist for the
  // reader any more.
  async again() {
    const mine = ++this.latest;
    this.loading = true;
    try {
      const data = await this.get();
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
