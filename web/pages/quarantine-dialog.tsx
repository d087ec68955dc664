/** Asks for what, where, why and until when a test is quarantined. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quarantinesChanged } from '../api/changes.ts';
import { Problem } from '../api/client.ts';
import {
  axesQuery,
  detailsQuery,
  failuresQuery,
  type NewQuarantine,
  quarantine,
  type TestPath,
} from '../api/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { DialogActions } from '../ui/dialog-actions.tsx';
import { Excused } from '../ui/excused.tsx';
import { Loading } from '../ui/states.tsx';
import { draftFor, type Failure, type FailureGroup, type Proposal } from './quarantine-draft.ts';
import { draftOf, quarantineOf } from './quarantine-form.ts';
import { proposalOf } from './quarantine-proposal.ts';
import { AxesField, PlaceField, usePlaces, WhichFailures } from './quarantine-scope-fields.tsx';

interface QuarantineDialogProps {
  path: TestPath;
  testName: string;
  /** The failure to excuse; absent: every failure. It can be widened and narrowed in the form. */
  failure?: Failure | undefined;
  onClose: () => void;
}

export function QuarantineDialog({ path, testName, failure, onClose }: QuarantineDialogProps) {
  const known = useQuery(failuresQuery(path));
  const where = useQuery(axesQuery(path));
  // A test that never ran on the default branch has no details, and no owner.
  const details = useQuery(detailsQuery(path));
  const places = usePlaces(path, failure);
  const groups = withGroup(known.data?.failures ?? [], failure?.group ?? null);
  return (
    <Dialog title="Quarantine this test" onClose={onClose}>
      {known.isPending || where.isPending || details.isPending || places === undefined ? (
        <div className="min-h-128">
          <Loading rows={10} />
        </div>
      ) : (
        <Form
          {...{ path, testName, failure, places, groups, onClose }}
          owner={details.data?.owners[0]}
          proposed={proposalOf(where.data?.fails_with, failure)}
        />
      )}
    </Dialog>
  );
}

const withGroup = (groups: readonly FailureGroup[], group: FailureGroup | null): readonly FailureGroup[] =>
  group === null || groups.some(({ id }) => id === group.id) ? groups : [group, ...groups];

interface FormProps extends QuarantineDialogProps {
  places: NonNullable<ReturnType<typeof usePlaces>>;
  groups: readonly FailureGroup[];
  /** The form keeps the first one. */
  proposed: Proposal | undefined;
  /** Of the test, the first one. */
  owner: string | undefined;
}

function Form({ path, testName, failure, places, groups, proposed, owner, onClose }: FormProps) {
  const client = useQueryClient();
  const [proposal] = useState(proposed);
  const [first] = useState(() => draftFor(failure, proposal));
  const [draft, setDraft] = useState(first);
  const [hasDay, setHasDay] = useState(false);
  const [missing, setMissing] = useState<string>();
  const sending = useMutation({
    mutationFn: (wanted: NewQuarantine) => quarantine(path, wanted),
    onSuccess: async () => {
      await quarantinesChanged(client);
      onClose();
    },
  });
  return (
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
        <input name="branch" className="field font-normal" placeholder="Every branch" aria-describedby="branch-help" />
        <span id="branch-help" className="text-xs font-normal text-soft">
          Leave it empty for every branch. * and ? do not cross a slash, ** does.
        </span>
      </label>
      <PlaceField places={places} first={first} proposal={proposal} />
      <AxesField first={first} proposal={proposal} />
      <WhichFailures groups={groups} first={first} isChoosing={draft.failureIds !== null} />
      <div className="grid gap-4 sm:grid-cols-2">
        <label className="flex flex-col gap-1.5 font-medium">
          Who repairs it
          <input name="owner" defaultValue={owner} className="field font-normal" placeholder="A person or a team" />
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
        <Excused {...draft} groups={groups} />
      </div>
      {(missing ?? sending.error) && (
        <p role="alert" className="text-broken">
          {missing ?? wordsOf(sending.error)}
        </p>
      )}
      <DialogActions does="Quarantine" doing="Quarantining …" isPending={sending.isPending} onClose={onClose} />
    </form>
  );
}

/** The service's refusal, with what to do here. */
const wordsOf = (error: Error | null): string | undefined =>
  error instanceof Problem && error.status === 409
    ? `${error.message} for this branch, place and legs, and these failures. Choose others, or release that one first.`
    : error?.message;
