/** The conformance suite of the Model Context Protocol, against the service: the scenarios that ask for no made-up tools. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { packagesFolder } from '../clients/support/packages.ts';
import { machine, run } from '../clients/support/run.ts';
import { sharedService } from '../clients/support/service.ts';
import { makeFolder } from '../support/folder.ts';

const SUITE = '@modelcontextprotocol/conformance';
const folder = await packagesFolder({ [SUITE]: '0.1.16' });

/** Of 30; the others call tools and read prompts that the suite asks a server to have for it. */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

const checksSchema = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));

/** The suite sends no credential, so something in between adds the key. */
let between: ReturnType<typeof Bun.serve>;
beforeAll(async () => {
  const { origin, token } = await sharedService();
  between = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const headers = new Headers(request.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(`${origin}/mcp`, { method: request.method, headers, body: await request.bytes() });
    },
  });
});
afterAll(() => between?.stop(true));

test.skipIf(folder === undefined).each(SCENARIOS)('%s', async (scenario) => {
  const results = makeFolder('conformance');
  const program = join(folder ?? '', 'node_modules', SUITE, 'dist', 'index.js');
  const url = `http://127.0.0.1:${between.port}/mcp`;
  const ran = await run([process.execPath, program, 'server', '--url', url, '--scenario', scenario, '-o', results], {
    env: machine(),
    cwd: results,
  });
  const files = readdirSync(results, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('checks.json'),
  );
  const checks = files.flatMap((name) => checksSchema.parse(JSON.parse(readFileSync(join(results, name), 'utf8'))));
  expect([checks.length > 0, ran.printed]).toEqual([true, expect.any(String)]);
  expect(checks.filter(({ status }) => status === 'FAILURE')).toEqual([]);
});
