/** Where a test fails: which axis its failures follow, and how often it failed in each leg. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { TestAxes } from '../../src/insights/axes.ts';
import { axesQuery, type TestPath } from '../api/queries.ts';
import { formatCount, formatCounted, formatProbability, formatShare } from '../ui/format.ts';
import { axesWords, axisInWords } from '../ui/leg-words.ts';
import { Section } from '../ui/section.tsx';
import { Failed } from '../ui/states.tsx';

type Leg = TestAxes['legs'][number];
type FailsWith = NonNullable<TestAxes['fails_with']>;

/** Legs that are shown at first. */
const SHOWN = 8;

/** Nothing for a test that has not failed lately, or that runs in one leg. */
export function WhereItFails({ path }: { path: TestPath }) {
  const { data, error, refetch } = useQuery(axesQuery(path));
  if (error)
    return (
      <Section title="Where it fails">
        <Failed error={error} reset={() => void refetch()} />
      </Section>
    );
  if (!data?.fails_with || data.legs_count < 2) return null;
  return (
    <Section title="Where it fails" aside="in the last 30 days, on any branch">
      <Said failsWith={data.fails_with} />
      <Legs path={path} legs={data.legs} count={data.legs_count} />
      {!data.is_complete && (
        <p className="border-t border-line px-4 py-2 text-soft">Only its newest executions were considered.</p>
      )}
    </Section>
  );
}

function Said({ failsWith }: { failsWith: FailsWith }) {
  const { sentence, probability, inside, outside, commits_count: commits } = failsWith;
  return (
    <div className="border-b border-line px-4 py-3">
      <p className="font-medium wrap-anywhere">{sentence}</p>
      {inside && outside && commits !== null && probability !== null && (
        <p className="mt-1 text-soft">
          There {formatCount(inside.failed)} of {formatCounted(inside.ran, 'execution')} failed, elsewhere{' '}
          {formatCount(outside.failed)} of {formatCount(outside.ran)}. Probability {formatProbability(probability)},
          from {formatCounted(commits, 'commit')} that tell its legs apart.
        </p>
      )}
    </div>
  );
}

function Legs({ path, legs, count }: { path: TestPath; legs: readonly Leg[]; count: number }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? legs : legs.slice(0, SHOWN);
  const hasSeveralJobs = new Set(legs.map(jobOf)).size > 1;
  return (
    <>
      <table className="w-full text-left tabular-nums">
        <caption className="sr-only">How often it passed and failed in each leg</caption>
        <thead className="border-b border-line text-xs text-soft">
          <tr>
            <th scope="col" className="px-4 py-2 font-medium">
              Leg
            </th>
            {['Passed', 'Failed', 'Share'].map((name) => (
              <th key={name} scope="col" className="px-2 py-2 text-right font-medium last:pr-4 sm:px-4">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((leg) => (
            <tr key={`${jobOf(leg)} ${axesInWords(leg)}`} className="border-b border-line last:border-0">
              <th scope="row" className="px-4 py-2 font-normal wrap-anywhere">
                {axesInWords(leg) === '' && (hasSeveralJobs ? jobOf(leg) : 'without axes')}
                <AxisLinks path={path} leg={leg} />
                {hasSeveralJobs && axesInWords(leg) !== '' && (
                  <span className="block text-xs text-soft">{jobOf(leg)}</span>
                )}
              </th>
              <Cell>{formatCount(leg.passed)}</Cell>
              <Cell>{formatCount(leg.failed)}</Cell>
              <Cell>
                <span className={leg.failed > 0 ? 'font-medium text-broken' : ''}>
                  {formatShare(leg.failed / (leg.passed + leg.failed))}
                </span>
              </Cell>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < legs.length && (
        <button type="button" className="button m-3" onClick={() => setWhole(true)}>
          Show {formatCount(legs.length - shown.length)} more
        </button>
      )}
      {isWhole && legs.length < count && (
        <p className="px-4 py-2 text-soft">{formatCounted(count - legs.length, 'leg')} more failed less.</p>
      )}
    </>
  );
}

/** Each leads to the tests that ran there. */
const AxisLinks = ({ path, leg: { axes } }: { path: TestPath; leg: Leg }) =>
  Object.entries(axes).map(([name, value], i) => (
    <span key={name}>
      {i > 0 && ', '}
      <Link to="/$owner/$repository/tests" params={path} search={{ axis: `${name}:${value}` }}>
        {axisInWords(name, value)}
      </Link>
    </span>
  ));

const Cell = ({ children }: { children: ReactNode }) => (
  <td className="px-2 py-2 text-right last:pr-4 sm:px-4">{children}</td>
);

const jobOf = ({ pipeline_name: pipeline, job_name: job }: Leg): string => `${pipeline} · ${job}`;

/** In the order of the axes' names, which is that of the answer. */
const axesInWords = ({ axes }: Leg): string => axesWords(axes);
