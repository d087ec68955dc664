/** The addresses of the application. What a page shows is in its address, so every view can be linked. */
import { QueryClient } from '@tanstack/react-query';
import {
  type AnyRoute,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { BASE, onLostSession, Problem } from './api/client.ts';
import { leaveForProvider, viewOf } from './api/lost-session.ts';
import { sessionQuery } from './api/queries.ts';
import { SHOWN } from './pages/quarantine-shown.ts';
import { SignIn } from './pages/sign-in.tsx';
import { readAhead } from './reads.ts';
import { Frame, Signed } from './ui/frame.tsx';
import { InRepository } from './ui/host.tsx';
import { Failed, Loading, NothingHere } from './ui/states.tsx';

/** Reads are tried again when no answer came or a store was away, not when they were refused. */
const isWorthRepeating = (error: Error): boolean =>
  !(error instanceof Problem) || error.status === 0 || error.status === 503;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && isWorthRepeating(error),
      retryDelay: (attempt) => 500 * 2 ** attempt,
    },
  },
});

const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: Frame,
  notFoundComponent: NothingHere,
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { to?: string } =>
    typeof search.to === 'string' && /^\/(?!\/)/.test(search.to) ? { to: search.to } : {},
  component: SignIn,
});

/** The scripts of pages are on their way while the service says who is signed in. */
function loadScripts(routeIds: readonly string[]): void {
  const routes: Record<string, AnyRoute> = router.routesById;
  for (const id of routeIds) void routes[id]?.options.component?.preload?.();
}

/** Everything else needs a session. */
const signedRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed',
  component: Signed,
  beforeLoad: async ({ context, location, matches }) => {
    loadScripts(matches.map(({ routeId }) => routeId));
    readAhead(context.queryClient, matches);
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session !== null) return;
    forgetReads();
    if (leaveForProvider(viewOf(location.href))) await new Promise<never>(() => {});
    throw redirect({ to: '/sign-in', search: { to: location.href } });
  },
});

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const flag = (value: unknown): true | undefined => (value === 'true' || value === true ? true : undefined);
const oneOf = <const T extends string>(value: unknown, values: readonly T[]): T | undefined =>
  values.find((one) => one === value);
/** Leaves out what is not set, so that addresses stay short. */
const set = <T extends object>(values: T): Partial<T> => {
  const given: Partial<T> = { ...values };
  for (const name in given) if (given[name] === undefined) delete given[name];
  return given;
};

/** What the address of a page with a table may say of it (ui/table-address.ts). */
const tableSearch = (search: Record<string, unknown>) => ({
  direction: oneOf(search.direction, ['asc', 'desc']),
  columns: text(search.columns),
});

/** Whose recipe a page shows while a repository has sent nothing. */
const setupSearch = (search: Record<string, unknown>) => set({ ci: text(search.ci) });

const homeRoute = createRoute({
  getParentRoute: () => signedRoute,
  path: '/',
  validateSearch: (search) => set({ q: text(search.q), sort: text(search.sort), ...tableSearch(search) }),
  component: lazyRouteComponent(() => import('./pages/repositories.tsx'), 'Repositories'),
});

const operationsRoute = createRoute({
  getParentRoute: () => signedRoute,
  path: '/operations',
  validateSearch: (search) =>
    set({
      view: oneOf(search.view, ['uploads', 'access', 'audit']),
      repository: text(search.repository),
      problems: flag(search.problems),
      actor: text(search.actor),
      action: text(search.action),
    }),
  component: lazyRouteComponent(() => import('./pages/operations.tsx'), 'Operations'),
});

const repositoryRoute = createRoute({
  getParentRoute: () => signedRoute,
  path: '/$owner/$repository',
  component: InRepository,
});

const repositoryHomeRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/',
  validateSearch: setupSearch,
  component: lazyRouteComponent(() => import('./pages/today.tsx'), 'Today'),
});

