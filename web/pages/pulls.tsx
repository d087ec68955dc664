/** The pull requests on which something ran lately, the one that ran last first, each with what its failures mean. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { PullRequestList } from '../../src/insights/pulls.ts';
import { pullsQuery, type RepositoryPath } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { Commit } from '../ui/commit.tsx';
import { PagedList } from '../ui/paged-list.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty } from '../ui/states.tsx';
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
  const pulls = found.data?.pages.flatMap((page) => page.body.pulls) ?? [];
  const { author } = search;
  const isFiltered = Object.keys(search).length > 0;
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
        <PagedList
          found={found}
          rows={pulls}
          older="Older pull requests"
          empty={
            <Empty title={isFiltered ? 'No pull request matches' : 'Nothing has run for a pull request in 14 days'}>
              <p>Pull requests appear with the first report of one of their runs.</p>
            </Empty>
          }
        >
          {(pull) => <Row key={pull.number} path={path} pull={pull} />}
        </PagedList>
      </div>
    </>
  );
}

/** What the row is about: something new, something else that failed, or nothing. */
function Mark({ pull }: { pull: Pull }) {
  const isNew = (pull.verdicts.new ?? 0) > 0;
  const hasFailed = pull.failed > 0;
  const [sign, word, colour] = isNew
    ? ['✕', 'New failures', 'text-broken']
    : hasFailed
      ? ['○', 'Failures that are not new', 'text-flaky']
      : ['✓', 'Nothing failed', 'text-healthy'];
  return (
    <span role="img" aria-label={word} title={word} className={`font-medium ${colour}`}>
      {sign}
    </span>
  );
}

function Row({ path, pull }: { path: RepositoryPath; pull: Pull }) {
  return (
    <li className="grid grid-cols-[1rem_minmax(0,1fr)] gap-x-3 border-b border-line px-4 py-2 last:border-0 hover:bg-raised sm:grid-cols-[1rem_minmax(0,1fr)_auto]">
      <Mark pull={pull} />
      <div className="min-w-0">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <Link
            to="/$owner/$repository/pulls/$number"
            params={{ ...path, number: String(pull.number) }}
            className="min-w-0 font-medium break-words text-ink"
          >
            <span className="font-normal text-soft">#{pull.number}</span>{' '}
            {pull.title ?? pull.head_ref ?? 'Pull request'}
          </Link>
          {pull.merge_commit !== null && <span className="text-xs text-soft">merged</span>}
        </p>
        <p className="text-soft">{pull.summary}</p>
      </div>
      <p className="flex flex-wrap gap-x-2 text-xs text-soft max-sm:col-start-2 sm:flex-col sm:items-end">
        <span>
          <Commit path={path} commit={pull.commit_sha} />
          {pull.user !== null && (
            <>
              {' by '}
              <Link
                from="/$owner/$repository/pulls"
                to="."
                search={(others) => ({ ...others, author: pull.user?.login ?? '' })}
                className="underline"
              >
                {pull.user.login}
              </Link>
            </>
          )}
        </span>
        <Time at={pull.started_at} />
      </p>
    </li>
  );
}
