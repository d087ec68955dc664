/** Reads the form of a quarantine. */
import type { NewQuarantine } from '../api/queries.ts';
import { readAxes } from './quarantine-axes.ts';
import type { Draft } from './quarantine-draft.ts';

const DAY_MS = 86_400_000;

export const textOf = (form: FormData, name: string): string | null => String(form.get(name) ?? '').trim() || null;

function placeOf(form: FormData): Pick<Draft, 'pipeline' | 'job'> {
  const value = textOf(form, 'place');
  const [pipeline, job]: (string | null | undefined)[] = value === null ? [] : JSON.parse(value);
  return { pipeline: pipeline ?? null, job: job ?? null };
}

export const draftOf = (form: FormData): Draft => ({
  branch: textOf(form, 'branch'),
  ...placeOf(form),
  axes: readAxes(textOf(form, 'axes'))?.axes ?? null,
  failureIds: form.get('which') === 'some' ? form.getAll('failure').map(String) : null,
});

/** The end of the day that was chosen, in the reader's zone, or so many days from now. */
export function endOf(form: FormData): string | null {
  const days = textOf(form, 'days');
  if (days === null) return null;
  if (days !== 'day') return new Date(Date.now() + Number(days) * DAY_MS).toISOString();
  const day = textOf(form, 'day');
  return day === null ? null : new Date(`${day}T23:59:59`).toISOString();
}

/** @returns what is sent, or what is missing, in words */
export function quarantineOf(form: FormData, testName: string): NewQuarantine | string {
  const { branch, pipeline, job, axes, failureIds } = draftOf(form);
  if (failureIds?.length === 0) return 'Choose at least one failure group, or every failure.';
  if (readAxes(textOf(form, 'axes'))?.isWhole === false)
    return 'Write axes as name=value, with commas between them, and a value that holds a comma in double quotes.';
  return {
    test_name: testName,
    reason: String(form.get('reason') ?? ''),
    branch,
    owner: textOf(form, 'owner'),
    ticket_url: textOf(form, 'ticket'),
    expires_at: endOf(form),
    pipeline_name: pipeline,
    job_name: job,
    axes,
    failure_ids: failureIds,
  };
}
