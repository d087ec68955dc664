/** From the build events of Bazel to executions: one for each run of a target, with all its shards and attempts. */
import { z } from 'zod';
import type { Axes } from '../../domain/axes.ts';
import { FAILURES_MAX } from '../../domain/limits.ts';
import { archOf, axesFrom, osOf } from '../environment.ts';
import { counted, cutFailure, type Report, TOO_LONG_NAME } from '../report.ts';
import { parseSeconds, parseTimestamp } from '../time.ts';
import type { ParsedFailure } from '../upload.ts';
import type { Result, ResultId, Stamped } from './events.ts';

const TROUBLES_SHOWN_MAX = 5;
const TROUBLE_LENGTH_MAX = 500;
/** Output of an attempt: its log and few more. */
const OUTPUTS_MAX = 100;

/** The last attempt of a shard. */
interface Shard {
  attempt: number;
  isFailed: boolean;
  isCached: boolean;
  durationSeconds: number;
  finishedAtMs: number | null;
}

/** One of the runs of a target in a configuration. */
interface TargetRun {
  label: string;
  configuration: string;
  run: number;
  shards: Map<number, Shard>;
  failures: ParsedFailure[];
  attempts: number;
}

interface Summary {
  label: string;
  shardCount: number;
}

const PASSED: ReadonlySet<string> = new Set(['PASSED', 'FLAKY']);
const FAILED: ReadonlySet<string> = new Set(['FAILED', 'TIMEOUT', 'REMOTE_FAILURE']);

export class BazelReport {
  readonly #runs = new Map<string, TargetRun>();
  /** By label and configuration. */
  readonly #summaries = new Map<string, Summary>();
  readonly #configurations = new Map<string, { mnemonic: string; axes: Axes | undefined }>();
  readonly #troubles = new Set<string>();
  #troubleCount = 0;
  #unreadableCount = 0;
  #isEnded = false;

  constructor(private readonly report: Report) {
    report.runner = { framework: 'bazel', frameworkVersion: null, language: null };
  }

