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
