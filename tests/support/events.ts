/** Makes `pr-events` jobs for tests, and reads the log as a client does. */
import type { z } from 'zod';
import type { PrEventsJob, prEventsSchema } from '../../src/queue/pr-events.ts';
import { linksOf, type TestApp } from './http.ts';

export type JobInput = z.input<typeof prEventsSchema>;
export type EventInput = NonNullable<JobInput['events']>[number];

export const makeEventsJob = (
  repository: PrEventsJob['repository'],
  events: EventInput[],
  rest: Partial<JobInput> = {},
): JobInput => ({ v: 1, repository, events, ...rest });

export const labelled = (key: string, overrides: Partial<EventInput> = {}): EventInput => ({
  key,
  type: 'action.label',
  trigger: '@octocat',
  pull_request: 7,
  base_ref: 'main',
  metadata: { added: [key] },
  ...overrides,
});

/** An event as the log shows it. */
export interface ShownEvent {
  id: number;
  received_at: string;
  trigger: string;
  repository: string;
  pull_request: number | null;
  base_ref: string | null;
  type: string;
  metadata: Record<string, unknown>;
}

export const logOf = ({ owner, name }: { owner: string; name: string }, query = ''): string =>
  `/v1/repos/${owner}/${name}/logs${query}`;

/** Every event, page by page, starting at an address. Only the first page is checked against the OpenAPI document. */
export async function followPages(
  { request, requestUnchecked = request }: Pick<TestApp, 'request'> & Partial<TestApp>,
  start: string,
  relation: 'next' | 'prev',
): Promise<ShownEvent[][]> {
  const pages: ShownEvent[][] = [];
  for (let url: string | undefined = start; url !== undefined; ) {
    const response = await (pages.length === 0 ? request : requestUnchecked)(url);
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
    pages.push(((await response.json()) as { events: ShownEvent[] }).events);
    url = linksOf(response)[relation];
  }
  return pages;
}

/** The label that the event added: the key that {@link labelled} was given. */
export const keyOfShown = (event: ShownEvent): string => String((event.metadata.added as string[] | undefined)?.[0]);