  read(event: Stamped): void {
    this.#isEnded ||= event.isLast;
    if (event.kind === 'testResult') this.#readResult(event.id, event.result);
    else if (event.kind === 'testSummary') {
      const label = plainLabel(event.id.label);
      this.#summaries.set(keyOf(label, event.id.configuration.id), { label, shardCount: event.summary.shardCount });
      if (/^(?:FAILED_TO_BUILD|NO_STATUS)$/.test(event.summary.overallStatus)) this.#note(`${label} was not built`);
    } else if (event.kind === 'configuration')
      this.#configurations.set(event.id, {
        mnemonic: event.mnemonic.slice(0, TOO_LONG_NAME),
        axes: axesOfCpu(event.cpu),
      });
    else if (event.kind === 'started')
      this.report.runner = { framework: 'bazel', frameworkVersion: event.version || null, language: null };
    else if (event.kind === 'aborted')
      this.#note(`${plainLabel(event.label) || 'The build'} was not tested: ${event.description || event.reason}`);
    else if (event.kind === 'notBuilt') this.#note(`${plainLabel(event.label)} was not built`);
    else if (event.kind === 'unreadable') this.#unreadableCount++;
  }

  #readResult({ label: written, run, shard, attempt, configuration }: ResultId, result: Result): void {
    const label = plainLabel(written);
    if (!PASSED.has(result.status) && !FAILED.has(result.status)) {
      this.#note(`${label} did not come to its end: ${result.status || 'NO_STATUS'}`);
      return;
    }
    this.report.count();
    const target = this.#runOf(label, configuration.id, run);
    const startedAtMs = startOf(result);
    if (startedAtMs !== null) this.report.noticeTime(startedAtMs);
    const durationSeconds = durationOf(result);
    const isFailed = FAILED.has(result.status);
    target.attempts = Math.max(target.attempts, attempt);
    // One more than is kept, so that the receipt says that there were more.
    if (isFailed && target.failures.length <= FAILURES_MAX)
      target.failures.push(failureOf(result, target.failures.length + 1));
    if ((target.shards.get(shard)?.attempt ?? 0) > attempt) return;
    target.shards.set(shard, {
      attempt,
      isFailed,
      isCached: result.cachedLocally || result.executionInfo.cachedRemotely,
      durationSeconds,
      finishedAtMs: startedAtMs === null ? null : startedAtMs + durationSeconds * 1000,
    });
  }

  #runOf(label: string, configuration: string, run: number): TargetRun {
    const key = JSON.stringify([label, configuration, run]);
    const known = this.#runs.get(key);
    if (known) return known;
    const target: TargetRun = { label, configuration, run, shards: new Map(), failures: [], attempts: 1 };
    this.#runs.set(key, target);
    return target;
  }

  #note(trouble: string): void {
    this.#troubleCount++;
    if (this.#troubles.size < TROUBLES_SHOWN_MAX)
      this.#troubles.add(trouble.split('\n', 1)[0]?.slice(0, TROUBLE_LENGTH_MAX) ?? '');
  }

  /** @param cutAtLine where the last event is incomplete */
  finish(cutAtLine: number | null): void {
    let cachedCount = 0;
    for (const target of this.#runs.values()) {
      const summary = this.#summaries.get(keyOf(target.label, target.configuration));
      // Shards and attempts may be missing.
      if (!this.#isEnded && !summary) continue;
      const missing = (summary?.shardCount ?? 1) - target.shards.size;
      if (missing > 0) this.#note(`${target.label} has ${counted(missing, 'shard')} without a result`);
      const ran = [...target.shards.values()].filter(({ isCached }) => !isCached);
      if (ran.length === 0) cachedCount++;
      else this.#add(target, ran);
    }
    if (!this.#isEnded)
      this.report.warnOfBreak(
        cutAtLine === null ? 'is cut short: the build does not end' : `is cut short at line ${cutAtLine}`,
      );
    if (cachedCount > 0)
      this.report.warn(
        `Bazel took the results of ${counted(cachedCount, 'target')} from a cache. They did not run and are not counted; --nocache_test_results runs them.`,
      );
    for (const trouble of this.#troubles) this.report.warnOfTrouble(`${trouble}.`);
    if (this.#troubleCount > this.#troubles.size)
      this.report.warnOfTrouble(
        `The build reports ${counted(this.#troubleCount, 'trouble')}, of which not all are shown.`,
      );
    if (this.#unreadableCount > 0)
      this.report.warnOfTrouble(
        `${counted(this.#unreadableCount, 'test result')} cannot be read: Bazel writes them otherwise.`,
      );
  }

  #add({ label, configuration, run, failures, attempts }: TargetRun, ran: readonly Shard[]): void {
    const isFailed = ran.some((shard) => shard.isFailed);
    const { mnemonic, axes } = this.#configurations.get(configuration) ?? {};
    const times = ran.flatMap(({ finishedAtMs }) => finishedAtMs ?? []);
    this.report.add({
      place: [label, configuration, String(run)],
      name: label,
      status: isFailed ? 'failed' : 'passed',
      durationSeconds: ran.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0),
      finishedAtMs: times.length === 0 ? null : Math.round(times.reduce((latest, time) => Math.max(latest, time))),
      filepath: null,
      function: null,
      isFlaky: !isFailed && failures.length > 0,
      isRetried: attempts > 1,
      failures,
      // Each run of `--runs_per_test` has a record.
      listing: 'repeats',
      home: {
        suites: [],
        file: null,
        project: mnemonic || configuration,
        className: null,
        ownName: label,
      },
      ...(axes && { axes }),
    });
  }
}

const keyOf = (label: string, configuration: string): string => JSON.stringify([label, configuration]);

/** `@@//cart:test` and `@//cart:test` of newer versions are `//cart:test` of the main repository. */
const plainLabel = (label: string): string => label.replace(/^@{1,2}\/\//, '//').slice(0, TOO_LONG_NAME);

/** `k8`, `darwin_arm64`, `x64_windows`, `android-arm64-v8a`: some name the system, too. */
function axesOfCpu(cpu: string): Axes | undefined {
  const parts = cpu.slice(0, CPU_LENGTH_MAX).split(/_(?!64)|-/);
  const first = (read: (text: string) => string | null): string | null =>
    parts.reduce<string | null>((found, part) => found ?? read(part), null);
  return axesFrom({ os: first(osOf), arch: archOf(cpu) ?? first(archOf) });
}

const CPU_LENGTH_MAX = 64;

const startOf = ({ testAttemptStart, testAttemptStartMillisEpoch: millis = 0 }: Result): number | null =>
  parseTimestamp(testAttemptStart) ?? (millis > 0 ? millis : null);

const durationOf = ({ testAttemptDuration, testAttemptDurationMillis: millis = 0 }: Result): number =>
  parseSeconds(testAttemptDuration) || (Number.isFinite(millis) && millis > 0 ? millis / 1000 : 0);

const outputSchema = z.object({ name: z.literal('test.log'), uri: z.string() });
const SAYS: Readonly<Record<string, string>> = {
  TIMEOUT: 'The test timed out.',
  REMOTE_FAILURE: 'The test could not be run remotely.',
};

/** Events have no message of the test: that is in its log, which the stack trace names. */
function failureOf({ status, statusDetails, testActionOutput }: Result, attempt: number): ParsedFailure {
  const outputs = testActionOutput.slice(0, OUTPUTS_MAX).flatMap((output) => outputSchema.safeParse(output).data ?? []);
  return cutFailure({
    attempt,
    type: status === 'FAILED' ? null : status,
    message: statusDetails || (SAYS[status] ?? 'The test failed.'),
    stacktrace: outputs.map(({ uri }) => `test.log: ${uri}`).join('\n') || null,
  });
}
