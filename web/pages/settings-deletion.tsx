/** The end of a repository: what would go, and a dialog that takes its name once more. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { repositoryDeleted } from '../api/changes.ts';
import { deleteRepository, deletionPreviewQuery, type RepositoryPath } from '../api/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { DialogActions } from '../ui/dialog-actions.tsx';
import { Field } from '../ui/field.tsx';
import { formatCounted } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Failed, Loading } from '../ui/states.tsx';

export function Deletion({ path }: { path: RepositoryPath }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <Section title="Delete the repository">
      <div className="flex flex-wrap items-center gap-3 px-4 py-4">
        <p className="min-w-0 flex-1 basis-72 text-soft">
          Executions, health, quarantines, settings, events and receipts go for good. The next upload begins an empty
          repository.
        </p>
        <button type="button" className="button text-broken" onClick={() => setAsking(true)}>
          Delete …
        </button>
      </div>
      {isAsking && (
        <Dialog title={`Delete ${path.owner}/${path.repository}`} onClose={() => setAsking(false)}>
          <Form path={path} onClose={() => setAsking(false)} />
        </Dialog>
      )}
    </Section>
  );
}

function Form({ path, onClose }: { path: RepositoryPath; onClose: () => void }) {
  const name = `${path.owner}/${path.repository}`;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const sending = useMutation({
    mutationFn: () => deleteRepository(path, typed.trim()),
    onSuccess: async () => {
      await navigate({ to: '/' });
      await repositoryDeleted(client);
    },
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate();
      }}
    >
      <WhatGoes path={path} />
      <p>
        This cannot be undone: nothing brings a deleted repository back. Keys that are for it alone stop working. The
        trail keeps who deleted it, and when.
      </p>
      <Field label={`Type ${name} to delete it`}>
        <input
          name="confirm"
          className="field"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </Field>
      {sending.error && (
        <p role="alert" className="text-broken">
          {sending.error.message}
        </p>
      )}
      <DialogActions
        does="Delete for good"
        doing="Deleting …"
        isPending={sending.isPending}
        isEmpty={typed.trim().toLowerCase() !== name.toLowerCase()}
        onClose={onClose}
      />
    </form>
  );
}

/** Tables that people know, in this order; the others are added up. */
const KNOWN: Readonly<Record<string, string>> = {
  executions: 'execution',
  failures: 'failure',
  events: 'event',
  tests: 'test',
  quarantines: 'quarantine',
  upload_chunks: 'receipt',
};

function WhatGoes({ path }: { path: RepositoryPath }) {
  const { data, error, refetch, isPending } = useQuery(deletionPreviewQuery(path));
  if (isPending) return <Loading rows={2} />;
  if (error) return <Failed error={error} reset={() => void refetch()} />;
  const rows = Object.entries(data.rows);
  const others = rows.reduce((sum, [table, many]) => (table in KNOWN ? sum : sum + many), 0);
  const known = Object.entries(KNOWN).map(([table, noun]) => formatCounted(data.rows[table] ?? 0, noun));
  return (
    <p>
      What goes: {known.join(', ')}
      {others > 0 && `, and ${formatCounted(others, 'row')} that follow from them`}.
    </p>
  );
}
