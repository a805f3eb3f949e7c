// Two maps that show the same area.

import type { Map as Engine } from 'maplibre-gl';

// link makes each map follow the other until the function that it returns is called.
export function link(a: Engine, b: Engine): () => void {
  let following = false;
  const follow = (to: Engine, from: Engine) => () => {
    // A hidden map has no size; it follows when it is shown.
    if (following || to.getContainer().clientWidth === 0) return;
    following = true;
    to.jumpTo({ center: from.getCenter(), zoom: from.getZoom() });
    following = false;
  };
  const [ab, ba] = [follow(b, a), follow(a, b)];
  a.on('move', ab);
  b.on('move', ba);
  return () => {
    a.off('move', ab);
    b.off('move', ba);
  };
}
