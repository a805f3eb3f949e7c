// Style sheets of code that is loaded on demand. The loader requests each style sheet only
// once: if the connection is lost, the code is loaded later, but without its style.

const failed = new Set<HTMLLinkElement>();

addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') failed.add(target);
  },
  true, // these events do not bubble
);

// loadSheets requests again the style sheets that could not be loaded.
export function loadSheets() {
  const links = [...failed];
  failed.clear();
  for (const link of links) link.replaceWith(link.cloneNode());
}
