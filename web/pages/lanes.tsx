/** Lanes: which pipeline, CI job, leg, runner, region or hour of the day fails more than its peers. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { LaneList } from '../../src/insights/lanes.ts';
import { lanesQuery, type RepositoryPath } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { formatCount, formatCounted, formatShare, formatTimes } from '../ui/format.ts';
import { legWords } from '../ui/leg-words.ts';
import { useDaysUpToNow } from '../ui/long-window.ts';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { TestName } from '../ui/test-name.tsx';
import { useTitle } from '../ui/title.ts';
import { WindowBar } from './window-bar.tsx';

const route = getRouteApi('/signed/$owner/$repository/lanes');
type Lane = LaneList['lanes'][number];
type Kind = LaneList['by'];

const KINDS: readonly (readonly [Kind, string])[] = [
  ['runner', 'Runners'],
  ['region', 'Regions'],
  ['leg', 'Legs'],
  ['job', 'CI jobs'],
  ['pipeline', 'Pipelines'],
  ['hour', 'Hours of the day (UTC)'],
];
const HEADS: Record<Kind, string> = {
  runner: 'Runner',
  region: 'Region',
  leg: 'Leg',
  job: 'CI job',
  pipeline: 'Pipeline',
  hour: 'Hour (UTC)',
};

export function Lanes() {
  const path = route.useParams();
  const { by = 'runner', days = '30', branch } = route.useSearch();
  const navigate = route.useNavigate();
  const window = useDaysUpToNow(days);
  const { data, error, refetch } = useQuery(lanesQuery(path, { by, branch, ...window }));
  useTitle(`Lanes of ${path.owner}/${path.repository}`);
  const onSearch = useCallback(
    (text: string) =>
      void navigate({ search: (before) => ({ ...before, branch: text === '' ? undefined : text }), replace: true }),
    [navigate],
  );
  return (
    <>
      <h1 className="sr-only">Lanes</h1>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Choice
          label="Kind of lane"
          value={by}
          options={KINDS}
          onChoose={(chosen) => void navigate({ search: (before) => ({ ...before, by: chosen }), replace: true })}
        />
        <SearchField label="Branch" placeholder="Every branch" value={branch ?? ''} onSearch={onSearch} />
      </div>
      <div className="mb-3">
        <WindowBar
          window={window}
          days={days}
          onDays={(chosen) => void navigate({ search: (before) => ({ ...before, days: chosen }), replace: true })}
        />
      </div>
      <div className="card overflow-hidden">
        {error && <Failed error={error} reset={() => void refetch()} />}
        {!error && !data && <Loading rows={10} />}
        {data && <Known path={path} list={data} />}
      </div>
    </>
  );
}

const columnsOf = (path: RepositoryPath, by: Kind): readonly Column<Lane>[] => [
  {
    id: 'lane',
    head: HEADS[by],
    isText: true,
    width: 'min-w-28 sm:min-w-40',
    sorts: ['asc', 'desc'],
    value: nameOf,
    cell: (lane) => <span className="font-medium break-words">{nameOf(lane)}</span>,
  },
  {
    id: 'runs',
    head: 'Runs',
    width: 'max-sm:hidden',
    sorts: ['desc', 'asc'],
    value: (lane) => lane.runs,
    cell: (lane) => formatCount(lane.runs),
  },
  {
    id: 'red',
    head: 'Red',
    width: 'max-sm:hidden',
    hint: 'Runs in which a test failed',
    sorts: ['desc', 'asc'],
    value: (lane) => lane.red_runs,
    cell: (lane) => formatCount(lane.red_runs),
  },
  {
    id: 'share',
    head: 'Share',
    hint: 'Of its runs that were red',
    sorts: ['desc', 'asc'],
    value: (lane) => lane.red_share,
    cell: (lane) => formatShare(lane.red_share),
  },
  {
    id: 'peers',
    head: 'Against its peers',
    hint: 'How many times as often it fails as runs of the same day that differ in nothing else',
    isText: true,
    width: 'min-w-32 sm:min-w-40',
    sorts: ['desc', 'asc'],
    value: (lane) => lane.times_as_often,
    // On a phone, with what is to blame.
    cell: (lane) => (
      <>
        <Against lane={lane} />
        <span className="block text-xs sm:hidden">
          <Blame path={path} lane={lane} />
        </span>
      </>
    ),
  },
  {
    id: 'blame',
    head: 'To blame',
    isText: true,
    width: 'min-w-40 max-w-96 max-sm:hidden',
    value: ({ to_blame: blame, tests: [first] }) => (blame === 'test' ? (first?.test_name ?? null) : blame),
    cell: (lane) => <Blame path={path} lane={lane} />,
  },
];

function Known({ path: { owner, repository }, list }: { path: RepositoryPath; list: LaneList }) {
  const { by, lanes, runs, red_runs: red, unknown_runs: unknown, is_complete: isComplete } = list;
  const columns = useMemo(() => columnsOf({ owner, repository }, by), [owner, repository, by]);
  if (lanes.length === 0)
    return (
      <Empty title={unknown > 0 ? `No run says its ${by}` : 'Nothing has run'}>
        <p>
          {unknown > 0
            ? `${formatCounted(unknown, 'run')} came without. Send it with --place ${by}=NAME; the client reads it from most CIs.`
            : 'Lanes appear when the first report of a run has arrived.'}
        </p>
      </Empty>
    );
  return (
    <>
      <p className="border-b border-line px-4 py-2 text-soft">
        {formatCounted(red, 'red run')} of {formatCount(runs)}.
        {unknown > 0 && ` ${formatCounted(unknown, 'run')} did not say ${by === 'region' ? 'a region' : 'a runner'}.`}
        {!isComplete && ` Only the ${formatCount(lanes.length)} with the most runs are shown.`} Runs are compared with
        those of the same day that differ in nothing else.
      </p>
      <Table
        label="Lanes"
        noun="lane"
        columns={columns}
        rows={lanes}
        isWhole
        keyOf={(lane) => JSON.stringify([nameOf(lane), lane.pipeline_name])}
      />
    </>
  );
}

function nameOf({ pipeline_name: pipeline, job_name: job, axes, runner, region, hour }: Lane): string {
  if (hour !== null) return `${String(hour).padStart(2, '0')}:00`;
  if (runner !== null || region !== null) return runner ?? region ?? '';
  return [pipeline ?? '', ...(job === null ? [] : [legWords(job, axes ?? {})])].join(' › ');
}

function Against({ lane: { differs, times_as_often: times } }: { lane: Lane }) {
  if (differs === null) return <span className="text-soft">no clear difference</span>;
  return (
    <span className={differs === 'more' ? 'font-medium text-broken' : 'text-healthy'}>
      {differs === 'more' ? '▲' : '▼'} {inWords(times)}
    </span>
  );
}

/** The ratio to its peers. */
function inWords(times: number | null): string {
  if (times === null) return 'fails, and the others do not';
  if (times === 0) return 'never fails, and the others do';
  return times >= 1 ? `fails ${formatTimes(times)} as often` : `the others fail ${formatTimes(1 / times)} as often`;
}

function Blame({
  path,
  lane: { differs, to_blame: blame, tests, failed_tests: count },
}: {
  path: RepositoryPath;
  lane: Lane;
}) {
  const [first] = tests;
  if (differs !== 'more') return null;
  if (blame === 'test' && first)
    return (
      <Link
        to="/$owner/$repository/tests/$testId"
        params={{ ...path, testId: first.test_id }}
        aria-label={first.test_name ?? 'The test'}
      >
        <TestName name={first.test_name ?? 'a test that never ran on the default branch'} />
      </Link>
    );
  const failed = formatCounted(count ?? 0, 'test');
  return blame === 'no test' ? (
    <span>no test is to blame: {failed} failed</span>
  ) : (
    <span className="text-soft">{failed} failed</span>
  );
}
