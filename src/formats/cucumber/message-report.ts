/** From the messages of Cucumber to executions: all attempts of a test case are one. */
import { z } from 'zod';
import { joinedAxes } from '../../domain/axes.ts';
import { FAILURES_MAX } from '../../domain/limits.ts';
import { FILES_MAX, type ReportedFailure, type ReportedFile } from '../attachments.ts';
import { archOf, axesFrom, osOf, runtimeAxes } from '../environment.ts';
import { counted, type Report, type ReportedRecord } from '../report.ts';
import { type FailedStep, failureOf } from './failure.ts';
import type { Message, Messages, Timestamp } from './messages.ts';
import { Outlines, PartCount, type PickleNames } from './outlines.ts';
import { rankOf, statusOf } from './step-status.ts';

const pickleStepSchema = z.object({ id: z.string(), text: z.string() });
const testStepSchema = z.object({ id: z.string(), pickleStepId: z.string() });

interface Pickle extends PickleNames {
  uri: string;
  name: string;
  steps: readonly { id: string; text: string }[];
}

interface TestCase {
  pickle: Pickle;
  steps: readonly { id: string; pickleStepId: string }[];
  /** Failures of attempts that are over. */
  failures: ReportedFailure[];
  attempts: number;
}

/** An attempt that runs. */
interface Attempt {
  testCase: TestCase;
  startedAtMs: number | null;
  rank: number;
  /** The step that decides, so far. */
  worst: FailedStep | null;
  files: ReportedFile[];
}

const LANGUAGES: Readonly<Record<string, string>> = {
  'cucumber-js': 'javascript',
  'cucumber-jvm': 'java',
  'cucumber-ruby': 'ruby',
};
const TROUBLE_LENGTH_MAX = 500;

export class MessageReport {
  readonly #parts = new PartCount();
  readonly #outlines = new Outlines(this.#parts);
  readonly #pickles = new Map<string, Pickle>();
  readonly #testCases = new Map<string, TestCase>();
  readonly #attempts = new Map<string, Attempt>();
  /** Whether a pending step fails is known at the end of the run. */
  readonly #pending: ReportedRecord[] = [];
  #failedCount = 0;
  /** Test cases of which the report does not hold what is needed to name them. */
  #lostCount = 0;
  #unreadableCount = 0;
  #troubleCount = 0;
  #end: Messages['testRunFinished'] | null = null;

  constructor(private readonly report: Report) {
    report.runner = { framework: 'cucumber', frameworkVersion: null, language: null };
  }

  read({ kind, content }: Message): void {
    if (content === null) this.#unreadableCount++;
    else if (kind === 'meta') this.#readMeta(content);
    else if (kind === 'gherkinDocument') this.#outlines.read(content);
    else if (kind === 'pickle') this.#readPickle(content);
    else if (kind === 'testCase') this.#readTestCase(content);
    else if (kind === 'testCaseStarted') this.#start(content);
    else if (kind === 'testStepFinished') this.#readStep(content);
    else if (kind === 'externalAttachment') this.#attach(content);
    else if (kind === 'testCaseFinished') this.#finishAttempt(content);
    else if (kind === 'testRunFinished') this.#end = content;
    else if (kind === 'parseError')
      this.#warnOf(`${content.source?.uri ?? 'A feature'} cannot be read: ${content.message}`);
    else if (rankOf(content.result.status) > rankOf('skipped'))
      this.#warnOf(`A hook of the run failed: ${content.result.message ?? content.result.status}`);
  }

