// Two maps that show the same place.

import type { Map as Engine } from 'maplibre-gl';

// link makes each map follow the other, and returns what ends that.
export function link(a: Engine, b: Engine): () => void {
  let following = false;
  const follow = (to: Engine, from: Engine) => () => {
    // A map that is hidden has no size, and follows when it is shown.
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
