/** Why a test is judged as it is: the rule that decided, and what is held back. Asked for only when it is opened. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Explanation } from '../../src/explain/explanation-schema.ts';
import { explanationQuery, type TestPath } from '../api/queries.ts';
import { Commit } from '../ui/commit.tsx';
import { ExternalLink } from '../ui/external.tsx';
import { type Health, HealthBadge } from '../ui/health.tsx';
import { legWords } from '../ui/leg-words.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { Contradictions } from './test-contradictions.tsx';
import { reasonInWords, unchangedInWords } from './test-reason-words.ts';

const DAY_MS = 86_400_000;
type Identity = Explanation['identities'][number];
type Change = Identity['changes'][number];

interface ReasonProps {
  path: TestPath;
  health: Health;
  /** A UTC day, such as `2026-11-21`: explained with what was known at its end. Absent: with what is known now. */
  asOf: string | undefined;
  onAsOf: (day: string | undefined) => void;
}

export function Reason({ path, health, asOf, onAsOf }: ReasonProps) {
  const [isOpen, setOpen] = useState(asOf !== undefined);
  return (
    <section aria-label="Reason" className="card">
      <h2>
        <button
          type="button"
          aria-expanded={isOpen}
          className="flex w-full items-center gap-3 px-4 py-2.5 text-left font-semibold"
          onClick={() => setOpen(!isOpen)}
        >
          <span
            aria-hidden="true"
            className={`text-soft motion-safe:transition-transform ${isOpen ? 'rotate-90' : ''}`}
          >
            ›
          </span>
          Why is it {health}?
        </button>
      </h2>
      {isOpen && (
        <>
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line px-4 py-2 text-soft">
            <label className="flex items-center gap-2">
              As it was known at the end of (UTC)
              <input
                type="date"
                className="field"
                value={asOf ?? ''}
                max={new Date().toISOString().slice(0, 10)}
                onChange={({ target }) => onAsOf(target.value || undefined)}
              />
            </label>
            {asOf !== undefined && (
              <button type="button" className="button h-7 text-xs" onClick={() => onAsOf(undefined)}>
                Now
              </button>
            )}
          </div>
          <Explained path={path} asOf={asOf} />
        </>
      )}
    </section>
  );
}

/** The end of a UTC day; undefined for what is no day. */
function endOf(day: string | undefined): string | undefined {
  const start = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(start) ? undefined : new Date(start + DAY_MS - 1).toISOString();
}

function Explained({ path, asOf }: { path: TestPath; asOf: string | undefined }) {
  const { data, error, refetch, isPending } = useQuery(explanationQuery(path, endOf(asOf)));
  if (isPending) return <Loading rows={4} />;
  if (error) return <Failed error={error} reset={() => void refetch()} />;
  return (
    <div className="border-t border-line">
      {data.identities.length === 0 && <p className="px-4 py-3 text-soft">It had not run by then.</p>}
      {data.identities.map((identity) => (
        <Judged key={`${identity.pipeline_name} ${placeOf(identity)}`} path={path} identity={identity} />
      ))}
    </div>
  );
}

const placeOf = ({ job_name: job, axes }: Identity): string => legWords(job, axes);

function Judged({ path, identity }: { path: TestPath; identity: Identity }) {
  const { changes, health_status: health } = identity;
  return (
    <div className="border-b border-line px-4 py-3 last:border-0">
      <h3 className="flex flex-wrap items-center gap-2 font-medium">
        {identity.pipeline_name} · {placeOf(identity)} <HealthBadge health={health} isActive={identity.is_active} />
        {!identity.is_recent && <span className="font-normal text-soft">no longer runs, so it does not count</span>}
      </h3>
      <p className="mt-1 text-soft">{reasonInWords(identity)}</p>
      {changes.length === 0 && <p className="mt-1 text-soft">{unchangedInWords(health)}</p>}
      <ol className="mt-2 flex flex-col gap-1.5">
        {changes.toReversed().map((change) => (
          <Changed key={`${change.to} ${change.executions.at(-1)?.finished_at}`} path={path} change={change} />
        ))}
      </ol>
      {identity.contradictions.length > 0 && <Contradictions path={path} identity={identity} />}
    </div>
  );
}

function Changed({ path, change }: { path: TestPath; change: Change }) {
  const decided = change.executions.at(-1);
  return (
    <li className="flex flex-wrap items-baseline gap-x-3">
      <span className="min-w-36 text-xs text-soft">{decided && <Time at={decided.finished_at} isWhole />}</span>
      <span className="font-medium">
        {change.from} → {change.to}
      </span>
      <span className="min-w-0 flex-1 basis-60 text-soft">{change.rule}</span>
      {decided?.commit && <Commit path={path} commit={decided.commit} />}
      {decided?.job_url && (
        <span className="text-xs">
          <ExternalLink href={decided.job_url}>job</ExternalLink>
        </span>
      )}
    </li>
  );
}
