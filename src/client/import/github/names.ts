/** Which job of a run an artifact comes from. GitHub does not say: names and times tell. Pure. */
import { axesFrom, namedAxes } from '../../ci-axes.ts';
import type { Leg } from '../past-job.ts';
import { namedJob, type WorkflowJob } from './workflow-file.ts';

/** A job of an attempt of a run. */
export interface RunJob {
  id: number;
  name: string;
  attempt: number;
  /** Whether it passed or failed, and was not cancelled or skipped. */
  hasResult: boolean;
  /** Milliseconds since the epoch. */
  startedAt: number;
  completedAt: number;
  labels: readonly string[];
  runner: string | undefined;
  url: string | undefined;
}

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/windows/i, 'windows'],
  [/macos|osx/i, 'macos'],
  [/linux|ubuntu|debian|alpine/i, 'linux'],
];

/** As the job itself would name it (src/client/ci-github.ts). */
export function legOf({ name, labels, runner }: RunJob, jobs: readonly WorkflowJob[]): Leg {
  const { job, matrix } = namedJob(name, jobs);
  const named = namedAxes(JSON.stringify(matrix));
  const label = labels.join(' ');
  const os = SYSTEMS.find(([pattern]) => pattern.test(label))?.[1];
  const isArm = /arm|aarch/i.test(label) || (os === 'macos' && !/13|12|intel|x64|large/i.test(label));
  const told = axesFrom({ os, arch: os && (isArm ? 'arm64' : 'x64') });
  return { job, axes: { ...told, ...named.axes }, place: { ...axesFrom({ runner }), ...named.place } };
}

/** An upload ends shortly before its job does, and their clocks differ. */
const LATE_MS = 2 * 60_000;

/**
 * The jobs that an artifact may come from: one, if names and times tell; several that equal each other in both.
 *
 * @param createdAt milliseconds since the epoch
 */
export function jobsOfArtifact(artifact: { name: string; createdAt: number }, jobs: readonly RunJob[]): RunJob[] {
  const { createdAt } = artifact;
  const during = jobs.filter((job) => job.startedAt <= createdAt && createdAt <= job.completedAt + LATE_MS);
  const before = jobs.filter((job) => job.startedAt <= createdAt);
  const newest = before.reduce((attempt, job) => Math.max(attempt, job.attempt), 0);
  const candidates = during.length > 0 ? during : before.filter(({ attempt }) => attempt === newest);
  if (candidates.length <= 1) return candidates;
  const words = wordsOf(artifact.name);
  const scored = candidates.map((job) => ({ job, score: scoreOf(words, job.name) }));
  const best = scored.reduce((most, { score }) => Math.max(most, score), Number.NEGATIVE_INFINITY);
  return scored.filter(({ score }) => score === best).map(({ job }) => job);
}

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[a-z0-9.]+/g) ?? []);

/** Words of the job that the artifact names, less those that it does not. */
function scoreOf(words: ReadonlySet<string>, jobName: string): number {
  const own = [...wordsOf(jobName)];
  const known = own.filter((word) => words.has(word)).length;
  return known - (own.length - known) / 100;
}

/** What several legs have in common: where an artifact does not tell from which of them it comes. */
export function commonLeg(legs: readonly Leg[], artifact: string): Leg {
  const [first, ...others] = legs;
  if (!first) return { job: artifact, axes: {}, place: {} };
  if (others.length === 0) return first;
  const isSame = others.every(({ job }) => job === first.job);
  const axes = Object.entries(first.axes).filter(([name, value]) => others.every((leg) => leg.axes[name] === value));
  return { job: isSame ? first.job : artifact, axes: Object.fromEntries(axes), place: axesFrom({ artifact }) };
}
