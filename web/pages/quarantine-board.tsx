/** The quarantines in groups, each with its age, its terms and what it has excused. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { QuarantineEffects } from '../../src/insights/quarantine-effects.ts';
import { effectsQuery, type RepositoryPath, sessionQuery } from '../api/queries.ts';
import { EffectText } from '../ui/effect.tsx';
import { formatCount, formatCounted } from '../ui/format.ts';
import { axisScopeWords } from '../ui/leg-words.ts';
import { Terms } from '../ui/terms.tsx';
import { TestName } from '../ui/test-name.tsx';
import { Time } from '../ui/time.tsx';
import { Bulk } from './quarantine-bulk.tsx';
import { type Grouping, groupsOf, type Quarantine, type QuarantineGroup } from './quarantine-groups.ts';

interface BoardProps {
  path: RepositoryPath;
  quarantines: readonly Quarantine[];
  grouping: Grouping | undefined;
}

export function Board({ path, quarantines, grouping }: BoardProps) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const { data: session } = useQuery(sessionQuery);
  const effects = useQuery({ ...effectsQuery(path), refetchInterval: 60_000 });
  const byId = new Map(effects.data?.effects.map((effect) => [effect.quarantine_id, effect]));
  const mayChange = session?.scope !== 'view';
  const choose = (some: readonly string[], isChosen: boolean) =>
    setIds((before) => new Set([...[...before].filter((id) => !some.includes(id)), ...(isChosen ? some : [])]));
  const chosen = quarantines.filter(({ id }) => ids.has(id));
  return (
    <div className="flex flex-col gap-4">
      <div className="flex min-h-8 flex-wrap items-center gap-x-4 gap-y-2">
        <span className="text-soft">
          {formatCount(quarantines.length)} quarantined,{' '}
          {formatCount(quarantines.filter(({ is_recovered: is }) => is).length)} recovered
        </span>
        {effects.error && <span className="text-broken">What they excused is not known: {effects.error.message}</span>}
        {mayChange && <Bulk path={path} chosen={chosen} onDone={(done) => choose(done, false)} />}
      </div>
      {groupsOf(quarantines, grouping).map((group) => (
        <Group
          key={group.title}
          path={path}
          group={group}
          effects={byId}
          chosen={ids}
          onChoose={mayChange ? choose : undefined}
        />
      ))}
    </div>
  );
}

interface GroupProps {
  path: RepositoryPath;
  group: QuarantineGroup;
  effects: ReadonlyMap<string, QuarantineEffects['effects'][number]>;
  chosen: ReadonlySet<string>;
  /** Undefined: nothing can be chosen. */
  onChoose: ((ids: readonly string[], isChosen: boolean) => void) | undefined;
}

function Group({ path, group: { title, quarantines }, effects, chosen, onChoose }: GroupProps) {
  const ids = quarantines.map(({ id }) => id);
  const count = ids.filter((id) => chosen.has(id)).length;
  return (
    <section aria-label={title} className="card">
      <div className="flex items-center gap-3 border-b border-line px-4 py-2">
        {onChoose && (
          <input
            type="checkbox"
            className="size-4 accent-accent"
            aria-label={`Choose all of “${title}”`}
            checked={count === ids.length}
            ref={(box) => {
              if (box) box.indeterminate = count > 0 && count < ids.length;
            }}
            onChange={(event) => onChoose(ids, event.target.checked)}
          />
        )}
        <h2 className="font-semibold">
          {title} <span className="font-normal text-soft">{formatCount(ids.length)}</span>
        </h2>
      </div>
      <ul>
        {quarantines.map((one) => (
          <li key={one.id} className="flex items-start gap-3 border-b border-line px-4 py-2.5 last:border-0">
            {onChoose && (
              <input
                type="checkbox"
                className="mt-0.5 size-4 shrink-0 accent-accent"
                aria-label={`Choose ${one.test_name}`}
                checked={chosen.has(one.id)}
                onChange={(event) => onChoose([one.id], event.target.checked)}
              />
            )}
            <Entry path={path} quarantine={one} effect={effects.get(one.id)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface EntryProps {
  path: RepositoryPath;
  quarantine: Quarantine;
  effect: QuarantineEffects['effects'][number] | undefined;
}

const Entry = ({ path, quarantine: one, effect }: EntryProps) => (
  <div className="grid min-w-0 flex-1 gap-x-4 gap-y-0.5 sm:grid-cols-[minmax(0,1fr)_16.5rem_10rem]">
    <div className="min-w-0">
      <Link
        to="/$owner/$repository/tests/$testId"
        params={{ ...path, testId: one.test_id }}
        className="block min-h-6 overflow-hidden font-medium text-ink"
        aria-label={one.test_name}
      >
        <TestName name={one.test_name} />
      </Link>
      <p className="text-xs break-words text-soft">{one.reason}</p>
      <p className="flex flex-wrap gap-x-3 text-xs text-soft empty:hidden">
        <Terms quarantine={one} />
        <Narrowing path={path} quarantine={one} />
      </p>
    </div>
    <p className="min-h-4 text-xs text-soft sm:pt-0.5">{effect && <EffectText effect={effect} />}</p>
    <p className="text-xs text-soft sm:pt-0.5 sm:text-right">
      <span className="break-words sm:block">{one.branch === null ? 'every branch' : `on ${one.branch}`}</span>
      <span className="sm:hidden">, </span>
      {one.source === 'auto' ? 'automatic' : 'made'} <Time at={one.created_at} />
    </p>
  </div>
);

/** The narrowing of a quarantine; its test has the failure groups. */
function Narrowing({ path, quarantine: one }: { path: RepositoryPath; quarantine: Quarantine }) {
  const places = [one.pipeline_name, one.job_name].filter((name) => name !== null);
  const groups = one.failure_ids?.length;
  return (
    <>
      {places.length > 0 && <span>only in {places.join(' · ')}</span>}
      {one.axes !== null && <span>only where {axisScopeWords(one.axes)}</span>}
      {one.cause_id !== null ? (
        <Link to="/$owner/$repository/causes/$cause" params={{ ...path, cause: one.cause_id }}>
          only failures of a cause
        </Link>
      ) : (
        groups !== undefined && <span>only {formatCounted(groups, 'failure group')}</span>
      )}
    </>
  );
}
