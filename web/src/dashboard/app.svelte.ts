// The state that all screens share: the person who is signed in, the language, the colours,
// messages, and whether the server can be reached.

import { tick } from 'svelte';
import { account, call, Failure, handlers, Notice } from './api.ts';
import { complaint } from './complaint.ts';
import { loadSheets } from './sheets.ts';
import { isTheme, showTheme, type Theme } from './theme.ts';
import type { Address, Me, State } from './wire.ts';
import { dictionary, fill, isLanguage, preferred, regional, type Language, type Words } from './words.ts';

export interface Toast {
  id: number;
  text: string;
  bad: boolean;
  undo?: (() => Promise<unknown>) | undefined; // returns false if it has shown the outcome itself
}

const shelf = {
  get(name: string): string {
    try {
      return localStorage.getItem(`dray.${name}`) ?? '';
    } catch {
      return ''; // the browser allows no storage
    }
  },
  set(name: string, value: string) {
    try {
      if (value) localStorage.setItem(`dray.${name}`, value);
      else localStorage.removeItem(`dray.${name}`);
    } catch {
      // The choice applies until the page is closed.
    }
  },
};

const toastTime = 8000; // milliseconds
const probeInterval = 3000;
const probePatience = 10_000;

class App {
  state = $state.raw<State>();
  me = $state.raw<Me>();
  private person = ''; // id of the person who has signed in since the page was opened
  private spoken: Language | undefined; // the language requested last
  failed = $state.raw<Failure>(); // why the page could not be opened
  ended = $state(false); // the session has ended while the page was open
  language = $state<Language>('en');
  locale = $state('en'); // for dates and numbers
  words = $state.raw<Words>({} as Words);
  theme = $state<Theme>('system');
  toasts = $state.raw<Toast[]>([]);
  lost = $state(false); // no connection to the server
  reconnected = $state(0); // number of times that a lost connection came back
  drafts = $state(0); // forms on the screen with changes that are not saved
  undoOlder: (() => Promise<void>) | undefined; // set by the screen; undoes the last change after its message is gone
  private changing: Promise<unknown> = Promise.resolve(); // ends with the changes under way
  private counter = 0;
  private readonly numbers = $derived(new Intl.NumberFormat(this.locale));
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    handlers.lost = () => this.lose();
    handlers.late = () => void this.probe();
    handlers.signedOut = () => {
      if (this.me) this.ended = true;
      this.me = undefined;
      shelf.set('familiar', '');
    };
    addEventListener('offline', () => this.lose());
    addEventListener('online', () => void this.probe());
  }

  // familiar reports whether a person was signed in here when the page was last open.
  get familiar(): boolean {
    return shelf.get('familiar') !== '';
  }

  // open loads what the page needs: its words, and who is signed in.
  async open() {
    const theme = shelf.get('theme');
    if (isTheme(theme)) this.theme = theme;
    showTheme(this.theme);
    const chosen = shelf.get('language');
    await Promise.all([this.speak(isLanguage(chosen) ? chosen : preferred(navigator.languages)), this.identify()]);
  }

  // blankAddress is an address that contains only the organization's country.
  get blankAddress(): Address {
    return this.me ? { country: this.me.organization.country } : {};
  }

  // identify reads who is signed in.
  async identify() {
    try {
      this.state = await call<State>('GET', `${account}/state`);
      if (this.state.signedIn) await this.welcome(await call<Me>('GET', `${account}/me`));
      else shelf.set('familiar', '');
      this.failed = undefined;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.failed = error.status === 401 ? undefined : error;
    }
  }

  // welcome shows the page to a person who has signed in. For another person than before, it
  // reloads the page: they may not be allowed to see what was loaded.
  async welcome(me: Me) {
    if (this.person && this.person !== me.id) {
      location.reload();
      return;
    }
    this.person = me.id;
    if (!shelf.get('language') && me.language && isLanguage(me.language)) await this.speak(me.language);
    this.me = me;
    shelf.set('familiar', '1');
    this.ended = false;
    if (this.state) this.state = { ...this.state, signedIn: true, needsSetup: false };
  }

  async signOut() {
    await call('POST', `${account}/sign-out`);
    this.me = undefined;
    shelf.set('familiar', '');
    await tick(); // the screen, which could ask to keep unsaved changes, is gone
    location.hash = '';
    location.reload(); // discards everything that was loaded
  }

  // speak changes the language. Of several concurrent calls, the last one wins.
  async speak(language: Language) {
    this.spoken = language;
    const words = await dictionary(language);
    if (this.spoken !== language) return;
    this.words = words;
    this.language = language;
    this.locale = regional(language, navigator.languages);
    document.documentElement.lang = language;
  }

  async chooseLanguage(language: Language) {
    shelf.set('language', language);
    await this.speak(language);
  }

  chooseTheme(theme: Theme) {
    this.theme = theme;
    shelf.set('theme', theme === 'system' ? '' : theme);
    showTheme(theme);
  }

  say(name: keyof Words, values?: Record<string, string | number>): string {
    const text = this.words[name];
    if (!values) return text;
    const said = Object.entries(values).map(([k, v]) => [k, typeof v === 'number' ? this.numbers.format(v) : v]);
    return fill(text, Object.fromEntries(said));
  }

  // sayIf returns the words for a value that the server has sent, or the value if there are
  // none.
  sayIf(prefix: string, value: string): string {
    return (this.words as Record<string, string>)[prefix + value] ?? value;
  }

  // explain returns the text of an error for people.
  explain(error: unknown): string {
    if (error instanceof Notice) return error.message;
    if (!(error instanceof Failure)) return this.say('unexpected');
    if (error.status === 0) return this.say('noConnection');
    if (error.status === 429) return this.say('tooManyRequests');
    if (error.status >= 500) return this.say('serverFailed', { request: error.request || '–' });
    return error.message ? this.translate(error.message, error.cause) : this.say('unexpected');
  }

  // slower returns the error of an attempt at an account or, if there were too many attempts,
  // an error that says how long to wait.
  slower(error: unknown): unknown {
    if (!(error instanceof Failure) || error.status !== 429) return error;
    return new Notice(this.say('errorAttempts', { n: Math.max(1, Math.ceil(error.retryAfter / 60)) }));
  }

  // translate returns the message of an error in the language of the page.
  translate(message: string, cause?: unknown): string {
    const { word, values } = complaint(message, cause, this.words);
    return this.say(word, values);
  }

  toast(text: string, undo?: () => Promise<unknown>, bad = false) {
    const toast = { id: ++this.counter, text, undo, bad };
    const others = this.toasts.filter((t) => t.undo || t.text !== text); // the same text is not shown twice
    this.toasts = [...others.slice(-2), toast];
    setTimeout(() => this.dismiss(toast.id), toastTime);
  }

  complain(error: unknown) {
    this.toast(this.explain(error), undefined, true);
  }

  // missing is called if code could not be loaded: there is no connection, or the server has
  // another version by now.
  async missing() {
    if (!this.lost) await this.probe();
    if (!this.lost) loadSheets();
    this.toast(this.say(this.lost ? 'noConnection' : 'unexpected'), undefined, true);
  }

  dismiss(id: number) {
    this.toasts = this.toasts.filter((t) => t.id !== id);
  }

  // during returns a change. Undo waits until it has ended and its message is shown.
  during<T>(change: Promise<T>): Promise<T> {
    this.changing = Promise.allSettled([this.changing, change]).then(() => undefined);
    return change;
  }

  // undo takes back the change that a message reports, by default the last one that can be
  // taken back.
  async undo(id?: number) {
    if (id === undefined) await this.changing;
    id ??= this.toasts.findLast((t) => t.undo)?.id;
    const toast = this.toasts.find((t) => t.id === id);
    if (toast) this.dismiss(toast.id);
    try {
      if (id === undefined) await this.undoOlder?.();
      else if (toast?.undo && (await toast.undo()) !== false) this.toast(this.say('undone'));
    } catch (error) {
      this.complain(error);
    }
  }

  // mayManage reports whether the person may change settings of the organization.
  get mayManage(): boolean {
    return this.me?.type === 'super' && !this.me.isReadOnly;
  }

  private lose() {
    this.lost = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.probe(), probeInterval);
  }

  // probe checks whether the server responds.
  async probe() {
    try {
      await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(probePatience) });
      this.reach();
    } catch {
      this.lose();
    }
  }

  private reach() {
    if (!this.lost) return;
    clearTimeout(this.timer);
    this.lost = false;
    this.toasts = this.toasts.filter((t) => t.text !== this.say('noConnection'));
    loadSheets();
    this.reconnected++;
    if (this.failed) void this.identify();
  }
}

export const app = new App();
