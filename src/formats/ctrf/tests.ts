/** From a test of a CTRF report to a record. */
import type { Home } from '../../domain/namesakes.ts';
import type { Status } from '../../domain/status.ts';
import { statusOfWord } from '../../domain/status-words.ts';
import type { ReportedFailure } from '../attachments.ts';
import { epochMs } from '../epoch.ts';
import { boundedPath, type NamePath } from '../path.ts';
import { cutFailure, type ReportedRecord, TOO_LONG_NAME } from '../report.ts';
import { plainText, typedMessage } from '../typed-message.ts';
import { axesOfTest } from './axes.ts';
import type { Attempt, CtrfTest } from './schemas.ts';

const SEPARATOR = ' › ';
/** More suites around a test are not looked for in its name. */
const SUITES_MAX = 20;
/** Between the names of suites within the name of a test, as runners write it. */
const BETWEEN = /[\s.:>›/#-]{0,5}/y;

/** Undefined for a status that is not known. Of `other`, the word of the runner tells more. */
export const statusOf = ({ status, rawStatus }: CtrfTest): Status | undefined =>
  status === 'other' ? statusOfWord(rawStatus ?? '') : statusOfWord(status);

/** The reporter of Vitest writes the full name of the test in the place of its suites. */
export const withoutItself = (test: CtrfTest, tool: string | null): CtrfTest =>
  tool === 'vitest' && test.suite?.join(' > ') === test.name ? { ...test, suite: test.suite.slice(0, -1) } : test;

/** @param before the suites of the test before this one, which most tests share */
export function recordOf(test: CtrfTest, status: Status, before: NamePath): ReportedRecord & { home: Home } {
  const suites = (test.suite ?? []).filter((name) => name !== '');
  const name = nameOf(test.name, suites);
  const bounded = boundedPath(suites);
  const path = bounded.length === before.length && bounded.every((one, i) => one === before[i]) ? before : bounded;
  const durationMs = Math.max(0, test.duration ?? 0);
  const startedAtMs = epochMs(test.start);
  const attempts = earlierAttempts(test);
  const isRetried = (test.retries ?? 0) > 0 || attempts.length > 0 || test.flaky === true;
  const hasFailedBefore = attempts.some(isFailed) || (test.flaky ?? (test.retries ?? 0) > 0);
  const axes = axesOfTest(test);
  const failed: (CtrfTest | Attempt)[] = [...attempts.filter(isFailed), ...(status === 'failed' ? [test] : [])];
  return {
    place: [path, test.filePath ?? '', test.browser ?? '', test.name],
    name,
    status,
    durationSeconds: durationMs / 1000,
    finishedAtMs: epochMs(test.stop) ?? (startedAtMs === null ? null : Math.round(startedAtMs + durationMs)),
    filepath: test.filePath || null,
    function: test.name || null,
    isFlaky: status === 'passed' && hasFailedBefore,
    isRetried,
    failures: failed.map((one, i) => failureOf(i + 1, one)),
    listing: 'attempts',
    home: { suites: path, file: test.filePath || null, project: test.browser || null, className: null, ownName: name },
    ...(axes && { axes }),
  };
}

/** The suites that the name does not begin with, and the name: some reporters write full names, some do not. */
function nameOf(name: string, suites: readonly string[]): string {
  const own = name.slice(0, TOO_LONG_NAME);
  const first =
    suites.length > SUITES_MAX ? suites.length : suites.findIndex((_, i) => beginsWith(own, suites.slice(i)));
  const prefix = first < 0 ? suites : suites.slice(0, first);
  return [...prefix, own].join(SEPARATOR).slice(0, TOO_LONG_NAME);
}

function beginsWith(name: string, suites: readonly string[]): boolean {
  let at = 0;
  for (const suite of suites) {
    if (!name.startsWith(suite, at)) return false;
    BETWEEN.lastIndex = at + suite.length;
    at += suite.length + (BETWEEN.exec(name)?.[0].length ?? 0);
  }
  // A test with the name of its suite is in it all the same.
  return at < name.length;
}

/** Without the last one, which is the test itself, where a reporter lists it as well. */
function earlierAttempts({ retryAttempts, retries }: CtrfTest): readonly Attempt[] {
  const attempts = retryAttempts ?? [];
  return attempts.length > 0 && attempts.length === (retries ?? Number.NaN) + 1 ? attempts.slice(0, -1) : attempts;
}

const isFailed = ({ status }: Attempt): boolean => statusOfWord(status ?? '') === 'failed';

function failureOf(attempt: number, { message, trace, attachments }: Attempt): ReportedFailure {
  const stacktrace = plainText(trace);
  const text = plainText(message) ?? stacktrace?.split('\n', 1)[0] ?? null;
  return { ...cutFailure({ attempt, ...typedMessage(text), stacktrace }), ...(attachments && { files: attachments }) };
}
