/** The quarantine board: what does not count at the moment, those that could be released on top. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback } from 'react';
import { quarantinesQuery } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { useTitle } from '../ui/title.ts';
import { Board } from './quarantine-board.tsx';

const route = getRouteApi('/signed/$owner/$repository/quarantines');
const SOURCES = [
  [undefined, 'By anyone'],
  ['manual', 'By people'],
  ['auto', 'Automatically'],
] as const;

const GROUPINGS = [
  [undefined, 'In one list'],
  ['owner', 'By owner'],
  ['end', 'By end'],
] as const;

export function Quarantines() {
  const path = route.useParams();
  const { q = '', source, recovered, group } = route.useSearch();
  const navigate = route.useNavigate();
  useTitle(`Quarantine of ${path.owner}/${path.repository}`);
  const { data, error, refetch, isPending } = useQuery({ ...quarantinesQuery(path), refetchInterval: 15_000 });
  const onSearch = useCallback(
    (text: string) => void navigate({ search: (before) => ({ ...before, q: text || undefined }), replace: true }),
    [navigate],
  );
  const shown = data?.quarantined_tests
    .filter((one) => source === undefined || one.source === source)
    .filter((one) => !recovered || one.is_recovered)
    .filter((one) =>
      `${one.test_name} ${one.reason} ${one.branch ?? ''} ${one.owner ?? ''}`.toLowerCase().includes(q.toLowerCase()),
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
          label="Grouped"
          value={group}
          options={GROUPINGS}
          onChoose={(chosen) => void navigate({ search: (before) => ({ ...before, group: chosen }), replace: true })}
        />
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={recovered ?? false}
            onChange={(event) =>
              void navigate({
                search: (before) => ({ ...before, recovered: event.target.checked || undefined }),
                replace: true,
              })
            }
          />
          Only recovered
        </label>
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
      {shown && shown.length > 0 && <Board path={path} quarantines={shown} grouping={group} />}
    </>
  );
}
