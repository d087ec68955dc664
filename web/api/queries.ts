/** Reads of the pages, as queries whose results are kept and shared. Types are those of the API's own schemas. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { KeyList, MadeKey } from '../../src/access/keys.ts';
import type { CredentialInUse, SessionList } from '../../src/access/sessions.ts';
import type { EventCounts } from '../../src/events/aggregate.ts';
import type { EventLog } from '../../src/events/event.ts';
import type { Explanation } from '../../src/explain/explanation-schema.ts';
import type { UploadList } from '../../src/ingest/receipts.ts';
import type { TestAxes } from '../../src/insights/axes.ts';
import type { CausePage } from '../../src/insights/cause.ts';
import type { CauseList } from '../../src/insights/causes.ts';
import type { CommitFailures } from '../../src/insights/commit-failures.ts';
import type { Costs } from '../../src/insights/cost.ts';
import type { TestDetails } from '../../src/insights/details.ts';
import type { DurationPage } from '../../src/insights/durations.ts';
import type { TestExecutions } from '../../src/insights/executions.ts';
import type { TestFailure, TestFailures } from '../../src/insights/failures.ts';
import type { TestExecution, TestHistory } from '../../src/insights/history.ts';
import type { RepositoryHost } from '../../src/insights/host.ts';
import type { LaneList } from '../../src/insights/lanes.ts';
import type { OwnerList } from '../../src/insights/owners.ts';
import type { PromptAnswer } from '../../src/insights/prompts.ts';
import type { PullRequestAnswer } from '../../src/insights/pull-request.ts';
import type { PullRequestList } from '../../src/insights/pulls.ts';
import type { QuarantineEffects } from '../../src/insights/quarantine-effects.ts';
import type { RedRuns } from '../../src/insights/red-runs.ts';
import type { RedRunsByDay } from '../../src/insights/red-runs-by-day.ts';
import type { RepositoryList } from '../../src/insights/repositories.ts';
import type { RepositoryChangeList } from '../../src/insights/repository-changes.ts';
import type { RepositoryStatistics } from '../../src/insights/repository-stats.ts';
import type { RepositoryTransitions } from '../../src/insights/repository-transitions.ts';
import type { RunAnswer } from '../../src/insights/run.ts';
import type { RunList } from '../../src/insights/runs.ts';
import type { TestSearchAnswer } from '../../src/insights/search.ts';
import type { TestSegments } from '../../src/insights/segments.ts';
import type { Setup } from '../../src/insights/setup.ts';
import type { TestStatistic } from '../../src/insights/stats.ts';
import type { UnhealthyByDay } from '../../src/insights/unhealthy-by-day.ts';
import type { AuditList } from '../../src/operate/audit.ts';
import type { DeadLetterList } from '../../src/operate/dead-letters.ts';
import type {
  ChangedSettings,
  RepositorySettingsAnswer,
  SettingsChange,
} from '../../src/operate/repository-settings.ts';
import type { ServiceState } from '../../src/operate/service-state.ts';
import type { BacktestAnswer } from '../../src/quarantines/backtests.ts';
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import { ask, get, Problem, pathOf, type Query, SESSION } from './client.ts';
import { rememberProvider } from './lost-session.ts';

export interface RepositoryPath {
  owner: string;
  repository: string;
}
export interface TestPath extends RepositoryPath {
  testId: string;
}

export const insights = ({ owner, repository }: RepositoryPath): string =>
  pathOf`/ci/${owner}/repositories/${repository}`;
const test = (path: TestPath): string => `${insights(path)}${pathOf`/tests/${path.testId}`}`;

/** Who is signed in; null: nobody. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<CredentialInUse | null> => {
    try {
      const session = await get<CredentialInUse>(SESSION, {}, signal);
      rememberProvider(session.is_from_provider);
      return session;
    } catch (error) {
      if (error instanceof Problem && error.status === 403) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

export const repositoriesQuery = queryOptions({
  queryKey: ['repositories'],
  queryFn: ({ signal }) => get<RepositoryList>('/repositories', {}, signal),
});

const PAGE_ROWS = 100;
const SETUP_ASKED_MS = 3_000;
/** Of lists whose rows take the service more than a lookup. */
const LINES = 30;
/** Each row has a chart. */
const CAUSES_ROWS = 25;

