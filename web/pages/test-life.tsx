/** The life of a test: a strip of segments, and between them the commits that changed something. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TestSegments } from '../../src/insights/segments.ts';
import { segmentsQuery, type TestPath, type TimeWindow } from '../api/queries.ts';
import { endsOf } from '../ui/chart-scale.ts';
import { Commit } from '../ui/commit.tsx';
import { formatCount, formatCounted, formatLocal } from '../ui/format.ts';
import { Compare } from '../ui/host.tsx';
import { Section } from '../ui/section.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { Stepper } from '../ui/stepper.tsx';
import { Time } from '../ui/time.tsx';

type Segment = TestSegments['segments'][number];

/** Passing ones are low and red ones high, so that the strip can be read without colours. */
const LOOKS: Record<Segment['outcome'], { word: string; className: string }> = {
  passing: { word: 'passing', className: 'h-3 bg-healthy' },
  flaky: { word: 'flaky', className: 'h-5 bg-flaky' },
  failing: { word: 'failing', className: 'h-7 bg-broken' },
  held_back: { word: 'held back', className: 'h-5 border-2 border-dashed border-soft' },
  skipped: { word: 'skipped', className: 'h-1 bg-skipped' },
};
/** With a space after each, more would not fit on a phone. */
const SPACED_MAX = 100;
/** Shown at first. */
const CHANGES_MAX = 8;

export function Life({ path, window }: { path: TestPath; window: TimeWindow }) {
  const { data, error, refetch, isPending } = useQuery(segmentsQuery(path, window));
  const segments = data?.segments ?? [];
  return (
    <Section title="Commit by commit">
      {isPending && <Loading rows={3} />}
      {error && <Failed error={error} reset={() => void refetch()} />}
      {data && segments.length === 0 && (
        <p className="px-4 py-4 text-soft">It did not run on the default branch in this window.</p>
      )}
      {segments.length > 0 && (
        <>
          <Strip segments={segments} />
          <Changes path={path} segments={segments} />
        </>
      )}
    </Section>
  );
}

function Strip({ segments }: { segments: readonly Segment[] }) {
  const tell = ({ outcome, commits, started_at: at }: Segment): string =>
    `${LOOKS[outcome].word} on ${formatCounted(commits, 'commit')}, from ${formatLocal(at)}`;
  return (
    <div className="px-4 pt-2">
      <Stepper
        label="Commit by commit, the newest on the right"
        ends={endsOf(segments.map(({ commits }) => commits))}
        describe={(i) => (segments[i] ? tell(segments[i]) : '')}
        className="flex h-16 flex-col justify-end"
      >
        {(at) => (
          <>
            <p aria-hidden="true" className="grow truncate text-xs text-soft">
              {(at !== undefined && segments[at] && tell(segments[at])) || 'The newest commits are on the right.'}
            </p>
            <div className={`flex items-end ${segments.length > SPACED_MAX ? '' : 'gap-px'}`}>
              {segments.map((segment, i) => (
                <div
                  key={segment.started_at}
                  className={`flex h-10 min-w-0 items-end ${i === at ? 'bg-raised' : ''}`}
                  style={{ flexGrow: segment.commits, flexBasis: 0 }}
                >
                  <div className={`w-full rounded-sm ${LOOKS[segment.outcome].className}`} />
                </div>
              ))}
            </div>
          </>
        )}
      </Stepper>
    </div>
  );
}

/** The newest changes first. */
function Changes({ path, segments }: { path: TestPath; segments: readonly Segment[] }) {
  const [isWhole, setWhole] = useState(false);
  const newest = segments.toReversed().slice(0, isWhole ? undefined : CHANGES_MAX);
  return (
    <ol className="mt-3 border-t border-line">
      {newest.map((segment) => (
        <li
          key={segment.started_at}
          className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 border-b border-line px-4 py-2 last:border-0"
        >
          <span className="w-20 font-medium">{LOOKS[segment.outcome].word}</span>
          <span className="text-soft">
            began <Time at={segment.started_at} />, {formatCounted(segment.commits, 'commit')}
            {segment.failure_count > 0 && `, failed ${formatCount(segment.failure_count)}×`}
          </span>
          <span className="ml-auto text-soft">
            {segment.previous_commit !== null && (
              <>
                <span className="max-sm:hidden">changed between </span>
                <Commit path={path} commit={segment.previous_commit} /> and{' '}
              </>
            )}
            {segment.first_commit !== null && <Commit path={path} commit={segment.first_commit} />}{' '}
            <Compare path={path} from={segment.previous_commit} to={segment.first_commit} />
          </span>
        </li>
      ))}
      {segments.length > newest.length && (
        <li className="px-4 py-2">
          <button type="button" className="text-link hover:underline" onClick={() => setWhole(true)}>
            Show the other {formatCount(segments.length - newest.length)} in this window
          </button>
        </li>
      )}
    </ol>
  );
}
