/** Jobs that the producers of docs/producers.md put into the queue, in any language, and what is stored of them. */
import { expect } from 'bun:test';
import { v7 as uuid7 } from 'uuid';
import { recipe } from './recipes.ts';
import type { ClientService } from './service.ts';

interface Found {
  tests: { test_id: string; test_name: string; pipeline_name: string; job_name: string }[];
}
interface Log {
  size: number;
  events: { type: string; trigger: string; metadata: { reason?: string } }[];
}
interface Payload {
  upload_id?: string;
  repository: { name: string };
  events?: { key: string }[];
}

/** The payloads of the page, for the repository of a test. */
export function payloads(repository: string): string {
  const [runs, events] = JSON.parse(recipe('### Python', 'json')) as [Payload, Payload];
  for (const payload of [runs, events]) payload.repository.name = repository;
  runs.upload_id = uuid7();
  // The id of its job: one that is still queued for another repository would take its place.
  for (const event of events.events ?? []) event.key += `-${repository}`;
  return JSON.stringify([runs, events]);
}

export async function expectStored(service: ClientService, repository: string): Promise<void> {
  const base = `/v1/ci/acme/repositories/${repository}`;
  const { tests } = await service.until<Found>(`${base}/search/tests?test_name=*`, (found) => found.tests.length === 2);
  expect(tests).toMatchObject([
    { test_name: 'load > checkout', pipeline_name: 'nightly', job_name: 'load' },
    { test_name: 'load > search' },
  ]);
  // A test appears a moment before its failures: one insert fills the tables one after another.
  const { failures } = await service.until<{ failures: object[] }>(
    `${base}/tests/${tests[1]?.test_id}/failures`,
    (found) => found.failures.length > 0,
  );
  expect(failures).toMatchObject([
    { exception_type: 'TimeoutError', exception_message: 'no answer in 3 s', failure_count: 1 },
  ]);
  const { events } = await service.until<Log>(`/v1/repos/acme/${repository}/logs`, ({ size }) => size > 0);
  expect(events).toMatchObject([
    { type: 'queue.pause.create', trigger: '@octocat', metadata: { reason: 'release 42' } },
  ]);
}