const SORTS = [
  'health_status',
  'failed_executions_count',
  'failed_executions_ratio',
  'last_failure_at',
  'median_seconds',
  'cost',
  'executions_count',
  'test_name',
] as const;
const testsRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/tests',
  validateSearch: (search) =>
    set({
      q: text(search.q),
      pipeline: text(search.pipeline),
      job: text(search.job),
      axis: text(search.axis),
      health: oneOf(search.health, ['healthy', 'flaky', 'calm', 'broken']),
      quarantined: oneOf(search.quarantined, ['true', 'false']),
      ownedBy: text(search.ownedBy),
      unowned: flag(search.unowned),
      sort: oneOf(search.sort, SORTS),
      ...tableSearch(search),
    }),
  component: lazyRouteComponent(() => import('./pages/tests.tsx'), 'Tests'),
});

const testRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/tests/$testId',
  validateSearch: (search) =>
    set({
      days: oneOf(search.days, ['1', '7', '30', '90']),
      from: text(search.from),
      to: text(search.to),
      failure: text(search.failure),
      asOf: text(search.asOf),
    }),
  component: lazyRouteComponent(() => import('./pages/test.tsx'), 'Test'),
});

const historyRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/tests/$testId/history',
  validateSearch: (search) =>
    set({
      days: oneOf(search.days, ['7', '90']),
      result: oneOf(search.result, ['attempts', 'failed', 'passed', 'skipped']),
      branch: text(search.branch),
      pull: text(search.pull),
      leg: text(search.leg),
      at: text(search.at),
      beside: text(search.beside),
    }),
  component: lazyRouteComponent(() => import('./pages/test-history.tsx'), 'History'),
});

const causesRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/causes',
  validateSearch: (search) =>
    set({
      q: text(search.q),
      days: oneOf(search.days, ['1', '7', '90']),
      sort: oneOf(search.sort, ['failures', 'tests', 'cost', 'newest']),
      ...tableSearch(search),
      health: oneOf(search.health, ['healthy', 'flaky', 'broken']),
    }),
  component: lazyRouteComponent(() => import('./pages/causes.tsx'), 'Causes'),
});

const causeRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/causes/$cause',
  component: lazyRouteComponent(() => import('./pages/cause.tsx'), 'Cause'),
});

const runsRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/runs',
  validateSearch: (search) => set({ branch: text(search.branch), ...tableSearch(search) }),
  component: lazyRouteComponent(() => import('./pages/runs.tsx'), 'Runs'),
});

const runRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/runs/$run',
  component: lazyRouteComponent(() => import('./pages/run.tsx'), 'Run'),
});

const pullsRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/pulls',
  validateSearch: (search) =>
    set({
      q: text(search.q),
      author: text(search.author),
      state: oneOf(search.state, ['merged', 'all']),
      sort: text(search.sort),
      ...tableSearch(search),
    }),
  component: lazyRouteComponent(() => import('./pages/pulls.tsx'), 'Pulls'),
});

const pullRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/pulls/$number',
  component: lazyRouteComponent(() => import('./pages/pull-request.tsx'), 'PullRequest'),
});

const commitRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/commits/$commit',
  component: lazyRouteComponent(() => import('./pages/commit.tsx'), 'Commit'),
});

const quarantinesRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/quarantines',
  validateSearch: (search) =>
    set({
      q: text(search.q),
      source: oneOf(search.source, ['manual', 'auto']),
      show: oneOf(search.show, SHOWN),
      sort: text(search.sort),
      ...tableSearch(search),
    }),
  component: lazyRouteComponent(() => import('./pages/quarantines.tsx'), 'Quarantines'),
});

const backtestRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/quarantines/backtest',
  validateSearch: (search) => set({ id: text(search.id), sort: text(search.sort), ...tableSearch(search) }),
  component: lazyRouteComponent(() => import('./pages/backtest.tsx'), 'BacktestPage'),
});

const costRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/cost',
  validateSearch: (search) =>
    set({
      days: oneOf(search.days, ['1', '7', '30', '90']),
      sort: oneOf(search.sort, [
        'red_runs',
        'red_runs_alone',
        'pull_requests',
        'rerun_minutes',
        'waiting_hours',
        'queue_departures',
      ]),
      reason: oneOf(search.reason, ['infrastructure', 'change', 'broken', 'flaky']),
      by: oneOf(search.by, ['cause', 'owner']),
      ...tableSearch(search),
    }),
  component: lazyRouteComponent(() => import('./pages/cost.tsx'), 'CostPage'),
});

const durationsRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/durations',
  validateSearch: (search) =>
    set({ sort: oneOf(search.sort, ['share', 'median', 'p95', 'growth']), ...tableSearch(search) }),
  component: lazyRouteComponent(() => import('./pages/durations.tsx'), 'Durations'),
});

const lanesRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/lanes',
  validateSearch: (search) =>
    set({
      by: oneOf(search.by, ['runner', 'region', 'leg', 'job', 'pipeline', 'hour']),
      days: oneOf(search.days, ['1', '7', '30', '90']),
      branch: text(search.branch),
      sort: text(search.sort),
      ...tableSearch(search),
    }),
  component: lazyRouteComponent(() => import('./pages/lanes.tsx'), 'Lanes'),
});

const ownersRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/owners',
  validateSearch: (search) => set({ sort: text(search.sort), ...tableSearch(search) }),
  component: lazyRouteComponent(() => import('./pages/owners.tsx'), 'Owners'),
});

const eventsRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/events',
  validateSearch: (search) =>
    set({
      type: text(search.type),
      outcome: oneOf(search.outcome, ['success', 'failure', 'pending', 'neutral']),
      trigger: text(search.trigger),
      pull: text(search.pull),
      days: oneOf(search.days, ['1', '7', '30', '90']),
      follow: flag(search.follow),
    }),
  component: lazyRouteComponent(() => import('./pages/events.tsx'), 'Events'),
});

const uploadsRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/uploads',
  validateSearch: (search) => set({ problems: flag(search.problems) }),
  component: lazyRouteComponent(() => import('./pages/uploads.tsx'), 'Uploads'),
});

const setupRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/setup',
  validateSearch: setupSearch,
  component: lazyRouteComponent(() => import('./pages/setup.tsx'), 'SetupPage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => repositoryRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings.tsx'), 'Settings'),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    signInRoute,
    signedRoute.addChildren([
      homeRoute,
      operationsRoute,
      repositoryRoute.addChildren([
        repositoryHomeRoute,
        testsRoute,
        testRoute,
        historyRoute,
        causesRoute,
        causeRoute,
        runsRoute,
        runRoute,
        pullsRoute,
        pullRoute,
        commitRoute,
        quarantinesRoute,
        backtestRoute,
        costRoute,
        durationsRoute,
        lanesRoute,
        ownersRoute,
        eventsRoute,
        uploadsRoute,
        setupRoute,
        settingsRoute,
      ]),
    ]),
  ]),
  basepath: `${BASE}/app`,
  context: { queryClient },
  // Plain text, so that an address reads like one of any other page.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined);
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return text === '' ? '' : `?${text}`;
  },
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: ({ error, reset }) => <Failed error={error} reset={reset} />,
  defaultPendingComponent: Loading,
  scrollRestoration: true,
});

/** Whoever signs in next may be someone else. What was asked for without a session gets no answer. */
function forgetReads(): void {
  queryClient.clear();
  queryClient.setQueryData(sessionQuery.queryKey, null);
}

onLostSession(() => {
  const { href, pathname } = router.state.location;
  if (pathname.endsWith('/sign-in') || leaveForProvider(viewOf(href))) return;
  forgetReads();
  void router.navigate({ to: '/sign-in', search: { to: href } });
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
