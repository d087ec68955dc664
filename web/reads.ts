/**
 * What each page reads first, from its address. It is asked for as soon as the address is known, beside the session and the
 * scripts of the page, and when one points at a link: so a page takes one round of requests, that of a pull request two. The
 * page finds the answers, or waits for them, by the same keys.
 */
import type { QueryClient } from '@tanstack/react-query';
import {
  axesQuery,
  commitQuery,
  detailsQuery,
  effectsQuery,
  executionQuery,
  executionsQuery,
  failuresQuery,
  firstRepositoriesQuery,
  historyQuery,
  hostQuery,
  pullQuery,
  pullsQuery,
  quarantinesQuery,
  type RepositoryPath,
  redRunsQuery,
  renamesOfTodayQuery,
  renamesQuery,
  repositoryChangesQuery,
  repositoryStatQuery,
  runQuery,
  runsQuery,
  segmentsQuery,
  statQuery,
  TEST_STATS,
  TODAY_STATS,
  turnsQuery,
  uploadsQuery,
} from './api/queries.ts';
import {
  historyView,
  pullEventsQuery,
  type TestsView,
  type TestView,
  testsViewQuery,
  testWindow,
} from './api/views.ts';

/** What other pages have in their addresses. */
type Others = Record<string, unknown>;

/** Values of an address, as the router has checked them. */
interface Place {
  params: Partial<Record<'owner' | 'repository' | 'testId' | 'number' | 'commit' | 'run', string>>;
  search: TestsView &
    TestView &
    Partial<Record<'branch' | 'author' | 'state' | 'result' | 'pull' | 'leg' | 'at' | 'beside', string | undefined>> &
    Others;
}

type Reads = (client: QueryClient, path: RepositoryPath, place: Place) => void;

/** By the id of the route. A page that is not here asks when it is shown. */
const READS: Readonly<Record<string, Reads>> = {
  '/signed/': (client) => {
    void client.prefetchQuery(firstRepositoriesQuery);
    void client.prefetchQuery(repositoryChangesQuery);
  },
  '/signed/$owner/$repository/': (client, path) => {
    void client.prefetchQuery(redRunsQuery(path));
    void client.prefetchQuery(turnsQuery(path));
    void client.prefetchQuery(quarantinesQuery(path));
    for (const stat of TODAY_STATS) void client.prefetchQuery(repositoryStatQuery(path, stat));
    void client.prefetchInfiniteQuery(uploadsQuery(path, { has_problems: true }));
    void client.prefetchQuery(renamesOfTodayQuery(path));
  },
  '/signed/$owner/$repository/tests': (client, path, { search }) =>
    void client.prefetchInfiniteQuery(testsViewQuery(path, search)),
  '/signed/$owner/$repository/tests/$testId': (client, path, { params: { testId = '' }, search }) => {
    const test = { ...path, testId };
    const window = testWindow(search, Date.now());
    void client.prefetchQuery(detailsQuery(test));
    void client.prefetchQuery(quarantinesQuery(test, testId));
    void client.prefetchQuery(axesQuery(test));
    void client.prefetchQuery(renamesQuery(test, { testId: test.testId }));
    void client.prefetchQuery(segmentsQuery(test, window));
    for (const stat of TEST_STATS) void client.prefetchQuery(statQuery(test, stat, window));
    void client.prefetchQuery(failuresQuery(test));
    void client.prefetchQuery(executionsQuery(test, window));
    void client.prefetchQuery(effectsQuery(path));
  },
  '/signed/$owner/$repository/tests/$testId/history': (client, path, { params: { testId = '' }, search }) => {
    const test = { ...path, testId };
    void client.prefetchQuery(detailsQuery(test));
    void client.prefetchInfiniteQuery(historyQuery(test, historyView(search, Date.now())));
    for (const id of [search.at, search.beside])
      if (id !== undefined) void client.prefetchQuery(executionQuery(test, id));
  },
  '/signed/$owner/$repository/runs': (client, path, { search: { branch } }) =>
    void client.prefetchInfiniteQuery(runsQuery(path, { branch })),
  '/signed/$owner/$repository/runs/$run': (client, path, { params: { run = '' } }) => void readRun(client, path, run),
  '/signed/$owner/$repository/pulls': (client, path, { search: { q, author, state } }) =>
    void client.prefetchInfiniteQuery(pullsQuery(path, { q, author, state })),
  '/signed/$owner/$repository/pulls/$number': (client, path, { params: { number = '' } }) =>
    void readPull(client, path, number),
  '/signed/$owner/$repository/commits/$commit': (client, path, { params: { commit = '' } }) =>
    readCommit(client, path, commit),
  '/signed/$owner/$repository/quarantines': (client, path) => void client.prefetchQuery(quarantinesQuery(path)),
};

function readCommit(client: QueryClient, path: RepositoryPath, commit: string): void {
  void client.prefetchInfiniteQuery(runsQuery(path, { commit_sha: commit }));
  void client.prefetchInfiniteQuery(commitQuery(path, commit));
}

async function readRun(client: QueryClient, path: RepositoryPath, id: string): Promise<void> {
  const query = runQuery(path, id);
  await client.prefetchQuery(query);
  const run = client.getQueryData(query.queryKey);
  if (run?.commit_sha == null || run.run_id === null) return;
  const only = { pipeline_name: run.pipeline_name, run_id: run.run_id };
  void client.prefetchInfiniteQuery(commitQuery(path, run.commit_sha, only));
}

async function readPull(client: QueryClient, path: RepositoryPath, number: string): Promise<void> {
  const query = pullQuery(path, number);
  void client.prefetchInfiniteQuery(pullEventsQuery(path, Number(number), Date.now()));
  await client.prefetchQuery(query);
  const [newest] = client.getQueryData(query.queryKey)?.commits ?? [];
  if (newest) readCommit(client, path, newest.commit_sha);
}

/** Asks for what the pages of an address read first. An answer that is fresh is not asked for again. */
export function readAhead(client: QueryClient, matches: readonly ({ routeId: string } & Place)[]): void {
  for (const { routeId, ...place } of matches) {
    const { owner = '', repository = '' } = place.params;
    if (owner !== '') void client.prefetchQuery(hostQuery({ owner, repository }));
    READS[routeId]?.(client, { owner, repository }, place);
  }
}
