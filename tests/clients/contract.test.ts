/** The OpenAPI document as others read it: a TypeScript client is generated from it. */
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPORT } from './support/cart-report.ts';
import { packagesFolder } from './support/packages.ts';
import { machine, run } from './support/run.ts';
import { freshRepository, ROOT, sharedService } from './support/service.ts';

// openapi-typescript needs the programming interface of TypeScript 5, which the compiler of this project (7) no longer has.
const TOOLS = { 'openapi-typescript': '7.13.0', typescript: '5.9.3', 'openapi-fetch': '0.17.0' };

const tools = await packagesFolder(TOOLS);

const CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './schema.ts';

const [baseUrl = '', token = '', repository = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
const path = { owner: 'acme', repository_name: repository };

const search = await client.GET('/v1/ci/{owner}/repositories/{repository_name}/search/tests', {
  params: { path, query: { test_name: ['cart.*'], per_page: 100 } },
});
const names: string[] = search.data?.tests.map(({ test_name }) => test_name) ?? [];

const created = await client.POST('/v1/ci/{owner}/repositories/{repository}/quarantines', {
  params: { path: { owner: 'acme', repository } },
  body: { test_name: names[0] ?? '', reason: 'flaky', branch: null },
});
const id: string | undefined = created.data?.id;
const refused = await client.GET('/v1/ci/{owner}/repositories/{repository_name}/tests/{test_id}', {
  params: { path: { ...path, test_id: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11' } },
});
const detail: string | undefined = refused.error?.detail;
console.log(JSON.stringify({ names, id, detail, status: refused.response.status }));
`;

describe.skipIf(!tools)('a TypeScript client generated from the document', () => {
  const folder = tools ?? '';

  test('has types that compile and calls that work', async () => {
    const service = await sharedService();
    const repository = freshRepository('typed');
    const query = new URLSearchParams({ pipeline_name: 'CI', job_name: 'unit', branch: 'main', run_id: '1' });
    const junit = `/v1/ci/acme/repositories/${repository}/junit?${query}`;
    const headers = { 'content-type': 'application/xml' };
    expect((await service.fetch(junit, { method: 'POST', headers, body: REPORT })).status).toBe(202);
    const search = `/v1/ci/acme/repositories/${repository}/search/tests?test_name=*`;
    await service.until<{ size: number }>(search, ({ size }) => size === 4);

    writeFileSync(join(folder, 'document.json'), await (await service.fetch('/docs/json')).text());
    const generator = join(folder, 'node_modules/openapi-typescript/bin/cli.js');
    const generated = await run([process.execPath, generator, 'document.json', '--output', 'schema.ts'], {
      cwd: folder,
      env: machine(),
    });
    expect([generated.code, generated.printed]).toEqual([0, expect.any(String)]);
    writeFileSync(join(folder, 'client.ts'), CLIENT);
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'esnext', '--module', 'esnext'];
    const resolution = ['--moduleResolution', 'bundler', '--allowImportingTsExtensions'];
    const types = ['--types', 'bun', '--typeRoots', join(ROOT, 'node_modules/@types')];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const compiled = await run([process.execPath, tsc, ...options, ...resolution, ...types, 'client.ts'], {
      cwd: folder,
      env: machine(),
    });
    expect([compiled.code, compiled.printed]).toEqual([0, '']);

    const client = [process.execPath, 'client.ts', service.origin, service.token, repository];
    const ran = await run(client, { cwd: folder, env: machine() });
    expect(JSON.parse(ran.stdout)).toEqual({
      names: expect.arrayContaining(['cart.Totals.sums prices']),
      id: expect.any(String),
      detail: expect.stringContaining('no such test'),
      status: 404,
    });
  });
});
