/** Changes what was agreed on quarantines, one or many. What is not touched stays as it is. */
import { useState } from 'react';
import type { Quarantine, QuarantineChanges, RepositoryPath } from '../api/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { DialogActions } from '../ui/dialog-actions.tsx';
import { formatCounted, formatLocal } from '../ui/format.ts';
import { readAxes, writeAxes } from './quarantine-axes.ts';
import { useQuarantineDeeds } from './quarantine-deeds.ts';
import { endOf } from './quarantine-form.ts';

interface EditQuarantinesProps {
  path: RepositoryPath;
  quarantines: readonly Quarantine[];
  onClose: () => void;
}

interface TextField {
  name: 'owner' | 'ticket_url' | 'branch' | 'pipeline_name' | 'job_name' | 'reason' | 'axes';
  label: string;
  /** What it means that nothing is in it. */
  none: string;
  textOf: (one: Quarantine) => string;
}

const FIELDS: readonly TextField[] = [
  { name: 'owner', label: 'Who repairs it', none: 'No one', textOf: ({ owner }) => owner ?? '' },
  { name: 'ticket_url', label: 'Ticket', none: 'https://…', textOf: ({ ticket_url: ticket }) => ticket ?? '' },
  { name: 'branch', label: 'Branch or pattern', none: 'Every branch', textOf: ({ branch }) => branch ?? '' },
  { name: 'pipeline_name', label: 'Pipeline', none: 'Every pipeline', textOf: ({ pipeline_name: name }) => name ?? '' },
  { name: 'job_name', label: 'CI job', none: 'Every CI job', textOf: ({ job_name: name }) => name ?? '' },
  {
    name: 'axes',
    label: 'Axes',
    none: 'Every leg',
    textOf: ({ axes }) => (axes === null ? '' : (writeAxes(axes) ?? '')),
  },
  { name: 'reason', label: 'Why', none: 'No reason', textOf: ({ reason }) => reason },
];

/** The text that all have; undefined: they differ. */
function commonText(quarantines: readonly Quarantine[], { textOf }: TextField): string | undefined {
  const texts = new Set(quarantines.map(textOf));
  return texts.size === 1 ? [...texts][0] : undefined;
}

export function EditQuarantines({ path, quarantines, onClose }: EditQuarantinesProps) {
  const { changeAll, isPending } = useQuarantineDeeds(path);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [hasDay, setHasDay] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [one] = quarantines;
  const isOne = quarantines.length === 1;
  const save = async (form: FormData) => {
    const changes = changesIn(form, touched);
    if (typeof changes === 'string') return setProblem(changes);
    const { done, refused } = await changeAll(quarantines, changes);
    if (done.length > 0) onClose();
    else setProblem(refused[0]);
  };
  return (
    <Dialog
      title={isOne ? 'Change this quarantine' : `Change ${formatCounted(quarantines.length, 'quarantine')}`}
      isDirty={touched.size > 0 && !isPending}
      onClose={onClose}
    >
      <form
        className="flex flex-col gap-4"
        onChange={({ target }) => {
          const name = 'name' in target ? String(target.name) : '';
          setTouched((before) => new Set([...before, name]));
          setProblem(undefined);
        }}
        onSubmit={(event) => {
          event.preventDefault();
          void save(new FormData(event.currentTarget));
        }}
      >
        {isOne && <p className="break-words text-soft">{one?.test_name}</p>}
        <div className="grid gap-4 sm:grid-cols-2">
          <label className="flex flex-col gap-1.5 font-medium">
            Until
            <select
              name="days"
              className="field font-normal"
              defaultValue="same"
              onChange={({ target }) => setHasDay(target.value === 'day')}
            >
              <option value="same">
                {isOne ? (one?.expires_at ? formatLocal(one.expires_at) : 'It is released') : 'Stays as it is'}
              </option>
              <option value="7">7 days from now</option>
              <option value="14">14 days from now</option>
              <option value="30">30 days from now</option>
              <option value="day">The end of a day …</option>
              <option value="">No end</option>
            </select>
          </label>
          {hasDay && (
            <label className="flex flex-col gap-1.5 font-medium">
              Last day
              <input name="day" type="date" required className="field font-normal" />
            </label>
          )}
          {FIELDS.map((field) => {
            const common = commonText(quarantines, field);
            return (
              <label key={field.name} className="flex flex-col gap-1.5 font-medium">
                {field.label}
                <input
                  name={field.name}
                  type={field.name === 'ticket_url' ? 'url' : 'text'}
                  className="field font-normal"
                  defaultValue={common ?? ''}
                  placeholder={common === undefined ? 'They differ: stays as it is' : field.none}
                />
              </label>
            );
          })}
        </div>
        {problem !== undefined && (
          <p role="alert" className="break-words text-broken">
            {problem}
          </p>
        )}
        <DialogActions
          does="Save"
          doing="Saving …"
          isPending={isPending}
          isEmpty={touched.size === 0}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

/** @returns what was touched as the service takes it, or what is wrong with it, in words */
function changesIn(form: FormData, touched: ReadonlySet<string>): QuarantineChanges | string {
  const changes: QuarantineChanges = {};
  for (const { name } of FIELDS.filter((field) => touched.has(field.name))) {
    const text = String(form.get(name) ?? '').trim();
    if (name === 'reason') changes.reason = text;
    else if (name !== 'axes') changes[name] = text || null;
    else {
      const read = readAxes(text || null);
      if (read?.isWhole === false) return 'Write axes as name=value, with commas between them.';
      changes.axes = read?.axes ?? null;
    }
  }
  if (form.get('days') !== 'same') changes.expires_at = endOf(form);
  return changes;
}
