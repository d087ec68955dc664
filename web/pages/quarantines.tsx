/** The quarantine board: what does not count at the moment, those that could be released on top. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import { changeQuarantine, quarantinesQuery, type RepositoryPath, release, sessionQuery } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { formatCount } from '../ui/format.ts';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Terms } from '../ui/terms.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';

const route = getRouteApi('/signed/$owner/$repository/quarantines');
const SOURCES = [
  [undefined, 'By anyone'],
  ['manual', 'By people'],
  ['auto', 'Automatically'],
] as const;

/** How long those that are extended go on. */
const EXTENSION_MS = 14 * 86_400_000;

type Quarantine = QuarantineListAnswer['quarantined_tests'][number];

export function Quarantines() {
  const path = route.useParams();
  const { q = '', source, recovered } = route.useSearch();
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
    )
    .sort((a, b) => Number(b.is_recovered) - Number(a.is_recovered) || a.created_at.localeCompare(b.created_at));
  return (
    <>
      <h1 className="sr-only">Quarantine</h1>
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
      <div className="card overflow-hidden">
        {isPending && <Loading />}
        {error && <Failed error={error} reset={() => void refetch()} />}
        {data?.quarantined_tests.length === 0 && (
          <Empty title="Nothing is quarantined">
            <p>Every failure counts. Quarantine a test from its page when it fails for reasons of its own.</p>
          </Empty>
        )}
        {shown?.length === 0 && data !== undefined && data.quarantined_tests.length > 0 && (
          <Empty title="No quarantine matches" />
        )}
        {shown && shown.length > 0 && <Board path={path} quarantines={shown} />}
      </div>
    </>
  );
}

function Board({ path, quarantines }: { path: RepositoryPath; quarantines: readonly Quarantine[] }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { data: session } = useQuery(sessionQuery);
  const client = useQueryClient();
  const mayChange = session?.scope !== 'view';
  const ids = quarantines.map(({ id }) => id).filter((id) => chosen.has(id));
  const releasing = useMutation({
    mutationFn: async () => {
      for (const id of ids) await release(path, id);
    },
    onSettled: () => {
      setChosen(new Set());
      return client.invalidateQueries({ queryKey: ['quarantines'] });
    },
  });
  const extending = useMutation({
    mutationFn: async () => {
      const end = new Date(Date.now() + EXTENSION_MS).toISOString();
      for (const id of ids) await changeQuarantine(path, id, { expires_at: end });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['quarantines'] }),
  });
  const isBusy = releasing.isPending || extending.isPending;
  const error = releasing.error ?? extending.error;
  const choose = (id: string, isChosen: boolean) =>
    setChosen((before) => new Set(isChosen ? [...before, id] : [...before].filter((one) => one !== id)));
  return (
    <>
      <div className="flex min-h-11 items-center gap-3 border-b border-line px-4 py-1.5 text-soft">
        <span>
          {formatCount(quarantines.length)} quarantined,{' '}
          {formatCount(quarantines.filter(({ is_recovered: is }) => is).length)} recovered
        </span>
        {mayChange && (
          <div className="ml-auto flex gap-2">
            <button
              type="button"
              className="button h-7"
              disabled={ids.length === 0 || isBusy}
              onClick={() => extending.mutate()}
            >
              {extending.isPending ? 'Extending …' : 'To 14 days from now'}
            </button>
            <button
              type="button"
              className="button h-7"
              disabled={ids.length === 0 || isBusy}
              onClick={() => releasing.mutate()}
            >
              {releasing.isPending ? 'Releasing …' : `Release${ids.length > 0 ? ` ${ids.length}` : ''}`}
            </button>
          </div>
        )}
      </div>
      {error && (
        <p role="alert" className="px-4 py-2 text-broken">
          {error.message}
        </p>
      )}
      <ul>
        {quarantines.map((one) => (
          <li
            key={one.id}
            className="flex items-start gap-3 border-b border-line px-4 py-2.5 last:border-0 hover:bg-raised"
          >
            {mayChange && (
              <input
                type="checkbox"
                className="mt-0.5 size-4 accent-accent"
                aria-label={`Choose ${one.test_name}`}
                checked={chosen.has(one.id)}
                onChange={(event) => choose(one.id, event.target.checked)}
              />
            )}
            <div className="min-w-0 flex-1">
              <Link
                to="/$owner/$repository/tests/$testId"
                params={{ ...path, testId: one.test_id }}
                className="block truncate font-medium text-ink"
                title={one.test_name}
              >
                {one.test_name}
              </Link>
              <p className="text-xs break-words text-soft">
                {one.reason}
                <Terms quarantine={one} />
              </p>
            </div>
            {one.is_recovered && (
              <span className="rounded-full bg-healthy-soft px-2 py-0.5 text-xs font-medium text-healthy">
                recovered
              </span>
            )}
            <div className="w-36 shrink-0 text-right text-xs text-soft max-sm:w-24">
              <span className="block truncate">{one.branch ?? 'every branch'}</span>
              {one.source === 'auto' && 'automatic, '}
              <Time at={one.created_at} />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
