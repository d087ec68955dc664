/** Tests that no longer run: which they are, the way to forget them, and the newest that were forgotten. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { forgettingsQuery, type RepositoryPath, type TestForgetting } from '../api/queries.ts';
import { Field } from '../ui/field.tsx';
import { ForgetTests } from '../ui/forget-tests.tsx';
import { formatCounted } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Failed } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

const DAYS = 180;
const DAYS_MAX = 36_500;
const DAY_MS = 86_400_000;
const SHOWN_MAX = 5;

export function Forgetting({ path }: { path: RepositoryPath }) {
  const { data, error, refetch } = useQuery(forgettingsQuery(path));
  const [since, setSince] = useState<{ days: number; at: string }>();
  return (
    <Section title="Tests that no longer run">
      <form
        className="flex flex-wrap items-end gap-3 px-4 py-4"
        onSubmit={(event) => {
          event.preventDefault();
          const days = Number(new FormData(event.currentTarget).get('days'));
          setSince({ days, at: new Date(Date.now() - days * DAY_MS).toISOString() });
        }}
      >
        <div className="min-w-0 flex-1 basis-48">
          <Field label="Not run for, in days">
            <input name="days" type="number" min={1} max={DAYS_MAX} required className="field" defaultValue={DAYS} />
          </Field>
        </div>
        <button type="submit" className="button text-broken">
          Forget …
        </button>
        <p className="basis-full text-soft">
          On any branch. You see which tests these are before they go: for names that will never run again.
        </p>
      </form>
      {error && <Failed error={error} reset={() => void refetch()} />}
      {data?.forgettings.slice(0, SHOWN_MAX).map((one) => (
        <Receipt key={one.id} receipt={one} />
      ))}
      {since && (
        <ForgetTests
          path={path}
          wanted={{ not_run_since: since.at }}
          title={`Tests that have not run for ${formatCounted(since.days, 'day')}`}
          onClose={() => setSince(undefined)}
        />
      )}
    </Section>
  );
}

const Receipt = ({ receipt }: { receipt: TestForgetting }) => (
  <p className="flex flex-wrap gap-x-2 border-t border-line px-4 py-2.5">
    <span>
      {receipt.finished_at === null
        ? `Forgetting ${formatCounted(receipt.count, 'test')}`
        : `Forgot ${formatCounted(receipt.count, 'test')}, with ${formatCounted(receipt.removed.executions ?? 0, 'execution')}`}
    </span>
    <span className="text-soft">
      by {receipt.requested_by}, <Time at={receipt.requested_at} />
    </span>
  </p>
);
