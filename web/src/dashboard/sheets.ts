// Style sheets of code that is loaded when it is needed. The loader requests each of them
// once: without the connection, the code would be there later, but not its style.

const failed = new Set<HTMLLinkElement>();

addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') failed.add(target);
  },
  true, // these events do not bubble
);

// loadSheets requests the style sheets again that could not be loaded.
export function loadSheets() {
  const links = [...failed];
  failed.clear();
  for (const link of links) link.replaceWith(link.cloneNode());
}
