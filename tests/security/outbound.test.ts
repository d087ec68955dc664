/** Nothing that a client sends makes the service ask another address: links are kept as text and never followed. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { IngestDriver } from '../support/ingest.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';
import { uniqueRepository } from '../support/stores.ts';

const { owner, name } = uniqueRepository();
let service: ServiceApp;
let driver: IngestDriver;
let bait: ReturnType<typeof Bun.serve>;
const asked: string[] = [];

beforeAll(async () => {
  bait = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => {
      asked.push(url);
      return new Response('<!ENTITY x "y">');
    },
  });
  service = await openServiceApp();
  driver = new IngestDriver(service.stores);
  driver.watch({ owner, name });
});
afterAll(async () => {
  await driver?.stop();
  await service?.stop();
  await bait?.stop(true);
});

test('reports, quarantines and headers full of links to a private address cause no request to it', async () => {
  const link = (path: string) => `http://127.0.0.1:${bait.port}/${path}`;
  const send = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${service.port}/v1/ci/${owner}/repositories/${name}/${path}`, {
      method: 'POST',
      body,
      headers: {
        authorization: `Bearer ${service.adminToken}`,
        'x-forwarded-host': `127.0.0.1:${bait.port}`,
        forwarded: `host=127.0.0.1:${bait.port}`,
        referer: link('referer'),
        ...headers,
      },
    });
  const run = `pipeline_name=CI&job_name=unit&branch=main&run_id=1&job_url=${encodeURIComponent(link('job'))}`;
  const cases = `<testcase name="${link('name')}" file="${link('file')}"><failure message="${link('message')}">${link('text')}</failure><system-out>[[ATTACHMENT|${link('attachment')}]]</system-out></testcase>`;
  const plain = await send(`junit?${run}`, `<testsuite name="s">${cases}</testsuite>`);
  expect(plain.status).toBe(202);
  const entities = `<?xml version="1.0"?><!DOCTYPE t SYSTEM "${link('dtd')}" [<!ENTITY e SYSTEM "${link('entity')}"><!ENTITY % p SYSTEM "${link('parameter')}">%p;]><testsuite><testcase name="&e;"/></testsuite>`;
  expect([202, 422]).toContain((await send(`junit?${run}`, entities)).status);
  const include = `<testsuite xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="${link('include')}"/><testcase name="a"/></testsuite>`;
  expect((await send(`junit?${run}`, include)).status).toBeLessThan(500);
  const quarantine = JSON.stringify({ test_name: link('test'), reason: link('reason') });
  expect((await send('quarantines', quarantine, { 'content-type': 'application/json' })).status).toBe(201);
  await driver.settle();
  expect(asked).toEqual([]);
  // The bait works.
  await fetch(link('works'));
  expect(asked).toEqual([link('works')]);
});
