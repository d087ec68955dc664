/** To what a quarantine is narrowed before anybody has chosen: the legs that the failures of the test follow. */
import type { TestAxes } from '../../src/insights/axes.ts';
import { writeAxes } from './quarantine-axes.ts';
import type { Failure, Proposal } from './quarantine-draft.ts';

type FailsWith = NonNullable<TestAxes['fails_with']>;

/**
 * Undefined if nothing explains its failures, if the form cannot say it, or if it would not excuse the failure for which a
 * quarantine is asked.
 */
export function proposalOf(
  failsWith: Pick<FailsWith, 'sentence' | 'scope'> | null | undefined,
  failure?: Failure,
): Proposal | undefined {
  if (!failsWith?.scope) return undefined;
  const { pipeline_name: pipeline, job_name: job, axes } = failsWith.scope;
  const proposal = { pipeline, job, axes, reason: `It ${failsWith.sentence.replace(/^F/, 'f')}` };
  const isWritable = axes === null || writeAxes(axes) !== undefined;
  return isWritable && (!failure || excuses(proposal, failure)) ? proposal : undefined;
}

const excuses = ({ pipeline, job, axes }: Proposal, failure: Failure): boolean =>
  (pipeline === null || pipeline === failure.pipeline) &&
  (job === null || job === failure.job) &&
  failure.legs.every((leg) =>
    Object.entries(axes ?? {}).every(
      ([name, values]) => Object.hasOwn(leg.axes, name) && values.includes(leg.axes[name] ?? ''),
    ),
  );
