/** Whose a cause is and where its repair is tracked, with the way to change it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { CausePage } from '../../src/insights/cause.ts';
import { causesChanged } from '../api/changes.ts';
import { changeCause, type RepositoryPath, sessionQuery } from '../api/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { DialogActions } from '../ui/dialog-actions.tsx';
import { ExternalLink } from '../ui/external.tsx';
import { Field } from '../ui/field.tsx';

export function CauseTerms({ path, cause }: { path: RepositoryPath; cause: CausePage }) {
  const { data: session } = useQuery(sessionQuery);
  const [isChanging, setChanging] = useState(false);
  return (
    <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-1">
      <span className="text-soft">
        {cause.owner === null ? 'Given to no one' : <>Owner {cause.owner}</>}
        {cause.owners.length > 0 && `; hits tests of ${cause.owners.join(', ')}`}
      </span>
      {cause.ticket_url !== null && <ExternalLink href={cause.ticket_url}>ticket</ExternalLink>}
      {session?.scope !== 'view' && (
        <button type="button" className="button" onClick={() => setChanging(true)}>
          Owner and ticket …
        </button>
      )}
      {isChanging && (
        <Dialog title="Owner and ticket" onClose={() => setChanging(false)}>
          <Form path={path} cause={cause} onClose={() => setChanging(false)} />
        </Dialog>
      )}
    </div>
  );
}

function Form({ path, cause, onClose }: { path: RepositoryPath; cause: CausePage; onClose: () => void }) {
  const client = useQueryClient();
  const sending = useMutation({
    mutationFn: (body: Parameters<typeof changeCause>[2]) => changeCause(path, cause.cause_id, body),
    onSuccess: async () => {
      await causesChanged(client);
      onClose();
    },
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const text = (name: string) => String(fields.get(name) ?? '').trim() || null;
        sending.mutate({ owner: text('owner'), ticket_url: text('ticket') });
      }}
    >
      <Field label="Who repairs it">
        <input
          name="owner"
          maxLength={255}
          defaultValue={cause.owner ?? ''}
          className="field"
          placeholder={cause.owners[0] ?? 'A person or a team'}
        />
      </Field>
      <Field label="Ticket">
        <input
          name="ticket"
          type="url"
          defaultValue={cause.ticket_url ?? ''}
          className="field"
          placeholder="https://…"
        />
      </Field>
      {sending.error && (
        <p role="alert" className="text-broken">
          {sending.error.message}
        </p>
      )}
      <DialogActions does="Save" doing="Saving …" isPending={sending.isPending} onClose={onClose} />
    </form>
  );
}
