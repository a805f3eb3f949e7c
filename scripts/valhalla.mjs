// Serves the travel-time tables of the Valhalla engine over HTTP, like a Valhalla
// server, because the npm package contains only the engine.
//
//   node valhalla.mjs FOLDER     (with node_modules and config.json in it)
//
// Prints its URL when it is ready.
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { resolve } from 'node:path';

const folder = resolve(process.argv[2]);
const { Actor } = createRequire(folder + '/')('@valhallajs/valhallajs');
const actor = await Actor.fromConfigFile(folder + '/config.json');

const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  try {
    if (request.method !== 'POST' || request.url !== '/sources_to_targets') throw new Error('only POST /sources_to_targets');
    const reply = await actor.matrix(Buffer.concat(parts).toString());
    response.setHeader('content-type', 'application/json').end(reply);
  } catch (error) {
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: String(error) }));
  }
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
