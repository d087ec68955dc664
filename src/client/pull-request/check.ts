/** `gate --check`: one check run on the commit of the job at GitHub, or one status at another host: whether the gate lets it pass. */
import { checkOf } from '../../domain/commit-check.ts';
import { keepCheck } from '../../hosts/writes/keep-check.ts';
import { markerKey } from '../../hosts/writes/marker.ts';
import type { Subject } from '../gate/consult.ts';
import { type Excuse, isExcused } from '../gate/decision.ts';
import type { JudgedTest } from '../gate/result.ts';
import { printError } from '../output.ts';
import type { ClientEnvironment } from '../settings.ts';
import { annotationsOf } from './annotations.ts';
import { commitState } from './commit-state.ts';
import { remoteOf } from './place.ts';

export interface JobToTell {
  /** A job that crashed without a failed test does not say that all is clear. */
  isPassed: boolean;
  /** Of this job: they are annotated. */
  failures: readonly JudgedTest[];
  excuse: ReadonlySet<Excuse>;
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Never throws: the result of the job does not depend on the check. Returns sentences about why it is not there, or not new. */
export async function checkCommit(
  { repository, target: { commit }, isStored }: Subject,
  environment: ClientEnvironment,
  { isPassed, failures, excuse }: JobToTell,
): Promise<string[]> {
  if (commit === undefined || !COMMIT.test(commit))
    return ['There is no check: the whole id of the commit is not known (pass --commit).'];
  const remote = remoteOf(environment);
  if (typeof remote === 'string') return [`There is no check: ${remote}.`];
  const host = remote.check(commit, markerKey(repository));
  if (!isStored) return ['The check stays as it is: the reports are not stored yet.'];
  const cwd = process.cwd();
  const annotations = annotationsOf(failures, { root: environment.variables.GITHUB_WORKSPACE || cwd, cwd });
  try {
    if ((await commitState(repository, commit))?.keptByService.includes('check')) {
      printError(`The service keeps ${host.subject}.`);
      return [];
    }
    const kept = await keepCheck(host, async () => {
      const state = await commitState(repository, commit);
      if (state === null || (state.total === 0 && !isPassed)) return null;
      return { ...checkOf(state, (verdict) => isExcused(verdict, excuse)), annotations };
    });
    if (kept !== 'nothing') printError(`${sentence(host.subject)} is up to date.`);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [`${sentence(host.subject)} cannot be written: ${message}.`];
  }
}

const sentence = (subject: string): string => `${subject.slice(0, 1).toUpperCase()}${subject.slice(1)}`;
