/** Why the service gave a verdict, in a sentence for people. Pure. */
import { grouped } from '../../domain/grouped-number.ts';
import type { CommitFailure } from '../repository.ts';

/** Null if the evidence says nothing about the verdict. */
export function evidenceSentence(failure: CommitFailure): string | null {
  const sentences = [verdictSentence(failure), othersSentence(failure)].filter((one) => one !== null);
  return sentences.length === 0 ? null : sentences.join('; ');
}

function verdictSentence({ verdict, evidence, legs }: CommitFailure): string | null {
  const { default_branch_failures: times, default_branch_last_failure_at: last } = evidence;
  const day = last?.slice(0, 10);
  switch (verdict) {
    case 'new':
      return evidence.health_status === null
        ? 'this test never ran on the default branch'
        : times === 0
          ? 'it never failed like this on the default branch'
          : `it failed like this on the default branch, last on ${day}, but was ${evidence.health_status} there${hereInWords(legs)}`;
    case 'known_flaky':
    case 'broken':
      return `it failed like this on the default branch ${times === 1 ? 'once' : `${grouped(times)} times`}, last on ${day}${whileInWords(evidence)}`;
    case 'infrastructure':
      return (
        troubleSentence(evidence) ??
        `${evidence.run_failed} of ${evidence.run_failed + evidence.run_passed} tests of its run failed`
      );
    default:
      return null;
  }
}

function whileInWords({ health_status: health, ...evidence }: CommitFailure['evidence']): string {
  const began = evidence.health_began_at?.slice(0, 10);
  const ended = evidence.health_ended_at?.slice(0, 10);
  if (!began) return '';
  return ended ? `; it was ${health} there from ${began} to ${ended}` : `; it is ${health} there since ${began}`;
}

/** Null if the run itself shows it, and for a word of a newer service. */
function troubleSentence({ trouble }: CommitFailure['evidence']): string | null {
  if (!trouble) return null;
  const { sign, other_changes: changes, on_default_branch: isOnDefaultBranch } = trouble;
  const others = `${grouped(changes)} other change${changes === 1 ? '' : 's'}${isOnDefaultBranch ? ' and the default branch' : ''}`;
  if (sign === 'same_failures') return `the same tests failed alike on ${others} at the time`;
  if (sign === 'same_message') return `tests failed with the same message on ${others} within the hour`;
  if (sign === 'rerun') return 'nearly all that failed with it passed when the job ran again';
  return null;
}

/** The health is that of a leg, and in another the test may fail as before. */
const hereInWords = (legs: CommitFailure['legs']): string =>
  legs?.some(({ axes }) => Object.keys(axes).length > 0) ? ' in this leg' : '';

/** `fails only with os=windows`; null if nothing tells its legs apart. */
export function whereSentence({ fails_with: found }: Pick<CommitFailure, 'fails_with'>): string | null {
  if (!found || found.kind === 'unknown') return null;
  const words = found.sentence.replace(/\.$/, '');
  return `${words.slice(0, 1).toLowerCase()}${words.slice(1)}`;
}

function othersSentence({ evidence: { failing_pull_requests: others } }: CommitFailure): string | null {
  return others ? `it also fails on ${grouped(others)} other pull request${others === 1 ? '' : 's'}` : null;
}
