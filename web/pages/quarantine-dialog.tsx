/** Asks for what, where, why and until when a test is quarantined. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Problem } from '../api/client.ts';
import { failuresQuery, type NewQuarantine, quarantine, type TestPath } from '../api/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Excused } from '../ui/excused.tsx';
import { type Draft, draftOf, EVERYTHING, quarantineOf } from './quarantine-draft.ts';
import { PlaceField, WhichFailures } from './quarantine-scope-fields.tsx';

interface QuarantineDialogProps {
  path: TestPath;
  testName: string;
  onClose: () => void;
}

export function QuarantineDialog({ path, testName, onClose }: QuarantineDialogProps) {
  const client = useQueryClient();
  const { data: failures } = useQuery(failuresQuery(path));
  const [draft, setDraft] = useState<Draft>(EVERYTHING);
  const [hasDay, setHasDay] = useState(false);
  const [missing, setMissing] = useState<string>();
  const sending = useMutation({
    mutationFn: (wanted: NewQuarantine) => quarantine(path, wanted),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['quarantines'] });
      onClose();
    },
  });
  return (
    <Dialog title="Quarantine this test" onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onChange={(event) => {
          setDraft(draftOf(new FormData(event.currentTarget)));
          setMissing(undefined);
        }}
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = quarantineOf(new FormData(event.currentTarget), testName);
          if (typeof wanted === 'string') setMissing(wanted);
          else sending.mutate(wanted);
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
            rows={2}
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
        <PlaceField path={path} />
        <WhichFailures groups={failures?.failures ?? []} isChoosing={draft.failureIds !== null} />
        <div className="grid gap-4 sm:grid-cols-2">
          <label className="flex flex-col gap-1.5 font-medium">
            Who repairs it
            <input name="owner" className="field font-normal" placeholder="A person or a team" />
          </label>
          <label className="flex flex-col gap-1.5 font-medium">
            Until
            <select
              name="days"
              className="field font-normal"
              defaultValue="14"
              onChange={(event) => setHasDay(event.target.value === 'day')}
            >
              <option value="7">7 days from now</option>
              <option value="14">14 days from now</option>
              <option value="30">30 days from now</option>
              <option value="day">The end of a day …</option>
              <option value="">It is released</option>
            </select>
          </label>
          {hasDay && (
            <label className="flex flex-col gap-1.5 font-medium sm:col-start-2">
              Last day
              <input name="day" type="date" required className="field font-normal" />
            </label>
          )}
        </div>
        <label className="flex flex-col gap-1.5 font-medium">
          Ticket
          <input name="ticket" type="url" className="field font-normal" placeholder="https://…" />
        </label>
        <div role="status" aria-label="What it excuses" className="rounded-md bg-raised px-3 py-2">
          <Excused {...draft} groups={failures?.failures ?? []} />
        </div>
        {(missing ?? sending.error) && (
          <p role="alert" className="text-broken">
            {missing ?? wordsOf(sending.error)}
          </p>
        )}
        <div className="sticky bottom-0 -mx-5 -mb-5 flex justify-end gap-2 border-t border-line bg-card px-5 py-3">
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

/** What the service refused, with what to do here. */
const wordsOf = (error: Error | null): string | undefined =>
  error instanceof Problem && error.status === 409
    ? `${error.message} for this branch, place and these failures. Choose others, or release that one first.`
    : error?.message;
