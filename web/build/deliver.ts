import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const compressible = /\.(css|html|js|json|svg|wasm|webmanifest)$/;

// committed is the only file of the output folder that is in the repository.
const committed = 'README.md';

// deliver prepares the output for embedding in internal/web: a clean folder, a
// service worker that knows what to cache, and compressible files compressed once.
export function deliver(options: { worker: string; page: string }): Plugin {
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

interface Chunk {
  file: string;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
  assets?: string[];
}

// listForWorker writes the list of the page's files into the service worker. The
// coast shapes are large and shown only at low zoom: they are cached on first use, and
// so is everything in the folder `ondemand`.
async function listForWorker(folder: string, { worker, page }: { worker: string; page: string }) {
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Record<string, Chunk>;
  const files = new Set<string>();
  const seen = new Set<string>();
  const follow = (name: string) => {
    const chunk = manifest[name];
    if (!chunk || seen.has(name) || name.includes('/ondemand/')) return;
    seen.add(name);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) if (file.startsWith('assets/')) files.add('/' + file);
    for (const next of [...(chunk.imports ?? []), ...(chunk.dynamicImports ?? [])]) follow(next);
  };
  follow(page);
  const list = [...files].sort();
  const path = join(folder, worker);
  const source = await readFile(path, 'utf8');
  const shell = await readFile(join(folder, page), 'utf8');
  const version = createHash('sha256')
    .update(JSON.stringify(list))
    .update(shell)
    .update(source)
    .digest('hex')
    .slice(0, 12);
  const filled = source
    .replace('__FILES__', JSON.stringify(JSON.stringify(list)))
    .replace('__VERSION__', JSON.stringify(version));
  if (filled.includes('__FILES__') || filled.includes('__VERSION__') || list.length === 0) {
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
