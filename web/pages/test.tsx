/** One test: what it is, how it has been, how it fails, and whether it is quarantined. */
import { type InfiniteData, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { TestDetails } from '../../src/insights/details.ts';
import type { TestSearchAnswer } from '../../src/insights/search.ts';
import type { Answer } from '../api/client.ts';
import { keyOf } from '../api/keys.ts';
import {
  axesQuery,
  detailsQuery,
  promptQuery,
  quarantinesQuery,
  renamesQuery,
  segmentsQuery,
  type TestPath,
  type TimeWindow,
} from '../api/queries.ts';
import { TEST_DAYS, testWindow } from '../api/views.ts';
import { Commit } from '../ui/commit.tsx';
import { CopyPrompt } from '../ui/copy-prompt.tsx';
import { HealthBadge } from '../ui/health.tsx';
import { File } from '../ui/host.tsx';
import { Pull } from '../ui/pull.tsx';
import { Loading, NotYet } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { FailureGroups } from './test-failures.tsx';
import { TestForgetting } from './test-forgetting.tsx';
import { howSure, inWords } from './test-health.ts';
import { Life } from './test-life.tsx';
import { Places } from './test-places.tsx';
import { TestQuarantine } from './test-quarantine.tsx';
import { Reason } from './test-reason.tsx';
import { TestRenames } from './test-renames.tsx';
import { Statistics } from './test-statistics.tsx';
import { Takes } from './test-takes.tsx';
import { WhereItFails } from './test-where.tsx';
import { WindowBar } from './window-bar.tsx';

const route = getRouteApi('/signed/$owner/$repository/tests/$testId');

export function Test() {
  const path = route.useParams();
  const window = useChosenWindow();
  const { data, error, refetch } = useQuery(detailsQuery(path));
  // The parts whose height is not known before: what follows them would jump when they arrive.
  const isWaiting = [
    useQuery(quarantinesQuery(path, path.testId)),
    useQuery(axesQuery(path)),
    useQuery(renamesQuery(path, { testId: path.testId })),
    useQuery(segmentsQuery(path, window)),
  ].some(({ isPending }) => isPending);
  const listed = useListedName(path);
  useTitle(data?.test_name ?? listed ?? 'Test');
  // A renamed test keeps its id; that of its new name leads to it.
  if (data && data.test_id !== path.testId)
    return <Navigate to="/$owner/$repository/tests/$testId" params={{ ...path, testId: data.test_id }} replace />;
  if (data && !isWaiting) return <Known path={path} test={data} window={window} />;
  if (listed === undefined || error !== null) return <NotYet title="Test" error={error} reset={() => void refetch()} />;
  return (
    <>
      <Name path={path}>{listed}</Name>
      <Loading rows={10} />
    </>
  );
}

/** The name of the test, if a list has shown it already. */
function useListedName({ testId }: TestPath): string | undefined {
  const lists = useQueryClient().getQueriesData<InfiniteData<Answer<TestSearchAnswer>>>({ queryKey: keyOf('search') });
  const tests = lists.flatMap(([, found]) => found?.pages.flatMap(({ body }) => body.tests) ?? []);
  return tests.find((one) => one.test_id === testId)?.test_name;
}

/** @param aside beside the name */
const Name = ({ path, aside, children }: { path: TestPath; aside?: ReactNode; children: string }) => (
  <>
    <Link to="/$owner/$repository/tests" params={path} className="text-xs">
      ← Tests
    </Link>
    <div className="mt-1 flex flex-wrap items-start gap-3">
      <h1 className="min-w-0 text-lg font-semibold break-words">{children}</h1>
      {aside}
    </div>
  </>
);

/** Moves on with the hour. */
function useChosenWindow(): TimeWindow {
  const { days, from, to } = route.useSearch();
  const { start, end } = testWindow({ days, from, to }, Date.now());
  return useMemo(() => ({ start, end }), [start, end]);
}

function Known({ path, test, window }: { path: TestPath; test: TestDetails; window: TimeWindow }) {
  const { days = TEST_DAYS, from, failure, asOf } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="flex flex-col gap-5">
      <header>
        <Name
          path={path}
          aside={
            <>
              <span className="pt-1">
                <HealthBadge health={test.health_status} isActive={test.is_active} />
              </span>
              {test.skipped_since !== null && (
                <span className="pt-1 text-soft">
                  skipped since <Time at={test.skipped_since} />
                </span>
              )}
              <CopyPrompt query={promptQuery(path, { testId: path.testId })} about={test.test_name} />
            </>
          }
        >
          {test.test_name}
        </Name>
        <p className="mt-1 text-soft">
          {inWords(test)} {howSure(test)}
        </p>
      </header>
      <TestRenames path={path} />
      <Facts path={path} test={test} />
      <Reason
        path={path}
        health={test.health_status}
        asOf={asOf}
        onAsOf={(day) => void navigate({ search: (before) => ({ ...before, asOf: day }), replace: true })}
      />
      <WhereItFails path={path} />
      <TestQuarantine path={path} testName={test.test_name} />
      <WindowBar
        window={window}
        days={from === undefined ? days : undefined}
        onDays={(chosen) => void navigate({ search: { days: chosen, failure, asOf }, replace: true })}
      />
      <Life path={path} window={window} />
      <Statistics
        path={path}
        window={window}
        onWindow={(chosen) => void navigate({ search: { ...chosen, failure, asOf } })}
      />
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <FailureGroups
          path={path}
          hasFailed={test.first_failure_at !== null}
          opened={failure}
          onOpen={(chosen) => void navigate({ search: (before) => ({ ...before, failure: chosen }), replace: true })}
        />
        <Places path={path} window={window} />
      </div>
      <TestForgetting path={path} />
    </div>
  );
}

