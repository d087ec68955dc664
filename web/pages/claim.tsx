/** How likely the change caused a failure, with what speaks for and against that. */
import type { CommitFailures } from '../../src/insights/commit-failures.ts';

type Claim = CommitFailures['failures'][number]['claim'];

const VERDICTS: Record<Claim['verdict'], string> = {
  change: 'Caused by the change',
  broken: 'Not the change: broken on the default branch',
  flaky: 'Not the change: flaky',
  infrastructure: 'Not the change: infrastructure',
  unknown: 'Not enough to say',
};

/** One line that unfolds. */
export function ClaimView({ claim }: { claim: Claim }) {
  const reasons = [
    { title: 'For', reasons: claim.for, mark: '+' },
    { title: 'Against', reasons: claim.against, mark: '−' },
  ].filter(({ reasons: some }) => some.length > 0);
  return (
    <details className="text-xs">
      <summary className="cursor-pointer py-1">
        <span className="font-medium">{VERDICTS[claim.verdict]}</span>{' '}
        <span className="text-soft">({inPercent(claim.probability)} the change)</span>
      </summary>
      <div className="flex flex-col gap-1 pb-1 pl-4">
        {claim.needs && <p>{claim.needs.sentence}</p>}
        {reasons.map(({ title, reasons: some, mark }) => (
          <ul key={title} aria-label={title} className="flex flex-col gap-0.5">
            {some.map(({ sign, sentence, factor }) => (
              <li key={sign} className="flex gap-2">
                <span aria-hidden="true">{mark}</span>
                <span className="min-w-0 break-words">
                  {sentence} <span className="whitespace-nowrap text-soft">× {factor}</span>
                </span>
              </li>
            ))}
          </ul>
        ))}
      </div>
    </details>
  );
}

/** Only what is sure is 0% or 100%. */
function inPercent(probability: number): string {
  const percent = Math.round(100 * probability);
  return percent === 0 ? 'less than 1%' : percent === 100 ? 'more than 99%' : `${percent}%`;
}