/** Repositories with the most trouble, and how many there are: at once, also where the whole list takes a second. */
export const firstRepositoriesQuery = queryOptions({
  queryKey: ['repositories', 'first'],
  queryFn: ({ signal }) => get<RepositoryList>('/repositories', { per_page: PAGE_ROWS }, signal),
});

/** What changed this week in those with the most trouble. */
export const repositoryChangesQuery = queryOptions({
  queryKey: ['repositories', 'changes'],
  queryFn: ({ signal }) => get<RepositoryChangeList>('/repositories/changes', {}, signal),
  staleTime: 30_000,
});

export const searchQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: ['search', path, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<TestSearchAnswer>('GET', `${insights(path)}/search/tests`, {
        query: { ...query, cursor, per_page: PAGE_ROWS },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
  });

export const ownersQuery = (path: RepositoryPath) =>
  infiniteQueryOptions({
    queryKey: ['owners', path],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<OwnerList>('GET', `${insights(path)}/owners`, { query: { cursor, per_page: PAGE_ROWS }, signal }),
    getNextPageParam: ({ next }) => next,
  });

/** Those that the home of a repository shows, in its order. */
export const TODAY_STATS = [
  'total_tests',
  'failed_executions',
  'flaky_tests',
  'broken_tests',
] as const satisfies readonly RepositoryStatistics['stat'][];

export const repositoryStatQuery = (path: RepositoryPath, stat: RepositoryStatistics['stat']) =>
  queryOptions({
    queryKey: ['repository stat', path, stat],
    queryFn: ({ signal }) => get<RepositoryStatistics>(`${insights(path)}${pathOf`/tests/stats/${stat}`}`, {}, signal),
    staleTime: 30_000,
  });

/** Tests whose health changed in the last seven days. */
export const turnsQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: ['turns', path],
    queryFn: ({ signal }) =>
      get<RepositoryTransitions>(`${insights(path)}/health-transitions`, { per_page: PAGE_ROWS }, signal),
    staleTime: 30_000,
  });

export const redRunsQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: ['red runs', path],
    queryFn: ({ signal }) => get<RedRuns>(`${insights(path)}/red-runs`, {}, signal),
    staleTime: 30_000,
  });

export const detailsQuery = (path: TestPath) =>
  queryOptions({
    queryKey: ['test', path],
    queryFn: ({ signal }) => get<TestDetails>(test(path), {}, signal),
    staleTime: 30_000,
  });

/** @param asOf a moment; absent: as is known now */
export const explanationQuery = (path: TestPath, asOf?: string) =>
  queryOptions({
    queryKey: ['explanation', path, asOf],
    queryFn: ({ signal }) => get<Explanation>(`${test(path)}/explanation`, { as_of: asOf }, signal),
    staleTime: 60_000,
  });

export const axesQuery = (path: TestPath) =>
  queryOptions({
    queryKey: ['axes', path],
    queryFn: ({ signal }) => get<TestAxes>(`${test(path)}/axes`, {}, signal),
    staleTime: 60_000,
  });

export const segmentsQuery = (path: TestPath, { start, end }: TimeWindow) =>
  queryOptions({
    queryKey: ['segments', path, start, end],
    queryFn: ({ signal }) => get<TestSegments>(`${test(path)}/segments`, { start, end }, signal),
    staleTime: 60_000,
    placeholderData: (before) => before,
  });

/** Where the repository is hosted. It hardly ever changes. */
export const hostQuery = ({ owner, repository }: RepositoryPath) =>
  queryOptions({
    queryKey: ['host', owner, repository],
    queryFn: ({ signal }) => get<RepositoryHost>(`${insights({ owner, repository })}/host`, {}, signal),
    staleTime: 600_000,
  });

/** Asked again and again: its steps turn green by themselves. */
export const setupQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: ['setup', path],
    queryFn: ({ signal }) => get<Setup>(`${insights(path)}/setup`, {}, signal),
    refetchInterval: SETUP_ASKED_MS,
  });

