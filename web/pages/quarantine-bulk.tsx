/** Actions on all chosen quarantines at once: release, or extend. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quarantinesChanged } from '../api/changes.ts';
import { changeQuarantine, type RepositoryPath, release } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { formatCount } from '../ui/format.ts';
import type { Quarantine } from './quarantine-groups.ts';

const DAY_MS = 86_400_000;
const ENDS = [
  ['7', '7 days from now'],
  ['14', '14 days from now'],
  ['30', '30 days from now'],
  ['never', 'No end'],
] as const;
type End = (typeof ENDS)[number][0];

interface BulkProps {
  path: RepositoryPath;
  chosen: readonly Quarantine[];
  /** Called with those with which it worked. */
  onDone: (ids: readonly string[]) => void;
}

type Verb = 'Release' | 'Extend';

interface Outcome {
  done: string[];
  /** Refusals, test by test. */
  refused: { test: string; message: string }[];
}

export function Bulk({ path, chosen, onDone }: BulkProps) {
  const client = useQueryClient();
  const [end, setEnd] = useState<End>('14');
  const [progress, setProgress] = useState(0);
  const act = (verb: Verb, id: string): Promise<unknown> =>
    verb === 'Release' ? release(path, id) : changeQuarantine(path, id, { expires_at: momentOf(end) });
  /** One after the other: one that is refused does not stop the rest. */
  const acting = useMutation({
    mutationFn: async (verb: Verb): Promise<Outcome> => {
      const outcome: Outcome = { done: [], refused: [] };
      for (const [i, one] of chosen.entries()) {
        setProgress(i + 1);
        try {
          await act(verb, one.id);
          outcome.done.push(one.id);
        } catch (error) {
          outcome.refused.push({
            test: one.test_name,
            message: error instanceof Error ? error.message : String(error),
          });
        }
      }
      return outcome;
    },
    onSettled: async (outcome) => {
      await quarantinesChanged(client);
      onDone(outcome?.done ?? []);
    },
  });
  const button = (verb: Verb, doing: string) => (
    <button
      type="button"
      className="button"
      disabled={chosen.length === 0 || acting.isPending}
      onClick={() => acting.mutate(verb)}
    >
      {acting.isPending && acting.variables === verb
        ? `${doing} ${formatCount(progress)} of ${formatCount(chosen.length)} …`
        : `${verb}${chosen.length > 0 ? ` ${formatCount(chosen.length)}` : ''}`}
    </button>
  );
  return (
    <div className="ml-auto flex flex-wrap items-center gap-2">
      <Choice label="Extended until" value={end} options={ENDS} onChoose={(one) => setEnd(one ?? '14')} />
      {button('Extend', 'Extending')}
      {button('Release', 'Releasing')}
      {acting.data && <Told verb={acting.variables} outcome={acting.data} />}
    </div>
  );
}

const momentOf = (end: End): string | null =>
  end === 'never' ? null : new Date(Date.now() + Number(end) * DAY_MS).toISOString();

const SHOWN = 3;

const Told = ({ verb, outcome: { done, refused } }: { verb: Verb; outcome: Outcome }) => (
  <div role="status" className="basis-full">
    <p className="text-soft">
      {verb === 'Release' ? 'Released' : 'Extended'} {formatCount(done.length)}.
    </p>
    {refused.length > 0 && (
      <div className="text-broken">
        <p>{formatCount(refused.length)} were refused and are still chosen. Try again, or look at each:</p>
        <ul>
          {refused.slice(0, SHOWN).map(({ test, message }) => (
            <li key={test} className="break-words">
              {test}: {message}
            </li>
          ))}
        </ul>
      </div>
    )}
  </div>
);
