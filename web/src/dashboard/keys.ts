// typing reports whether a key is meant for a field, or for the browser.
export function typing(event: KeyboardEvent): boolean {
  const on = event.target as HTMLElement;
  return (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    on.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(on.tagName) ||
    on.closest('[role="menu"]') !== null ||
    (on.closest('canvas') !== null && /^(Arrow|[-+=_])/.test(event.key)) // keys that move a map
  );
}

// covered reports whether a dialog or a menu is open, to which keys belong. One that is closing does
// not count: what is typed next is meant for what is behind it.
export const covered = () => document.querySelector(':is(.dialog, [role="menu"]):not([data-state="closed"])') !== null;

// Ahead handles the keys that are pressed between the key that opens a dialog and the moment when
// the dialog has the focus, which takes some time: they belong to the dialog and have no other
// meaning. A fast Enter is ignored, because the person has not seen what it would choose.
export class Ahead {
  private waiting = false;

  constructor(
    private readonly open: () => boolean, // reports whether the dialog is open, or will be
    private readonly put: (character: string) => void,
  ) {}

  begin() {
    this.waiting = true;
  }

  // take handles a key before all other listeners.
  readonly take = (event: KeyboardEvent) => {
    if (!this.waiting) return;
    this.waiting = this.open() && (event.target as HTMLElement).closest('.dialog') === null;
    if (!this.waiting || event.ctrlKey || event.metaKey || event.altKey || event.key === 'Escape') return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.key.length === 1 && !event.repeat) this.put(event.key);
  };
}
