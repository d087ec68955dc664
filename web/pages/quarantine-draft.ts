/** The contents of the form of a quarantine, before it is sent. */
import type { TestFailures } from '../../src/insights/failures.ts';
import type { NewQuarantine } from '../api/queries.ts';
import { readAxes } from './quarantine-axes.ts';

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
  /** Those of the CI job in which it failed. */
  legs: readonly { axes: Readonly<Record<string, string>> }[];
  /** Null: it has none. */
  group: FailureGroup | null;
}

/** To what a quarantine is narrowed before anybody has chosen. */
export interface Proposal extends Pick<Draft, 'pipeline' | 'job' | 'axes'> {
  /** `It fails only with os=windows.` */
  reason: string;
}

/** A place that is proposed says more than where one failure was. */
export function draftFor(failure: Failure | undefined, proposal: Proposal | undefined): Draft {
  const isPlaced = proposal !== undefined && (proposal.pipeline !== null || proposal.job !== null);
  const place = isPlaced ? proposal : failure;
  return {
    branch: null,
    pipeline: place?.pipeline ?? null,
    job: place?.job ?? null,
    axes: proposal?.axes ?? null,
    failureIds: failure?.group ? [failure.group.id] : null,
  };
}

/** A pipeline, a CI job of it, or a CI job of every pipeline, as the value of an option. */
export const placeValue = (pipeline: string | null, job: string | null): string =>
  JSON.stringify(job === null ? [pipeline] : [pipeline, job]);

const textOf = (form: FormData, name: string): string | null => String(form.get(name) ?? '').trim() || null;

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
