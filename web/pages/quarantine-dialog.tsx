/** Asks on which branch, and why, a test is quarantined. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { quarantine, type RepositoryPath } from '../api/queries.ts';
import { Dialog } from '../ui/dialog.tsx';

const DAY_MS = 86_400_000;

interface QuarantineDialogProps {
  path: RepositoryPath;
  testName: string;
  onClose: () => void;
}

const textOf = (form: FormData, name: string): string | null => String(form.get(name) ?? '').trim() || null;
const endOf = (days: string | null): string | null =>
  days === null ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString();

export function QuarantineDialog({ path, testName, onClose }: QuarantineDialogProps) {
  const client = useQueryClient();
  const sending = useMutation({
    mutationFn: (form: FormData) =>
      quarantine(path, {
        test_name: testName,
        reason: String(form.get('reason') ?? ''),
        branch: textOf(form, 'branch'),
        owner: textOf(form, 'owner'),
        ticket_url: textOf(form, 'ticket'),
        expires_at: endOf(textOf(form, 'days')),
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['quarantines'] });
      onClose();
    },
  });
  return (
    <Dialog title="Quarantine this test" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          sending.mutate(new FormData(event.currentTarget));
        }}
      >
        <p className="text-soft">
          Its failures stop counting in CI, but are still recorded:{' '}
          <span className="text-ink break-words">{testName}</span>
        </p>
        <label className="flex flex-col gap-1.5 font-medium">
          Why
          <textarea
            name="reason"
            rows={3}
            required
            className="field h-auto py-1.5 font-normal"
            placeholder="Fails at midnight, see #1234"
          />
        </label>
        <label className="flex flex-col gap-1.5 font-medium">
          Branch or pattern
          <input
            name="branch"
            className="field font-normal"
            placeholder="Every branch"
            aria-describedby="branch-help"
          />
          <span id="branch-help" className="text-xs font-normal text-soft">
            Leave it empty for every branch. * and ? do not cross a slash, ** does.
          </span>
        </label>
        <div className="grid gap-4 sm:grid-cols-2">
          <label className="flex flex-col gap-1.5 font-medium">
            Who repairs it
            <input name="owner" className="field font-normal" placeholder="A person or a team" />
          </label>
          <label className="flex flex-col gap-1.5 font-medium">
            Until
            <select name="days" className="field font-normal" defaultValue="14">
              <option value="7">7 days from now</option>
              <option value="14">14 days from now</option>
              <option value="30">30 days from now</option>
              <option value="">It is released</option>
            </select>
          </label>
        </div>
        <label className="flex flex-col gap-1.5 font-medium">
          Ticket
          <input name="ticket" type="url" className="field font-normal" placeholder="https://…" />
        </label>
        {sending.error && (
          <p role="alert" className="text-broken">
            {sending.error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button button-primary" disabled={sending.isPending}>
            {sending.isPending ? 'Quarantining …' : 'Quarantine'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
