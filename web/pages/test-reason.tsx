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

type Identity = Explanation['identities'][number];
type Change = Identity['changes'][number];

export function Reason({ path, health }: { path: TestPath; health: Health }) {
  const [isOpen, setOpen] = useState(false);
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
      {isOpen && <Explained path={path} />}
    </section>
  );
}

function Explained({ path }: { path: TestPath }) {
  const { data, error, refetch, isPending } = useQuery(explanationQuery(path));
  if (isPending) return <Loading rows={4} />;
  if (error) return <Failed error={error} reset={() => void refetch()} />;
  return (
    <div className="border-t border-line">
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
