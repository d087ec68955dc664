/** The contents of the form of a quarantine, before it is sent. */
import type { TestFailures } from '../../src/insights/failures.ts';
import type { NewQuarantine } from '../api/queries.ts';

const DAY_MS = 86_400_000;

export interface Draft {
  branch: string | null;
  pipeline: string | null;
  job: string | null;
  /** Values by axis; null: every leg. */
  axes: Record<string, string[]> | null;
  /** Null: every failure. */
  failureIds: string[] | null;
}

export type FailureGroup = Pick<
  TestFailures['failures'][number],
  'id' | 'exception_type' | 'exception_message' | 'failure_count' | 'last_failure_at'
>;

/** A failure for which a quarantine is asked: the form begins with it, whether or not the default branch knows it. */
export interface Failure {
  pipeline: string;
  job: string;
  /** Null: it has none. */
  group: FailureGroup | null;
}

export const draftFor = (failure: Failure | undefined): Draft => ({
  branch: null,
  pipeline: failure?.pipeline ?? null,
  job: failure?.job ?? null,
  axes: null,
  failureIds: failure?.group ? [failure.group.id] : null,
});

/** A pipeline, or a CI job of it, as the value of an option. */
export const placeValue = (pipeline: string, job?: string): string =>
  JSON.stringify(job === undefined ? [pipeline] : [pipeline, job]);

const textOf = (form: FormData, name: string): string | null => String(form.get(name) ?? '').trim() || null;

function placeOf(form: FormData): Pick<Draft, 'pipeline' | 'job'> {
  const value = textOf(form, 'place');
  const [pipeline, job]: (string | undefined)[] = value === null ? [] : JSON.parse(value);
  return { pipeline: pipeline ?? null, job: job ?? null };
}

/** `os=windows, os=linux`: each pair that can be read. */
function axesIn(text: string | null): Draft['axes'] {
  if (text === null) return null;
  const pairs = text.split(',').flatMap((pair) => {
    const equals = pair.indexOf('=');
    const [name, value] = [pair.slice(0, Math.max(0, equals)).trim(), pair.slice(equals + 1).trim()];
    return name === '' || value === '' ? [] : [{ name, value }];
  });
  const byName = Map.groupBy(pairs, ({ name }) => name);
  return Object.fromEntries([...byName].map(([name, some]) => [name, some.map(({ value }) => value)]));
}

/** Whether it is nothing but pairs. */
const isAxes = (text: string | null): boolean =>
  text === null || /^\s*[^\s,:=]+=[^,]+(?:,\s*[^\s,:=]+=[^,]+)*$/u.test(text);

export const draftOf = (form: FormData): Draft => ({
  branch: textOf(form, 'branch'),
  ...placeOf(form),
  axes: axesIn(textOf(form, 'axes')),
  failureIds: form.get('which') === 'some' ? form.getAll('failure').map(String) : null,
});

/** The end of the day that was chosen, in the reader's zone, or so many days from now. */
function endOf(form: FormData): string | null {
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
  if (!isAxes(textOf(form, 'axes'))) return 'Write axes as name=value, with commas between them.';
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
