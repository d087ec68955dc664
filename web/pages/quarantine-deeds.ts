/** What people do with quarantines, one or many: each deed says what it did, and can be undone for a while. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { quarantinesChanged } from '../api/changes.ts';
import {
  changeQuarantine,
  type Quarantine,
  type QuarantineChanges,
  type RepositoryPath,
  release,
  restoreQuarantine,
} from '../api/queries.ts';
import { formatCounted } from '../ui/format.ts';
import { tell } from '../ui/toast.ts';

const SHOWN = 3;

interface Outcome {
  done: readonly Quarantine[];
  /** Refusals, with their tests. */
  refused: readonly string[];
}

/** One after the other: one that is refused does not stop the rest. */
async function each(quarantines: readonly Quarantine[], act: (one: Quarantine) => Promise<unknown>): Promise<Outcome> {
  const done: Quarantine[] = [];
  const refused: string[] = [];
  for (const one of quarantines) {
    try {
      await act(one);
      done.push(one);
    } catch (error) {
      refused.push(`${one.test_name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { done, refused };
}

/** The values that a change replaces. */
function valuesOf(one: Quarantine, changes: QuarantineChanges): QuarantineChanges {
  const { reason, branch, expires_at, owner, ticket_url, pipeline_name, job_name, axes, failure_ids } = one;
  const all = { reason, branch, expires_at, owner, ticket_url, pipeline_name, job_name, axes, failure_ids };
  return Object.fromEntries(Object.entries(all).filter(([name]) => name in changes));
}

interface Deed {
  verb: string;
  act: (one: Quarantine) => Promise<unknown>;
  undo: (one: Quarantine) => Promise<unknown>;
}

/** @param onDone called with the ids of those with which it worked */
export function useQuarantineDeeds(path: RepositoryPath, onDone: (ids: readonly string[]) => void = () => {}) {
  const client = useQueryClient();
  const doing = useMutation({
    mutationFn: async ({ deed: { verb, act, undo }, to }: { deed: Deed; to: readonly Quarantine[] }) => {
      const { done, refused } = await each(to, act);
      await quarantinesChanged(client);
      onDone(done.map(({ id }) => id));
      tell({
        text: `${verb} ${formatCounted(done.length, 'quarantine')}.`,
        problems: [
          ...refused.slice(0, SHOWN),
          ...(refused.length > SHOWN ? [`… and ${formatCounted(refused.length - SHOWN, 'more', 'more')}`] : []),
        ],
        ...(done.length > 0 && {
          undo: async () => {
            const undone = await each(done, undo);
            await quarantinesChanged(client);
            if (undone.refused.length > 0) throw new Error(undone.refused.slice(0, SHOWN).join('\n'));
          },
        }),
      });
      return { done, refused };
    },
  });
  return {
    isPending: doing.isPending,
    releaseAll: (to: readonly Quarantine[]) =>
      doing.mutateAsync({
        deed: {
          verb: 'Released',
          act: ({ id }) => release(path, id),
          undo: ({ id }) => restoreQuarantine(path, id),
        },
        to,
      }),
    changeAll: (to: readonly Quarantine[], changes: QuarantineChanges) =>
      doing.mutateAsync({
        deed: {
          verb: 'Changed',
          act: ({ id }) => changeQuarantine(path, id, changes),
          undo: (one) => changeQuarantine(path, one.id, valuesOf(one, changes)),
        },
        to,
      }),
  };
}