function Facts({ path, test }: { path: TestPath; test: TestDetails }) {
  return (
    <dl className="card grid grid-cols-2 gap-x-6 gap-y-3 p-4 md:grid-cols-4 lg:grid-cols-8">
      <Fact name="Last result">{test.last_conclusion}</Fact>
      <Fact name="Takes">
        <Takes path={path} legs={test.legs} />
      </Fact>
      <Fact name="Last success">{momentOf(test.last_success_at)}</Fact>
      <Fact name="Last failure">{momentOf(test.last_failure_at)}</Fact>
      <Fact name="First failure">
        {momentOf(test.first_failure_at)}
        {test.first_failure_commit !== null && (
          <>
            {' '}
            in <Commit path={path} commit={test.first_failure_commit} />
          </>
        )}
        {test.first_failure_pull && <FirstPull path={path} pull={test.first_failure_pull} />}
      </Fact>
      <Fact name="File">{test.test_filepath === null ? '–' : <File path={path} file={test.test_filepath} />}</Fact>
      <Fact name="Owner">
        {test.owners.length === 0 && '–'}
        {test.owners.map((owner) => (
          <Link
            key={owner}
            to="/$owner/$repository/tests"
            params={path}
            search={{ ownedBy: owner }}
            className="block break-all"
          >
            {owner}
          </Link>
        ))}
      </Fact>
      <Fact name="Framework">
        {[test.test_framework, test.test_framework_version].filter(Boolean).join(' ') || '–'}
      </Fact>
    </dl>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="min-w-0">
    <dt className="text-xs text-soft">{name}</dt>
    <dd className="break-words">{children}</dd>
  </div>
);

const momentOf = (at: string | null): ReactNode => (at === null ? 'never' : <Time at={at} />);

interface FirstPullProps {
  path: TestPath;
  pull: NonNullable<TestDetails['first_failure_pull']>;
}

const FirstPull = ({ path, pull }: FirstPullProps) => (
  <span className="block text-xs text-soft">
    <Pull path={path} number={pull.number} /> {pull.title} · {pull.user.login}
  </span>
);
