/** A dialog that says what goes with some tests, before they are forgotten. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { testsForgotten } from '../api/changes.ts';
import {
  forgetTests,
  forgettingPreviewQuery,
  type RepositoryPath,
  type TestsToForget,
  untilForgotten,
} from '../api/queries.ts';
import { Dialog } from './dialog.tsx';
import { DialogActions } from './dialog-actions.tsx';
import { formatCounted } from './format.ts';
import { Failed, Loading } from './states.tsx';
import { tell } from './toast.ts';

interface Props {
  path: RepositoryPath;
  wanted: TestsToForget;
  title: string;
  /** Once a worker is asked. */
  onAsked?: () => Promise<void>;
  onClose: () => void;
}

export const ForgetTests = ({ title, ...props }: Props) => (
  <Dialog title={title} onClose={props.onClose}>
    <Form {...props} />
  </Dialog>
);

function Form({ path, wanted, onAsked, onClose }: Omit<Props, 'title'>) {
  const client = useQueryClient();
  const { data, error, refetch, isPending } = useQuery(forgettingPreviewQuery(path, wanted));
  const sending = useMutation({
    mutationFn: () => forgetTests(path, wanted),
    onSuccess: async ({ id, count }) => {
      onClose();
      tell({ text: `Forgetting ${formatCounted(count, 'test')}. It takes some seconds.` });
      await onAsked?.();
      await testsForgotten(client);
      void untilForgotten(path, id).then(() => testsForgotten(client));
    },
  });
  if (isPending) return <Loading rows={4} />;
  if (error) return <Failed error={error} reset={() => void refetch()} />;
  const { executions = 0, failures = 0 } = data.rows;
  const rows = Object.values(data.rows).reduce((sum, many) => sum + many, 0) - executions - failures;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate();
      }}
    >
      <p>
        {data.count === 0
          ? 'There is no test to forget.'
          : `What goes: ${formatCounted(data.count, 'test')}, ${formatCounted(executions, 'execution')}, ${formatCounted(failures, 'failure')}, and ${formatCounted(rows, 'row')} of what is known of them.`}
      </p>
      <Names tests={data.tests} count={data.count} />
      {data.quarantined.count > 0 && (
        <>
          <p>Quarantined tests stay, until their quarantine ends: {formatCounted(data.quarantined.count, 'test')}.</p>
          <Names tests={data.quarantined.tests} count={data.quarantined.count} />
        </>
      )}
      {data.is_more && <p>More tests match than are forgotten at once. Ask again for the others.</p>}
      <p>
        This cannot be undone. Runs and other tests will look as if these had never run. A test that runs again begins
        as a new one.
      </p>
      {sending.error && (
        <p role="alert" className="text-broken">
          {sending.error.message}
        </p>
      )}
      <DialogActions
        does="Forget for good"
        doing="Forgetting …"
        isPending={sending.isPending}
        isEmpty={data.count === 0}
        onClose={onClose}
      />
    </form>
  );
}

interface NamesProps {
  tests: readonly { test_id: string; test_name: string }[];
  count: number;
}

function Names({ tests, count }: NamesProps) {
  if (tests.length === 0) return null;
  return (
    <ul className="max-h-48 overflow-y-auto rounded border border-line px-3 py-2">
      {tests.map(({ test_id: id, test_name: name }) => (
        <li key={id} className="break-words">
          {name}
        </li>
      ))}
      {count > tests.length && <li className="text-soft">and {formatCounted(count - tests.length, 'other')}</li>}
    </ul>
  );
}