export const runsQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: ['runs', path, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<RunList>('GET', `${insights(path)}/runs`, { query: { ...query, cursor, per_page: PAGE_ROWS }, signal }),
    getNextPageParam: ({ next }) => next,
  });

export const causesQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: ['causes', path, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<CauseList>('GET', `${insights(path)}/causes`, { query: { ...query, cursor, per_page: CAUSES_ROWS }, signal }),
    getNextPageParam: ({ next }) => next,
  });

export const causeQuery = (path: RepositoryPath, id: string) =>
  queryOptions({
    queryKey: ['cause', path, id],
    queryFn: ({ signal }) => get<CausePage>(`${insights(path)}${pathOf`/causes/${id}`}`, {}, signal),
    staleTime: 30_000,
  });

export const runQuery = (path: RepositoryPath, id: string) =>
  queryOptions({
    queryKey: ['run', path, id],
    queryFn: ({ signal }) => get<RunAnswer>(`${insights(path)}${pathOf`/runs/${id}`}`, {}, signal),
  });

export const pullsQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: ['pull requests', path, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<PullRequestList>('GET', `${insights(path)}/pulls`, {
        query: { ...query, cursor, per_page: LINES },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
  });

export const pullQuery = (path: RepositoryPath, number: string) =>
  queryOptions({
    queryKey: ['pull request', path, number],
    queryFn: ({ signal }) => get<PullRequestAnswer>(`${insights(path)}${pathOf`/pulls/${number}`}`, {}, signal),
  });

export const commitQuery = (path: RepositoryPath, commit: string, only: Query = {}) =>
  infiniteQueryOptions({
    queryKey: ['commit', path, commit, only],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<CommitFailures>('GET', `${insights(path)}${pathOf`/commits/${commit}/failures`}`, {
        query: { ...only, cursor, per_page: PAGE_ROWS },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
  });

export type Stat = TestStatistic['stat'];
/** Those that the page of a test shows. */
export const TEST_STATS = [
  'success_count',
  'failure_count',
  'flaky_count',
  'mean_duration',
] as const satisfies readonly Stat[];
export interface TimeWindow {
  start: string;
  end: string;
}

export const statQuery = (path: TestPath, stat: Stat, { start, end }: TimeWindow) =>
  queryOptions({
    queryKey: ['stat', path, stat, start, end],
    queryFn: ({ signal }) => get<TestStatistic>(`${test(path)}${pathOf`/stats/${stat}`}`, { start, end }, signal),
    staleTime: 60_000,
    placeholderData: (before) => before,
  });

export const failuresQuery = (path: TestPath) =>
  queryOptions({
    queryKey: ['failures', path],
    queryFn: ({ signal }) => get<TestFailures>(`${test(path)}/failures`, {}, signal),
  });

export const failureQuery = (path: TestPath, failureId: string) =>
  queryOptions({
    queryKey: ['failure', path, failureId],
    queryFn: ({ signal }) => get<TestFailure>(`${test(path)}${pathOf`/failures/${failureId}`}`, {}, signal),
  });

export const executionsQuery = (path: TestPath, { start, end }: TimeWindow) =>
  queryOptions({
    queryKey: ['executions', path, start, end],
    queryFn: ({ signal }) =>
      get<TestExecutions>(`${test(path)}/executions`, { start, end, per_page: PAGE_ROWS }, signal),
    placeholderData: (before) => before,
  });

/** Each execution of a test, on any branch. */
export const historyQuery = (path: TestPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: ['history', path, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<TestHistory>('GET', `${test(path)}/history`, { query: { ...query, cursor, per_page: LINES }, signal }),
    getNextPageParam: ({ next }) => next,
    staleTime: 30_000,
  });

/** It never changes. */
export const executionQuery = (path: TestPath, executionId: string) =>
  queryOptions({
    queryKey: ['execution', path, executionId],
    queryFn: ({ signal }) => get<TestExecution>(`${test(path)}${pathOf`/history/${executionId}`}`, {}, signal),
    staleTime: 600_000,
  });

/** What prompts for agents are about. */
export type PromptSubject = { testId: string } | { causeId: string } | { commit: string; testId: string };

export const promptQuery = (path: RepositoryPath, subject: PromptSubject) =>
  queryOptions({
    queryKey: ['prompt', path, subject],
    queryFn: ({ signal }) => get<PromptAnswer>(`${insights(path)}${promptPath(subject)}/prompt`, {}, signal),
    staleTime: 30_000,
  });

function promptPath(subject: PromptSubject): string {
  if ('causeId' in subject) return pathOf`/causes/${subject.causeId}`;
  if ('commit' in subject) return pathOf`/commits/${subject.commit}/failures/${subject.testId}`;
  return pathOf`/tests/${subject.testId}`;
}

export interface NewBacktest {
  auto_quarantine: 'flaky' | 'flaky+broken';
  since: string;
  is_narrowed: boolean;
  constants: Record<string, number>;
}
export const requestBacktest = async (path: RepositoryPath, body: NewBacktest): Promise<BacktestAnswer> =>
  (await ask<BacktestAnswer>('POST', `${insights(path)}/backtests`, { body })).body;

export const backtestQuery = (path: RepositoryPath, id: string) =>
  queryOptions({
    queryKey: ['backtest', path, id],
    queryFn: ({ signal }) => get<BacktestAnswer>(`${insights(path)}${pathOf`/backtests/${id}`}`, {}, signal),
  });

export const quarantinesQuery = (path: RepositoryPath, testId?: string) =>
  queryOptions({
    queryKey: ['quarantines', path, testId],
    queryFn: ({ signal }) =>
      get<QuarantineListAnswer>(`${insights(path)}/quarantines`, { test_id: testId, narrowed: 'include' }, signal),
  });

export const effectsQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: ['quarantine effects', path],
    queryFn: ({ signal }) => get<QuarantineEffects>(`${insights(path)}/quarantine-effects`, {}, signal),
    staleTime: 60_000,
  });

export const lanesQuery = (path: RepositoryPath, query: Query) =>
  queryOptions({
    queryKey: ['lanes', path, query],
    queryFn: ({ signal }) => get<LaneList>(`${insights(path)}/lanes`, query, signal),
    staleTime: 60_000,
    placeholderData: (before) => before,
  });

export const redRunsByDayQuery = (path: RepositoryPath, query: Query) =>
  queryOptions({
    queryKey: ['red runs by day', path, query],
    queryFn: ({ signal }) => get<RedRunsByDay>(`${insights(path)}/red-runs/by-day`, query, signal),
    staleTime: 60_000,
    placeholderData: (before) => before,
  });

/** Of the last 90 days. */
export const unhealthyByDayQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: ['unhealthy by day', path],
    queryFn: ({ signal }) => get<UnhealthyByDay>(`${insights(path)}/health-transitions/by-day`, {}, signal),
    staleTime: 60_000,
  });

