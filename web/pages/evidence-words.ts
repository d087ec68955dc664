/** The evidence about a failure on a commit, in words. */
import type { CommitFailures } from '../../src/insights/commit-failures.ts';
import { formatCount } from '../ui/format.ts';

type Evidence = Pick<
  CommitFailures['failures'][number]['evidence'],
  'commit_failures' | 'commit_passes' | 'default_branch_failures' | 'health_status'
>;

export const evidenceInWords = (evidence: Evidence): string =>
  `Failed ${formatCount(evidence.commit_failures)}× and passed ${formatCount(evidence.commit_passes)}× here; ${onDefaultBranch(evidence)}.`;

function onDefaultBranch({ default_branch_failures: failures, health_status: health }: Evidence): string {
  if (health === null) return 'the test has never run on the default branch';
  if (failures === 0) return 'never like this on the default branch';
  const now = health === 'healthy' ? ', where the test is healthy now' : '';
  return `like this ${formatCount(failures)}× on the default branch${now}`;
}
