/** The pull requests on which something ran lately, the one that ran last first, each with what its failures mean. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { PullRequestList } from '../../src/insights/pulls.ts';
import { pullsQuery, type RepositoryPath } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { Commit } from '../ui/commit.tsx';
import { formatCount } from '../ui/format.ts';
import { Paged } from '../ui/paged-list.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';

const route = getRouteApi('/signed/$owner/$repository/pulls');
type Pull = PullRequestList['pulls'][number];

const STATES = [
  [undefined, 'Open'],
  ['merged', 'Merged'],
  ['all', 'Open and merged'],
] as const;

export function Pulls() {
  const path = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  useTitle(`Pull requests of ${path.owner}/${path.repository}`);
  const found = useInfiniteQuery({
    ...pullsQuery(path, { q: search.q, author: search.author, state: search.state }),
    refetchInterval: 15_000,
    placeholderData: (before) => before,
  });
  const onSearch = useCallback(
    (text: string) =>
      void navigate({
        search: ({ q: _, ...others }) => (text === '' ? others : { ...others, q: text }),
        replace: true,
      }),
    [navigate],
  );
  const pulls = useMemo(() => found.data?.pages.flatMap((page) => page.body.pulls) ?? [], [found.data]);
  const { owner, repository } = path;
  const columns = useMemo(() => columnsOf({ owner, repository }), [owner, repository]);
  const { author } = search;
  const isFiltered = [search.q, author, search.state].some((one) => one !== undefined);
  return (
    <>
      <h1 className="sr-only">Pull requests</h1>
      <div className="mb-3 flex flex-wrap gap-2">
        <SearchField
          label="Find pull requests"
          placeholder="Number, title or branch"
          value={search.q ?? ''}
          onSearch={onSearch}
        />
        <Choice
          label="State"
          value={search.state}
          options={STATES}
          onChoose={(state) =>
            void navigate({
              search: ({ state: _, ...others }) => (state === undefined ? others : { ...others, state }),
            })
          }
        />
        {author !== undefined && (
          <Link
            from="/$owner/$repository/pulls"
            to="."
            search={({ author: _, ...others }) => others}
            className="button rounded-full"
          >
            by {author} <span aria-hidden="true">✕</span>
            <span className="sr-only">: show those of everyone</span>
          </Link>
        )}
      </div>
      <div className="card overflow-hidden">
        <Paged
          found={found}
          count={pulls.length}
          older="Older pull requests"
          empty={
            <Empty title={isFiltered ? 'No pull request matches' : 'Nothing has run for a pull request in 14 days'}>
              <p>Pull requests appear with the first report of one of their runs.</p>
            </Empty>
          }
        >
          <Table
            label="Pull requests"
            noun="pull request"
            columns={columns}
            rows={pulls}
            keyOf={({ number }) => String(number)}
            first={FIRST}
            isWhole
            isMore={found.hasNextPage}
          >
            {found.hasNextPage && <span className="text-xs text-soft">the heads sort those that are here</span>}
          </Table>
        </Paged>
      </div>
    </>
  );
}

const FIRST = { id: 'started_at', direction: 'desc' } as const;

const columnsOf = (path: RepositoryPath): readonly Column<Pull>[] => [
  {
    id: 'number',
    head: 'Pull request',
    isText: true,
    width: 'w-full min-w-56 max-sm:pr-4',
    sorts: ['desc', 'asc'],
    value: ({ number }) => number,
    cell: (pull) => <What path={path} pull={pull} />,
  },
  {
    id: 'title',
    head: 'Title',
    isText: true,
    isExtra: true,
    width: 'min-w-48',
    sorts: ['asc', 'desc'],
    value: ({ title }) => title,
  },
  {
    id: 'summary',
    head: 'Verdict',
    isText: true,
    isExtra: true,
    width: 'min-w-64',
    value: ({ summary }) => summary,
  },
  {
    id: 'new',
    head: 'New',
    hint: 'Failed tests that fail because of the change, as far as one can tell',
    width: 'w-16 max-sm:hidden',
    sorts: ['desc', 'asc'],
    value: newFailures,
    cell: (pull) => <Count value={newFailures(pull)} colour="font-medium text-broken" />,
  },
  {
    id: 'failed',
    head: 'Failed',
    hint: 'Executions, over all runs of the newest commit',
    width: 'w-20 max-sm:hidden',
    sorts: ['desc', 'asc'],
    value: ({ failed }) => failed,
    cell: ({ failed }) => <Count value={failed} colour="" />,
  },
  {
    id: 'passed',
    head: 'Passed',
    isExtra: true,
    width: 'w-20',
    sorts: ['desc', 'asc'],
    value: ({ passed }) => passed,
    cell: ({ passed }) => formatCount(passed),
  },
  {
    id: 'commit',
    head: 'Commit',
    isText: true,
    width: 'max-md:hidden',
    value: ({ commit_sha: commit }) => commit,
    cell: ({ commit_sha: commit }) => <Commit path={path} commit={commit} />,
  },
  {
    id: 'author',
    head: 'Author',
    isText: true,
    width: 'max-w-40 max-md:hidden',
    sorts: ['asc', 'desc'],
    value: ({ user }) => user?.login ?? null,
    cell: ({ user }) => user !== null && <Author login={user.login} />,
  },
  {
    id: 'started_at',
    head: 'Started',
    width: 'w-32 max-sm:hidden',
    sorts: ['desc', 'asc'],
    value: ({ started_at: at }) => at,
    cell: ({ started_at: at }) => (
      <span className="text-soft">
        <Time at={at} />
      </span>
    ),
  },
];

function newFailures({ verdicts }: Pull): number {
  return verdicts.new ?? 0;
}

const Count = ({ value, colour }: { value: number; colour: string }) => (
  <span className={value === 0 ? 'text-soft' : colour}>{formatCount(value)}</span>
);

const Author = ({ login }: { login: string }) => (
  <Link
    from="/$owner/$repository/pulls"
    to="."
    search={(others) => ({ ...others, author: login })}
    className="break-words underline"
    data-hint={`Only those by ${login}`}
  >
    {login}
  </Link>
);

/** Whether something new failed, something else, or nothing. */
function Mark({ pull }: { pull: Pull }) {
  const [sign, word, colour] =
    newFailures(pull) > 0
      ? ['✕', 'New failures', 'text-broken']
      : pull.failed > 0
        ? ['○', 'Failures that are not new', 'text-flaky']
        : ['✓', 'Nothing failed', 'text-healthy'];
  return (
    <span role="img" aria-label={word} className={`w-5 shrink-0 font-medium ${colour}`}>
      {sign}
    </span>
  );
}

/** The pull request and its verdict; on a phone, also whose it is and when it ran. */
const What = ({ path, pull }: { path: RepositoryPath; pull: Pull }) => (
  <>
    <p className="flex">
      <Mark pull={pull} />
      <span className="min-w-0">
        <Link
          to="/$owner/$repository/pulls/$number"
          params={{ ...path, number: String(pull.number) }}
          className="font-medium break-words text-ink"
        >
          <span className="font-normal text-soft">#{pull.number}</span> {pull.title ?? pull.head_ref ?? 'Pull request'}
        </Link>
        {pull.merge_commit !== null && <span className="pl-2 text-xs text-soft">merged</span>}
      </span>
    </p>
    <p className="pl-5 text-soft">{pull.summary}</p>
    <p className="pl-5 text-xs text-soft md:hidden">
      <Commit path={path} commit={pull.commit_sha} />
      {pull.user !== null && (
        <>
          {' by '}
          <Author login={pull.user.login} />
        </>
      )}
      <span className="sm:hidden">
        {', '}
        <Time at={pull.started_at} />
      </span>
    </p>
  </>
);