export const costQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: ['cost', path, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<Costs>('GET', `${insights(path)}/cost`, { query: { ...query, cursor, per_page: PAGE_ROWS }, signal }),
    getNextPageParam: ({ next }) => next,
    staleTime: 60_000,
    placeholderData: (before) => before,
  });

export const durationsQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: ['durations', path, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<DurationPage>('GET', `${insights(path)}/durations`, {
        query: { ...query, cursor, per_page: PAGE_ROWS },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
    staleTime: 60_000,
    placeholderData: (before) => before,
  });

export const logQuery = ({ owner, repository }: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: ['log', owner, repository, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<EventLog>('GET', pathOf`/repos/${owner}/${repository}/logs`, {
        query: { ...query, cursor, per_page: PAGE_ROWS },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
  });

export const eventCountsQuery = ({ owner, repository }: RepositoryPath, query: Query) =>
  queryOptions({
    queryKey: ['log counts', owner, repository, query],
    queryFn: ({ signal }) => get<EventCounts>(pathOf`/repos/${owner}/${repository}/logs/aggregate`, query, signal),
    placeholderData: (before) => before,
  });

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => get<KeyList>('/keys', {}, signal),
});
export const deadLettersQuery = queryOptions({
  queryKey: ['dead letters'],
  queryFn: ({ signal }) => get<DeadLetterList>('/dead-letters', {}, signal),
});
export const replayDeadLetter = (id: string) => ask<undefined>('POST', pathOf`/dead-letters/${id}/replay`);

export const serviceStateQuery = queryOptions({
  queryKey: ['service state'],
  queryFn: ({ signal }) => get<ServiceState>('/service', {}, signal),
});

/** Uploads of one repository, or of all. */
export const uploadsQuery = (path: RepositoryPath | undefined, query: Query) =>
  infiniteQueryOptions({
    queryKey: ['uploads', path, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<UploadList>('GET', `${path ? insights(path) : ''}/uploads`, {
        query: { ...query, cursor, per_page: PAGE_ROWS },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
  });

export const settingsQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: ['settings', path],
    queryFn: ({ signal }) => get<RepositorySettingsAnswer>(`${insights(path)}/settings`, {}, signal),
  });
export const changeSettings = (path: RepositoryPath, body: SettingsChange) =>
  ask<ChangedSettings>('PATCH', `${insights(path)}/settings`, { body });

export const auditQuery = (query: Query) =>
  infiniteQueryOptions({
    queryKey: ['audit', query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<AuditList>('GET', '/audit', { query: { ...query, cursor, per_page: PAGE_ROWS }, signal }),
    getNextPageParam: ({ next }) => next,
  });

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => get<SessionList>('/sessions', {}, signal),
});

export interface NewKey {
  name: string;
  scope: KeyList['keys'][number]['scope'];
  owner: string | null;
  repositories?: string[] | null;
  expires_in_days?: number | null;
  pull_requests_only?: boolean;
}
export const makeKey = (body: NewKey) => ask<MadeKey>('POST', '/keys', { body });
export const revokeKey = (id: string) => ask<undefined>('DELETE', pathOf`/keys/${id}`);
export const revokeSession = (id: string) => ask<undefined>('DELETE', pathOf`/sessions/${id}`);

export const signIn = (key: string) => ask<CredentialInUse>('POST', SESSION, { body: { key } });
/** Also of a session that has ended already. */
export async function signOut(): Promise<void> {
  try {
    await ask<undefined>('DELETE', SESSION);
  } catch (error) {
    if (!(error instanceof Problem && error.status === 403)) throw error;
  }
  rememberProvider(false);
}

export const changeCause = (
  path: RepositoryPath,
  id: string,
  body: { owner: string | null; ticket_url: string | null },
) => ask<unknown>('PATCH', `${insights(path)}${pathOf`/causes/${id}`}`, { body });

export const quarantineCause = (
  path: RepositoryPath,
  id: string,
  body: { reason: string; branch: string | null; expires_at: string | null },
) => ask<unknown>('POST', `${insights(path)}${pathOf`/causes/${id}`}/quarantine`, { body });
export const releaseCause = (path: RepositoryPath, id: string) =>
  ask<undefined>('DELETE', `${insights(path)}${pathOf`/causes/${id}`}/quarantine`);

/** Terms of a quarantine, which may be changed later. */
interface QuarantineTerms {
  expires_at?: string | null;
  owner?: string | null;
  ticket_url?: string | null;
  pipeline_name?: string | null;
  job_name?: string | null;
  axes?: Record<string, string[]> | null;
  failure_ids?: string[] | null;
}
export interface NewQuarantine extends QuarantineTerms {
  test_name: string;
  reason: string;
  branch: string | null;
}
export const quarantine = (path: RepositoryPath, body: NewQuarantine) =>
  ask<{ id: string }>('POST', `${insights(path)}/quarantines`, { body });
/** What it names; the rest stays. */
export interface QuarantineChanges extends QuarantineTerms {
  reason?: string;
  branch?: string | null;
}
export const changeQuarantine = (path: RepositoryPath, id: string, body: QuarantineChanges) =>
  ask<unknown>('PATCH', `${insights(path)}${pathOf`/quarantines/${id}`}`, { body });
export const release = (path: RepositoryPath, id: string) =>
  ask<undefined>('DELETE', `${insights(path)}${pathOf`/quarantines/${id}`}`);
/** Undoes a release. */
export const restoreQuarantine = (path: RepositoryPath, id: string) =>
  ask<unknown>('POST', `${insights(path)}${pathOf`/quarantines/${id}/restore`}`);
