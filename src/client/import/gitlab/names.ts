/** Names of GitLab's jobs, as the job itself would say them (src/client/ci-providers.ts). Pure. */
import { axesFrom, UNNAMED_AXIS } from '../../ci-axes.ts';
import type { Leg } from '../past-job.ts';

interface NamedJob {
  leg: Leg;
  /** Begins the names of reports of one part of a job that is split. */
  prefix: string;
  /** The suite of a pipeline's test report that has its tests: parts of a job share one. */
  suite: string;
}

/** `parallel: 3` names its jobs `unit 1/3`, `parallel:matrix` names them `unit: [3.13, linux]`. */
export function namedJob(
  name: string,
  runner: { id: number; description?: string | null | undefined } | null,
): NamedJob {
  const place = axesFrom({ runner: runner ? runner.description || String(runner.id) : undefined });
  const [, matrixJob, values] = /^(.+?): \[(.+)\]$/.exec(name) ?? [];
  if (matrixJob !== undefined)
    return { leg: { job: matrixJob, axes: axesFrom({ [UNNAMED_AXIS]: values }), place }, prefix: '', suite: name };
  const [, job, part] = /^(.+?) (\d+)\/\d+$/.exec(name) ?? [];
  if (job === undefined) return { leg: { job: name, axes: {}, place }, prefix: '', suite: name };
  return { leg: { job, axes: {}, place }, prefix: `node-${part}/`, suite: job };
}

/** A pipeline of a merge request tests its head, the result of a merge, or a merge train. */
export interface RequestRef {
  number: number;
  kind: 'head' | 'merge' | 'train';
}

/** `refs/merge-requests/7/merge`; undefined for a branch or a tag. */
export function requestOfRef(ref: string): RequestRef | undefined {
  const [, number, kind] = /^refs\/merge-requests\/(\d+)\/(head|merge|train)$/.exec(ref) ?? [];
  if (kind !== 'head' && kind !== 'merge' && kind !== 'train') return undefined;
  return { number: Number(number), kind };
}
