/** All that the service says of a repository, in a form in which two repositories can be compared. */
import { DAY_MS } from '../../src/domain/time.ts';

/** Ids follow from the repository, and links from both. */
const LEFT_OUT =
  /(?:^|_)(?:id|ids|url|key|revision)$|^(?:received_at|last_upload_at|cursor|owner|repository|created_at|query)$/;

const withoutIds = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (LEFT_OUT.test(name) ? [] : [[name, withoutIds(inner)]])),
  );
};

/** Lists without a total order differ by ids. */
const inOrder = (value: unknown): unknown => {
  if (Array.isArray(value))
    return value.map(inOrder).sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inOrder(inner)]));
};

interface ListedTest {
  test_id: string;
  test_name: string;
}

/** Sends a GET and returns the JSON of the answer. */
export type Get = <T>(path: string) => Promise<T>;

export interface SaidWindow {
  /** Its end, in milliseconds since the epoch. */
  until: number;
  days: number;
}

/** By what it is about: verdicts, counts, causes and costs. */
export async function saidOf(
  get: Get,
  { owner, name }: { owner: string; name: string },
  { until, days }: SaidWindow,
): Promise<Record<string, unknown>> {
  const base = `/v1/ci/${owner}/repositories/${name}`;
  const window = `start=${new Date(until - days * DAY_MS).toISOString()}&end=${new Date(until).toISOString()}`;
  const said: Record<string, unknown> = {};
  const { tests } = await get<{ tests: ListedTest[] }>(`${base}/search/tests?per_page=100`);
  if (tests.length === 0) throw new Error(`${owner}/${name} has no tests`);
  said.tests = tests;
  for (const { test_id: id, test_name: test } of tests) {
    said[`${test}: details`] = await get(`${base}/tests/${id}`);
    said[`${test}: failures`] = await get(`${base}/tests/${id}/failures?per_page=100`);
    said[`${test}: history`] = await get(`${base}/tests/${id}/history`);
    said[`${test}: transitions`] = await get(`${base}/tests/${id}/health-transitions`);
    said[`${test}: axes`] = await get(`${base}/tests/${id}/axes`);
  }
  for (const list of ['causes', 'durations', 'quarantines', 'pulls'])
    said[list] = await get(`${base}/${list}?per_page=100`);
  for (const list of ['health-transitions', 'red-runs', 'red-runs/by-day', 'cost', 'lanes'])
    said[list] = await get(`${base}/${list}?per_page=100&${window}`);
  return JSON.parse(JSON.stringify(inOrder(withoutIds(said))).replaceAll(`${owner}/${name}`, 'acme/shop'));
}
