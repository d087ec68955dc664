/** Commits off the default branch on which a test both failed and passed: they show that it is flaky. */
import { useState } from 'react';
import type { Explanation } from '../../src/explain/explanation-schema.ts';
import type { TestPath } from '../api/queries.ts';
import { Commit } from '../ui/commit.tsx';
import { ExternalLink } from '../ui/external.tsx';
import { formatCount, formatCounted } from '../ui/format.ts';
import { Pull } from '../ui/pull.tsx';
import { Time } from '../ui/time.tsx';

type Identity = Explanation['identities'][number];

interface ContradictionsProps {
  path: TestPath;
  identity: Pick<Identity, 'contradictions' | 'contradictions_count'>;
}

/** Contradictions that are shown at first. */
const SHOWN = 5;

export function Contradictions({
  path,
  identity: { contradictions, contradictions_count: count },
}: ContradictionsProps) {
  const [isWhole, setWhole] = useState(false);
  const newest = contradictions.toReversed();
  return (
    <>
      <h4 className="mt-3 font-medium">Both failed and passed on {formatCounted(count, 'commit')} of pull requests</h4>
      <p className="text-soft">The code was the same, so this speaks for flaky.</p>
      <ol className="mt-2 flex flex-col gap-1.5">
        {newest.slice(0, isWhole ? newest.length : SHOWN).map(({ execution, at, is_evidence: isEvidence, reason }) => (
          <li key={`${execution.commit} ${at}`} className="flex flex-wrap items-baseline gap-x-3">
            <span className="min-w-36 text-xs text-soft">
              <Time at={at} isWhole />
            </span>
            {execution.pull_request !== null && <Pull path={path} number={execution.pull_request} />}
            {execution.commit !== null && <Commit path={path} commit={execution.commit} />}
            <span className="min-w-0 flex-1 text-soft">{isEvidence ? '' : `Does not count${because(reason)}`}</span>
            {execution.job_url !== null && (
              <span className="text-xs">
                <ExternalLink href={execution.job_url}>job</ExternalLink>
              </span>
            )}
          </li>
        ))}
      </ol>
      {newest.length > SHOWN && !isWhole && (
        <button type="button" className="mt-1.5 text-link hover:underline" onClick={() => setWhole(true)}>
          Show the {newest.length < count ? 'newest' : 'other'}{' '}
          {formatCount(newest.length < count ? newest.length : newest.length - SHOWN)}
        </button>
      )}
    </>
  );
}

const because = (reason: string | null): string => (reason === null ? ': its run explains it' : `: ${reason}`);