  #readMeta({ implementation: { name, version }, os, cpu, runtime }: Messages['meta']): void {
    this.report.runner = {
      framework: 'cucumber',
      frameworkVersion: version ?? null,
      language: LANGUAGES[name] ?? null,
    };
    this.report.axes = joinedAxes(
      axesFrom({ os: osOf(os.name), arch: archOf(cpu.name) }),
      runtimeAxes(runtime.name, runtime.version),
    );
  }

  #readPickle(pickle: Messages['pickle']): void {
    this.report.count();
    const { id, uri, name } = pickle;
    const steps = pickle.steps.flatMap((step) => {
      this.#parts.add();
      return pickleStepSchema.safeParse(step).data ?? [];
    });
    this.#pickles.set(id, { uri, name, steps, ...this.#outlines.namesOf(pickle) });
  }

  #readTestCase({ id, pickleId, testSteps }: Messages['testCase']): void {
    const pickle = this.#pickles.get(pickleId);
    if (!pickle) {
      this.#lostCount++;
      return;
    }
    const steps = testSteps.flatMap((step) => {
      this.#parts.add();
      return testStepSchema.safeParse(step).data ?? [];
    });
    this.#testCases.set(id, { pickle, steps, failures: [], attempts: 0 });
  }

  #start({ id, testCaseId, timestamp }: Messages['testCaseStarted']): void {
    const testCase = this.#testCases.get(testCaseId);
    if (!testCase) return;
    testCase.attempts++;
    const startedAtMs = millisOf(timestamp);
    if (startedAtMs !== null) this.report.noticeTime(startedAtMs);
    this.#attempts.set(id, { testCase, startedAtMs, rank: rankOf('passed'), worst: null, files: [] });
  }

  #readStep({ testCaseStartedId, testStepId, testStepResult: result }: Messages['testStepFinished']): void {
    const attempt = this.#attempts.get(testCaseStartedId);
    const rank = rankOf(result.status);
    if (!attempt || rank <= attempt.rank) return;
    const { steps, pickle } = attempt.testCase;
    const pickleStepId = steps.find(({ id }) => id === testStepId)?.pickleStepId;
    attempt.rank = rank;
    attempt.worst = { result, step: pickle.steps.find(({ id }) => id === pickleStepId)?.text ?? null };
  }

  #attach({ url, mediaType, testCaseStartedId = '' }: Messages['externalAttachment']): void {
    const files = this.#attempts.get(testCaseStartedId)?.files;
    if (files && files.length < FILES_MAX && url !== '') files.push({ path: url, type: mediaType });
  }

  #finishAttempt({ testCaseStartedId, timestamp, willBeRetried }: Messages['testCaseFinished']): void {
    const attempt = this.#attempts.get(testCaseStartedId);
    if (!attempt) return;
    this.#attempts.delete(testCaseStartedId);
    const { testCase, worst, startedAtMs } = attempt;
    const status = statusOf(attempt.rank);
    const isFailure = status === 'failed' || status === 'pending';
    // One more than is kept, so that the receipt says that there were more.
    if (isFailure && worst && testCase.failures.length <= FAILURES_MAX)
      testCase.failures.push({ ...failureOf(worst, testCase.attempts), files: attempt.files });
    if (willBeRetried) return;
    const finishedAtMs = millisOf(timestamp);
    const tookMs = startedAtMs === null || finishedAtMs === null ? 0 : Math.max(0, finishedAtMs - startedAtMs);
    const record = recordOf(testCase, status === 'pending' ? 'failed' : status, tookMs / 1000, finishedAtMs);
    if (status === 'pending') this.#pending.push(record);
    else this.#add(record);
  }

  #add(record: ReportedRecord): void {
    if (record.status === 'failed') this.#failedCount++;
    this.report.add(record);
  }

  #warnOf(sentence: string): void {
    this.#troubleCount++;
    this.report.warnOfTrouble(sentence.split('\n', 1)[0]?.slice(0, TROUBLE_LENGTH_MAX) ?? '');
  }

  /** @param cutAtLine where the last message is incomplete */
  finish(cutAtLine: number | null): void {
    const isAccepted = this.#end?.success === true;
    for (const record of this.#pending) this.#add(isAccepted ? { ...record, status: 'skipped' } : record);
    if (cutAtLine !== null) this.report.warnOfBreak(`is cut short at line ${cutAtLine}`);
    else if (this.#end === null) this.report.warnOfBreak('is cut short: the run does not end');
    else if (this.#attempts.size > 0)
      this.report.warnOfTrouble(`${counted(this.#attempts.size, 'scenario')} did not end, and so do not count.`);
    else if (this.#end.success === false && this.#failedCount + this.#troubleCount === 0)
      this.report.warnOfTrouble('The run failed, and none of its scenarios did.');
    if (this.#lostCount > 0)
      this.report.warnOfTrouble(
        `${counted(this.#lostCount, 'test case')} cannot be named: the report does not hold the scenario.`,
      );
    if (this.#unreadableCount > 0)
      this.report.warnOfTrouble(
        `${counted(this.#unreadableCount, 'message')} cannot be read: Cucumber writes them otherwise.`,
      );
  }
}

function recordOf(
  { pickle, failures, attempts }: TestCase,
  status: ReportedRecord['status'],
  durationSeconds: number,
  finishedAtMs: number | null,
): ReportedRecord {
  const { uri, feature, scenario } = pickle;
  return {
    place: [uri, scenario],
    name: `${feature}.${scenario}`,
    status,
    durationSeconds,
    finishedAtMs: finishedAtMs === null ? null : Math.round(finishedAtMs),
    filepath: uri || null,
    function: pickle.name || null,
    isFlaky: status === 'passed' && failures.length > 0,
    isRetried: attempts > 1,
    failures,
    // All attempts are in one record.
    listing: 'never',
    home: { suites: [], file: uri || null, project: null, className: feature, ownName: scenario },
  };
}

const millisOf = (timestamp: Timestamp | undefined): number | null =>
  timestamp && Number.isFinite(timestamp.seconds) ? timestamp.seconds * 1000 + timestamp.nanos / 1_000_000 : null;
