/** Whether the failures of a cause are quarantined, with the way in and out. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { CausePage } from '../../src/insights/cause.ts';
import { causesChanged, quarantinesChanged } from '../api/changes.ts';
import { quarantineCause, type RepositoryPath, releaseCause, sessionQuery } from '../api/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { DialogActions } from '../ui/dialog-actions.tsx';
import { Field } from '../ui/field.tsx';
import { formatCounted } from '../ui/format.ts';
import { Time } from '../ui/time.tsx';
import { endOf, textOf } from './quarantine-form.ts';

interface CauseProps {
  path: RepositoryPath;
  cause: CausePage;
}

/** The causes are read again, too: they say whether they are quarantined. */
function useChange<V>(act: (value: V) => Promise<unknown>, onDone?: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: async () => {
      await Promise.all([causesChanged(client), quarantinesChanged(client)]);
      onDone?.();
    },
  });
}

export function CauseQuarantine({ path, cause }: CauseProps) {
  const { data: session } = useQuery(sessionQuery);
  const [isAsking, setAsking] = useState(false);
  const releasing = useChange(() => releaseCause(path, cause.cause_id));
  const { quarantine: held } = cause;
  const mayChange = session?.scope !== 'view';
  if (!held && !mayChange) return null;
  return (
    <section aria-label="Quarantine" className="card flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2.5">
      <h2 className="font-semibold">Quarantine</h2>
      {held ? (
        <p className="min-w-0 flex-1 basis-64 break-words">
          {held.reason}
          <span className="block text-xs text-soft">
            Excuses its failures {held.branch === null ? 'on every branch' : `on ${held.branch}`}; other failures of
            these tests count. Made by {held.created_by} <Time at={held.created_at} />
            {held.expires_at !== null && (
              <>
                , ends <Time at={held.expires_at} />
              </>
            )}
            .
          </span>
        </p>
      ) : (
        <p className="min-w-0 flex-1 basis-64 text-soft">Its failures count.</p>
      )}
      {mayChange && held && (
        <button
          type="button"
          className="button"
          disabled={releasing.isPending}
          onClick={() => releasing.mutate(undefined)}
        >
          {releasing.isPending ? 'Releasing …' : 'Release'}
        </button>
      )}
      {mayChange && !held && (
        <button type="button" className="button" onClick={() => setAsking(true)}>
          Quarantine …
        </button>
      )}
      {releasing.error && (
        <p role="alert" className="basis-full text-broken">
          {releasing.error.message}
        </p>
      )}
      {isAsking && (
        <Dialog title="Quarantine this cause" onClose={() => setAsking(false)}>
          <Form path={path} cause={cause} onClose={() => setAsking(false)} />
        </Dialog>
      )}
    </section>
  );
}

function Form({ path, cause, onClose }: CauseProps & { onClose: () => void }) {
  const sending = useChange(
    (body: Parameters<typeof quarantineCause>[2]) => quarantineCause(path, cause.cause_id, body),
    onClose,
  );
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        sending.mutate({
          reason: textOf(form, 'reason') ?? '',
          branch: textOf(form, 'branch'),
          expires_at: endOf(form),
        });
      }}
    >
      <p className="text-soft">
        Its failures stop counting in {formatCounted(cause.test_count, 'test')}, and in tests that it hits later. Other
        failures of these tests count.
      </p>
      <Field label="Why">
        <textarea
          name="reason"
          rows={2}
          required
          className="field h-auto py-1.5"
          placeholder="The ledger is down until the move"
        />
      </Field>
      <Field label="Branch or pattern" hint="Leave it empty for every branch. * and ? do not cross a slash, ** does.">
        <input name="branch" className="field" placeholder="Every branch" />
      </Field>
      <Field label="Until">
        <select name="days" className="field" defaultValue="14">
          <option value="7">7 days from now</option>
          <option value="14">14 days from now</option>
          <option value="30">30 days from now</option>
          <option value="">It is released</option>
        </select>
      </Field>
      {sending.error && (
        <p role="alert" className="text-broken">
          {sending.error.message}
        </p>
      )}
      <DialogActions does="Quarantine" doing="Quarantining …" isPending={sending.isPending} onClose={onClose} />
    </form>
  );
}
