/** The evidence about a failure on a commit, in words. */

import type { CommitFailures } from '../../src/insights/commit-failures.ts';
import { formatCount } from '../ui/format.ts';
import { axesWords } from '../ui/leg-words.ts';

type Evidence = Pick<
  CommitFailures['failures'][number]['evidence'],
  'commit_failures' | 'commit_passes' | 'default_branch_failures' | 'failing_pull_requests' | 'health_status'
>;

type Axes = CommitFailures['failures'][number]['legs'][number]['axes'];

/** @param axes of the leg whose health it is; in another the test may fail as before */
export const evidenceInWords = (evidence: Evidence, axes: Axes = {}): string =>
  `Failed ${formatCount(evidence.commit_failures)}× and passed ${formatCount(evidence.commit_passes)}× here; ${onDefaultBranch(evidence, axes)}.${elsewhere(evidence)}`;

function elsewhere({ failing_pull_requests: others }: Evidence): string {
  if (!others) return '';
  return ` Also fails on ${formatCount(others)} other pull request${others === 1 ? '' : 's'}.`;
}

function onDefaultBranch({ default_branch_failures: failures, health_status: health }: Evidence, axes: Axes): string {
  if (health === null) return 'the test has never run on the default branch';
  if (failures === 0) return 'never like this on the default branch';
  const leg = Object.keys(axes).length === 0 ? '' : ` in ${axesWords(axes)}`;
  const then = health === 'healthy' ? `, where the test was healthy then${leg}` : '';
  return `like this ${formatCount(failures)}× on the default branch${then}`;
}
