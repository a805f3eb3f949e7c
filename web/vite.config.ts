import { svelte } from '@sveltejs/vite-plugin-svelte';
import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { deliver } from './build/deliver.ts';

// Every page is an entry; pages share chunks. A new page is a line in `input` and a
// handler in internal/web.
const here = import.meta.dirname;
const input = {
  dashboard: resolve(here, 'dashboard.html'),
  driver: resolve(here, 'driver.html'),
  track: resolve(here, 'src/track/main.ts'),
  sw: resolve(here, 'src/driver/sw.ts'),
};

export default defineConfig({
  plugins: [svelte(), deliver({ worker: 'driver/sw.js', page: 'driver.html', later: 'src/map/ondemand/street.ts' })],
  build: {
    outDir: resolve(here, '../internal/web/dist'),
    emptyOutDir: false, // deliver() does, and keeps the file that is committed
    manifest: 'manifest.json',
    target: 'es2022',
    assetsInlineLimit: 0, // the pages' policy allows no data: but in images
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1200, // MapLibre, which is loaded only when a map is shown
    rolldownOptions: {
      input,
      checks: { bundlerTimings: false }, // on a busy machine every build is slow
      output: {
        entryFileNames: (chunk) => (chunk.name === 'sw' ? 'driver/sw.js' : 'assets/[name]-[hash].js'),
      },
    },
  },
  server: {
    // For `npm run dev` alongside a server started with `make run`.
    proxy: Object.fromEntries(
      ['/account', '/driver/v1', '/t/', '/tiles', '/api', '/favicon', '/driver/icon.svg', '/healthz'].map((path) => [
        path,
        'http://127.0.0.1:8080',
      ]),
    ),
  },
});
