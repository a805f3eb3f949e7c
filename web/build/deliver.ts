import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const compressible = /\.(css|html|js|json|mjs|svg|wasm|webmanifest)$/;

// committed is the only file of the output folder that is in the repository.
const committed = 'README.md';

// deliver prepares the output for embedding in internal/web: a clean folder, a
// service worker that knows what to cache, and compressible files compressed once.
export function deliver(options: Lists): Plugin {
  let folder = '';
  return {
    name: 'dray:deliver',
    apply: 'build',
    configResolved(config) {
      folder = config.build.outDir;
    },
    async buildStart() {
      for (const name of await readdir(folder)) {
        if (name !== committed) await rm(join(folder, name), { recursive: true });
      }
    },
    async closeBundle() {
      await listForWorker(folder, options);
      await compress(folder);
    },
  };
}

// Lists are what a service worker caches: a page, and later a module that it loads.
interface Lists {
  worker: string;
  page: string;
  later: string;
}

interface Chunk {
  file: string;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
  assets?: string[];
}

// listForWorker writes the lists of files into the service worker. The coast shapes are
// large and shown only at low zoom: they are cached on first use, and so is everything in
// the folders `ondemand`.
async function listForWorker(folder: string, { worker, page, later }: Lists) {
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Record<string, Chunk>;
  const collect = (start: string, assets: boolean): string[] => {
    const files = new Set<string>();
    const seen = new Set<string>();
    const follow = (name: string) => {
      const chunk = manifest[name];
      if (!chunk || seen.has(name) || (name !== start && name.includes('/ondemand/'))) return;
      seen.add(name);
      const found = [chunk.file, ...(chunk.css ?? []), ...((assets && chunk.assets) || [])];
      for (const file of found) if (file.startsWith('assets/')) files.add('/' + file);
      for (const next of [...(chunk.imports ?? []), ...(chunk.dynamicImports ?? [])]) follow(next);
    };
    follow(start);
    return [...files].sort();
  };
  const list = collect(page, false);
  const rest = collect(later, true).filter((file) => !list.includes(file) && !file.endsWith('.json'));
  const path = join(folder, worker);
  const source = await readFile(path, 'utf8');
  const shell = await readFile(join(folder, page), 'utf8');
  const version = createHash('sha256')
    .update(JSON.stringify([list, rest]))
    .update(shell)
    .update(source)
    .digest('hex')
    .slice(0, 12);
  const filled = source
    .replace('__FILES__', JSON.stringify(JSON.stringify(list)))
    .replace('__LATER__', JSON.stringify(JSON.stringify(rest)))
    .replace('__VERSION__', JSON.stringify(version));
  if (/__(FILES|LATER|VERSION)__/.test(filled) || list.length === 0 || rest.length === 0) {
    throw new Error('the service worker has no list of files');
  }
  await writeFile(path, filled);
}

async function compress(folder: string) {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !compressible.test(entry.name) || entry.name === 'manifest.json') continue;
    await writeFile(path + '.gz', gzipSync(await readFile(path), { level: 9 }));
    await rm(path);
  }
}
