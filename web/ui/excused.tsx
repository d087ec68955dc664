/** Describes in words what a quarantine excuses; for a narrowed one, also what it does not. */

import type { TestFailures } from '../../src/insights/failures.ts';
import { formatCount } from './format.ts';
import { axisScopeWords } from './leg-words.ts';

type Group = Pick<TestFailures['failures'][number], 'id' | 'exception_type' | 'exception_message'>;

type AxisValues = Readonly<Record<string, readonly string[]>>;

interface ExcusedProps {
  branch: string | null;
  pipeline: string | null;
  job: string | null;
  /** Values by axis; null: every leg. */
  axes: AxisValues | null;
  /** Null: every failure. */
  failureIds: readonly string[] | null;
  /** The failure groups of the test, as far as they are known. */
  groups: readonly Group[];
}

export function Excused({ branch, pipeline, job, axes, failureIds, groups }: ExcusedProps) {
  const isNarrowed = pipeline !== null || job !== null || axes !== null || failureIds !== null;
  const known = groups.filter(({ id }) => failureIds?.includes(id));
  const unknown = (failureIds?.length ?? 0) - known.length;
  return (
    <div className="flex flex-col gap-1">
      <p>
        Excuses {failureIds === null ? 'every failure' : groupsIn(failureIds.length)} {placeOf(pipeline, job)},{' '}
        {axes !== null && `where ${axisScopeWords(axes)}, `}
        {branch === null ? 'on every branch' : `on ${branch}`}
        {failureIds !== null && failureIds.length > 0 ? ':' : '.'}
      </p>
      {known.length > 0 && (
        <ul className="flex flex-col gap-0.5 pl-3">
          {known.map(({ id, exception_type: type, exception_message: message }) => (
            <li key={id} className="line-clamp-2 break-words">
              <span className="font-medium">{type}</span>: {message}
            </li>
          ))}
        </ul>
      )}
      {unknown > 0 && groups.length > 0 && (
        <p className="pl-3">{groupsIn(unknown)} of which the default branch has no failure.</p>
      )}
      {isNarrowed && (
        <p className="text-soft">
          Every other failure of the test still counts. Clients that go by names alone, such as test plugins, do not see
          this quarantine: use <code className="font-mono text-xs">ci-insights gate</code>.
        </p>
      )}
    </div>
  );
}

const groupsIn = (count: number): string => `${formatCount(count)} failure ${count === 1 ? 'group' : 'groups'}`;

function placeOf(pipeline: string | null, job: string | null): string {
  if (pipeline !== null) return job === null ? `in the pipeline ${pipeline}` : `in the CI job ${job} of ${pipeline}`;
  return job === null ? 'in every pipeline and CI job' : `in the CI job ${job} of every pipeline`;
}
