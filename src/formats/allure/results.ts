/** From a result of Allure to a record. */
import { type Axes, joinedAxes } from '../../domain/axes.ts';
import type { Status } from '../../domain/status.ts';
import { statusOfWord } from '../../domain/status-words.ts';
import { FILES_MAX, type ReportedFile } from '../attachments.ts';
import { axesFrom, environmentAxes, mayTellAxis } from '../environment.ts';
import { epochMs } from '../epoch.ts';
import { cutFailure, type ReportedRecord, TOO_LONG_NAME } from '../report.ts';
import { stableText } from '../stable-text.ts';
import { plainText, typedMessage } from '../typed-message.ts';
import type { Label, Parameter, Result, Step } from './schemas.ts';

const SUITES = ['parentSuite', 'suite', 'subSuite'];
const SEPARATOR = ' › ';
/** A name that ends with a line and a column would change whenever another test does. */
const WITH_LINE = /:\d+:\d+$/;

export const statusOf = ({ status }: Result): Status | undefined => statusOfWord(status ?? '');

/** Empty if the result has neither a full name nor a name. */
export function nameOf({ fullName, name, labels, parameters }: Result): string {
  const full = fullName && !WITH_LINE.test(fullName.slice(-LINE_LENGTH_MAX)) ? fullName : null;
  const own = full ?? (name ? [...SUITES.flatMap((suite) => labelOf(labels, suite) ?? []), name].join(SEPARATOR) : '');
  const shown = own === '' ? [] : (parameters ?? []).flatMap(shownParameter);
  return (shown.length === 0 ? own : `${own.slice(0, TOO_LONG_NAME)}[${shown.join(', ')}]`).slice(0, TOO_LONG_NAME);
}

/** Longer numbers of lines are none. */
const LINE_LENGTH_MAX = 20;

function shownParameter({ name, value, excluded, mode }: Parameter): string[] {
  if (excluded === true || mode === 'hidden' || !name) return [];
  const text = mode === 'masked' ? '***' : stableText(String(value ?? 'null').slice(0, TOO_LONG_NAME));
  return [`${name.slice(0, TOO_LONG_NAME)}=${text}`];
}

export const labelOf = (labels: readonly Label[] | null | undefined, name: string): string | null =>
  labels?.find((label) => label.name === name)?.value || null;

export function recordOf(result: Result, name: string, status: Status): ReportedRecord {
  const startedAtMs = epochMs(result.start);
  const finishedAtMs = epochMs(result.stop) ?? startedAtMs;
  const axes = axesOf(result);
  const durationMs = startedAtMs === null || finishedAtMs === null ? 0 : Math.max(0, finishedAtMs - startedAtMs);
  const stacktrace = plainText(result.statusDetails?.trace);
  const message = plainText(result.statusDetails?.message) ?? stacktrace?.split('\n', 1)[0] ?? null;
  return {
    // With the history: tests that are told apart only by parameters that are not shown.
    place: [name, result.historyId ?? ''],
    name,
    status,
    durationSeconds: durationMs / 1000,
    finishedAtMs,
    filepath: fileOf(result.titlePath ?? []),
    function: labelOf(result.labels, 'testMethod') ?? (result.name || null),
    isFlaky: false,
    isRetried: false,
    failures: status === 'failed' ? [cutFailure({ attempt: 1, ...typedMessage(message), stacktrace })] : [],
    listing: 'attempts',
    historyId: result.historyId || null,
    home: null,
    ...(status === 'failed' && { files: filesOf(result) }),
    ...(axes && { axes }),
  };
}

/** Of the test and its steps, as far as they can be links at all. */
function filesOf({ attachments, steps }: Step): ReportedFile[] {
  const found: ReportedFile[] = [...(attachments ?? [])];
  for (const step of steps ?? []) {
    if (found.length >= FILES_MAX) break;
    found.push(...filesOf(step));
  }
  return found.slice(0, FILES_MAX);
}

/**
 * Labels such as `os`, `browser` and `axis.db`. Hosts and threads tell machines apart, and parameters tests: they are in
 * the name. That of Playwright's project is where the test ran, too.
 */
function axesOf({ labels, parameters }: Result): Axes | undefined {
  const told = new Map<string, string>();
  for (const { name, value } of labels ?? [])
    if (name && value && mayTellAxis(name) && !told.has(name)) told.set(name, value);
  const project = labelOf(labels, 'framework') === 'playwright' && parameters?.find(({ name }) => name === 'Project');
  return joinedAxes(environmentAxes(told), project ? axesFrom({ project: String(project.value ?? '') }) : undefined);
}

/** `['web', 'cart.py', 'Cart']` → the file `cart.py` in the folder `web`; null if none of them looks like a file. */
function fileOf(titles: readonly string[]): string | null {
  const last = titles.findIndex((title) => /^[^\s/]{1,200}\.[a-z]{1,5}$/i.test(title));
  return last < 0 ? null : titles.slice(0, last + 1).join('/');
}
