/** A job of the past, as its own upload would have named it. Pure. */
import type { Axes } from '../../domain/axes.ts';
import { pairsOf, type UploadQuery } from '../upload-query.ts';

/** The leg that results are of. */
export interface Leg {
  job: string;
  axes: Axes;
  place: Axes;
}

/** The commit and branch that a run tested. */
export interface Subject {
  branch: string | undefined;
  pullRequest: number | undefined;
  baseRef: string | undefined;
  defaultBranch: string | undefined;
}

export interface PastJob {
  pipeline: string;
  runId: string;
  attempt: number;
  leg: Leg;
  commit: string | undefined;
  subject: Subject;
  /** The page of the job. */
  url: string | undefined;
  /** When its reports would have arrived. Milliseconds since the epoch. */
  endedAt: number;
}

/** @param report names the report within the job */
export function uploadOf(job: PastJob, report: string): { query: UploadQuery; arrivedAt: number } {
  const { subject, leg } = job;
  const optional = {
    commit: job.commit,
    branch: subject.branch,
    pull_request: subject.pullRequest,
    base_ref: subject.baseRef,
    default_branch: subject.defaultBranch,
    job_url: job.url,
  };
  const query: Record<string, string | readonly string[]> = {
    report,
    pipeline_name: job.pipeline,
    job_name: leg.job,
    run_id: job.runId,
    run_attempt: String(job.attempt),
  };
  for (const [name, value] of Object.entries(optional)) if (value !== undefined) query[name] = String(value);
  for (const [name, pairs] of Object.entries({ axis: pairsOf(leg.axes), place: pairsOf(leg.place) }))
    if (pairs !== undefined) query[name] = pairs;
  return { query, arrivedAt: job.endedAt };
}
