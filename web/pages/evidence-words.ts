/** The evidence about a failure on a commit, in words. */

import type { CommitFailures } from '../../src/insights/commit-failures.ts';
import { formatCount, formatCounted, formatLocal } from '../ui/format.ts';
import { axesWords } from '../ui/leg-words.ts';

type Evidence = Pick<
  CommitFailures['failures'][number]['evidence'],
  | 'commit_failures'
  | 'commit_passes'
  | 'default_branch_failures'
  | 'failing_pull_requests'
  | 'health_status'
  | 'health_began_at'
  | 'health_ended_at'
  | 'trouble'
>;

type Axes = CommitFailures['failures'][number]['legs'][number]['axes'];

/** @param axes of the leg whose health it is; in another the test may fail as before */
export const evidenceInWords = (evidence: Evidence, axes: Axes = {}): string =>
  [
    `Failed ${formatCount(evidence.commit_failures)}× and passed ${formatCount(evidence.commit_passes)}× here; ${onDefaultBranch(evidence, axes)}.`,
    troubleSentence(evidence),
    onOthers(evidence),
  ]
    .filter((sentence) => sentence !== null)
    .join(' ');

/** Null if the run itself shows it. */
function troubleSentence({ trouble }: Evidence): string | null {
  if (trouble === null) return null;
  const changes = formatCounted(trouble.other_changes, 'other change');
  const others = trouble.on_default_branch ? `${changes} and the default branch` : changes;
  const words = {
    run: null,
    same_failures: `The same tests failed alike on ${others} at the time.`,
    same_message: `Tests failed with the same message on ${others} within the hour.`,
    rerun: 'Nearly all that failed with it passed when the job ran again.',
  };
  return words[trouble.sign];
}

const onOthers = ({ failing_pull_requests: others }: Evidence): string | null =>
  others ? `Also fails on ${formatCounted(others, 'other pull request')}.` : null;

function onDefaultBranch(evidence: Evidence, axes: Axes): string {
  const { default_branch_failures: failures, health_status: health } = evidence;
  if (health === null) return 'the test has never run on the default branch';
  if (failures === 0) return 'never like this on the default branch';
  const leg = Object.keys(axes).length === 0 ? '' : ` in ${axesWords(axes)}`;
  return `like this ${formatCount(failures)}× on the default branch${then(evidence, leg)}`;
}

function then(
  { health_status: health, health_began_at: began, health_ended_at: ended }: Evidence,
  leg: string,
): string {
  if (health === 'healthy') return `, where the test was healthy then${leg}`;
  if (began === null) return '';
  return ended === null
    ? `, where it is ${health} since ${formatLocal(began)}${leg}`
    : `, where it was ${health} from ${formatLocal(began)} to ${formatLocal(ended)}${leg}`;
}
