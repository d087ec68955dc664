/** The quarantine board: what does not count at the moment, those that could be released on top. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { quarantinesQuery } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { useTitle } from '../ui/title.ts';
import { Board } from './quarantine-board.tsx';
import { shownOf } from './quarantine-shown.ts';

const route = getRouteApi('/signed/$owner/$repository/quarantines');
const SOURCES = [
  [undefined, 'By anyone'],
  ['manual', 'By people'],
  ['auto', 'Automatically'],
] as const;

const SHOWS = [
  [undefined, 'All'],
  ['recovered', 'Recovered'],
  ['ending', 'End within 7 days'],
  ['endless', 'Have no end'],
  ['unowned', 'Have no owner'],
] as const;

export function Quarantines() {
  const path = route.useParams();
  const { q = '', source, show } = route.useSearch();
  const navigate = route.useNavigate();
  useTitle(`Quarantine of ${path.owner}/${path.repository}`);
  const { data, error, refetch, isPending } = useQuery({ ...quarantinesQuery(path), refetchInterval: 15_000 });
  const onSearch = useCallback(
    (text: string) => void navigate({ search: (before) => ({ ...before, q: text || undefined }), replace: true }),
    [navigate],
  );
  const shown = useMemo(
    () => data && shownOf(data.quarantined_tests, { q, source, show }, Date.now()),
    [data, q, source, show],
  );
  return (
    <>
      <h1 className="sr-only">Quarantine</h1>
      <p className="mb-3 text-right text-xs">
        <Link to="/$owner/$repository/quarantines/backtest" params={path}>
          What would other levels have quarantined?
        </Link>
      </p>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField
          label="Find quarantines"
          placeholder="Test, reason, branch or owner"
          value={q}
          onSearch={onSearch}
        />
        <Choice
          label="Who quarantined"
          value={source}
          options={SOURCES}
          onChoose={(chosen) => void navigate({ search: (before) => ({ ...before, source: chosen }), replace: true })}
        />
        <Choice
          label="Show"
          value={show}
          options={SHOWS}
          onChoose={(chosen) => void navigate({ search: (before) => ({ ...before, show: chosen }), replace: true })}
        />
      </div>
      {isPending && <Loading />}
      {error && <Failed error={error} reset={() => void refetch()} />}
      {shown?.length === 0 && (
        <div className="card">
          {data?.quarantined_tests.length === 0 ? (
            <Empty title="Nothing is quarantined">
              <p>Every failure counts. Quarantine a test from its page when it fails for reasons of its own.</p>
            </Empty>
          ) : (
            <Empty title="No quarantine matches" />
          )}
        </div>
      )}
      {shown && shown.length > 0 && <Board path={path} quarantines={shown} />}
    </>
  );
}
