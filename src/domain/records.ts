/**
 * From the records of a report to executions, for every format and for `gate` alike. docs/executions.md says it in words.
 *
 * A *record* is one entry of a report about a test. A parser tells which records it saw, and how their runner lists a
 * test more than once; what they are is decided here:
 *
 * - an *attempt*: the runner ran a failed test again in the same run, so both records are one execution
 * - a *repeat*: the runner ran a test again although it need not, so each record is an execution
 * - a *namesake*: another test with the same name
 *
 * Records with different axes are of different legs: nothing of one is an attempt, a repeat or a namesake of another.
 */
import { type Axes, axesText } from './axes.ts';
import type { FailureRow } from './columns.ts';
import { groupedBy } from './grouped-by.ts';
import { FAILURES_MAX } from './limits.ts';
import { type Home, homeKey, namesOf } from './namesakes.ts';
import type { Status } from './status.ts';

/**
 * How a runner lists a test more than once in one place of a report:
 *
 * - `never`: the same name there is a namesake
 * - `attempts`: a failed test, run again, is listed once for each attempt; of an unknown runner we expect the same
 * - `reruns`: every record before the last is a failed attempt, even if it does not say so
 * - `repeats`: each record is an execution, unless it belongs to a later round and the test failed in an earlier one
 */
export type Listing = 'never' | 'attempts' | 'reruns' | 'repeats';

/** How a record relates to the one before it of the same test. */
export type Part =
  | 'whole'
  /** More about the same attempt, such as an error after a failure. */
  | 'addition'
  /** A failed attempt if another record follows, whatever its status says. */
  | 'attempt';

export interface TestRecord {
  name: string;
  status: Status;
  durationSeconds: number;
  /** Milliseconds since the epoch; null if not known. */
  finishedAtMs: number | null;
  isFlaky: boolean;
  isRetried: boolean;
  failures: FailureRow[];
  listing: Listing;
  part: Part;
  /** Counts the times that the runner began again within the report. */
  round: number;
  /** Null where no other test of the report can have the name. */
  home: Home | null;
  /** Name its leg. */
  axes?: Axes;
}

export interface Settled<R> {
  /** In no order. */
  executions: R[];
  /** Names that stood in several homes; each of these tests has its own name now. */
  renamed: string[];
  /** Names of several tests in one place, of which one failed: they are one execution. */
  joined: string[];
}

/** The executions of which all records of a report tell. */
export function settled<R extends TestRecord>(records: readonly R[]): Settled<R> {
  const byName = groupedBy(records, ({ name }) => name);
  const result: Settled<R> = { executions: [], renamed: [], joined: [] };
  for (const [name, namesakes] of byName) {
    const places = placesOf(namesakes);
    const homes = places.flatMap(([first]) => first?.home ?? []);
    const isRenamed = homes.length > 1 && (haveProjects(homes) || isTwiceInLeg(places));
    const names = isRenamed ? namesOf(name, homes) : [name];
    if (isRenamed) result.renamed.push(name);
    const joined = new Set<string>();
    for (const [leg, i] of places.flatMap((place, i) => legsOf(place).map((one) => [one, i] as const))) {
      const { executions, areNamesakes } = executionsOf(leg);
      const own = names[i] ?? name;
      if (areNamesakes) joined.add(own);
      for (const execution of executions)
        result.executions.push(own === name ? execution : { ...execution, name: own });
    }
    result.joined.push(...joined);
  }
  return result;
}

/** A project has always been in the names of tests that differ by it. */
const haveProjects = (homes: readonly Home[]): boolean => new Set(homes.map(({ project }) => project)).size > 1;

/** Whether one leg has the name in several homes. If each has it in one, that is where they ran, not another test. */
function isTwiceInLeg(places: readonly TestRecord[][]): boolean {
  const legs = places.flatMap((place) => legsOf(place).map(([first]) => axesText(first?.axes)));
  return new Set(legs).size < legs.length;
}

function legsOf<R extends TestRecord>(records: R[]): R[][] {
  const [first] = records;
  if (records.every(({ axes }) => axes === first?.axes)) return [records];
  return [...groupedBy(records, ({ axes }) => axesText(axes)).values()];
}

function placesOf<R extends TestRecord>(records: R[]): R[][] {
  if (records.length === 1) return [records];
  return [...groupedBy(records, ({ home }) => (home === null ? '' : homeKey(home))).values()];
}

interface Executions<R> {
  /** Fewer than the records if some are attempts, or namesakes that do not agree. */
  executions: R[];
  /** Several tests with one name, of which one failed: they are one execution. */
  areNamesakes: boolean;
}

/** The executions of one test in one place, in the order of the report. */
function executionsOf<R extends TestRecord>(records: readonly R[]): Executions<R> {
  const whole = withAdditions(records);
  const listing = whole[0]?.listing;
  if (whole.length < 2) return { executions: whole, areNamesakes: false };
  if (listing === 'repeats') return { executions: roundsOf(whole), areNamesakes: false };
  if (listing === 'reruns' || (listing === 'attempts' && isRetry(whole)))
    return { executions: [afterAttempts(whole)], areNamesakes: false };
  const joined = joinedNamesakes(whole);
  return joined ? { executions: [joined], areNamesakes: true } : { executions: whole, areNamesakes: false };
}

function withAdditions<R extends TestRecord>(records: readonly R[]): R[] {
  const whole: R[] = [];
  for (const record of records) {
    const before = whole.at(-1);
    if (record.part !== 'addition' || !before) whole.push(record);
    else {
      const status = record.status === 'failed' ? record.status : before.status;
      whole[whole.length - 1] = { ...before, status, failures: numbered([before, record]) };
    }
  }
  return whole;
}

/** Only a test that failed is run again, and the last attempt decides. */
const isRetry = (records: readonly TestRecord[]): boolean =>
  records.at(-1)?.status !== 'skipped' && records.slice(0, -1).every(isFailedAttempt);

const isFailedAttempt = ({ status, part }: TestRecord): boolean => status === 'failed' || part === 'attempt';

/** The last attempt, with the failures of all. Its time is its own: a sum would say how often it failed. */
function afterAttempts<R extends TestRecord>(records: readonly R[]): R {
  const last = records.at(-1) as R;
  if (records.length === 1) return last;
  const isFlaky = last.isFlaky || last.status === 'passed';
  return { ...last, isFlaky, isRetried: true, failures: numbered(records) };
}

/**
 * Namesakes of which none failed stay what they are. Otherwise the test failed: as executions of one test they would make
 * it pass and fail in one run, as a flaky test does.
 */
function joinedNamesakes<R extends TestRecord>(records: readonly R[]): R | null {
  const failed = records.filter(({ status }) => status === 'failed');
  const [first] = failed;
  if (!first) return null;
  const times = records.flatMap(({ finishedAtMs }) => finishedAtMs ?? []);
  return {
    ...first,
    durationSeconds: records.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0),
    finishedAtMs: times.length === 0 ? null : times.reduce((latest, time) => Math.max(latest, time)),
    failures: numbered(failed),
  };
}

/** A later round continues what failed in earlier ones, in its order. */
function roundsOf<R extends TestRecord>(records: readonly R[]): R[] {
  const executions: R[] = [];
  /** Indexes of what failed in earlier rounds, and in this one. */
  const failedBefore: number[] = [];
  const failedNow: number[] = [];
  let round = records[0]?.round;
  for (const record of records) {
    if (record.round !== round) failedBefore.push(...failedNow.splice(0));
    round = record.round;
    const continued = record.status === 'skipped' ? undefined : failedBefore.shift();
    const before = continued === undefined ? undefined : executions[continued];
    const index = continued ?? executions.length;
    executions[index] = before ? afterAttempts([before, record]) : record;
    if (record.status === 'failed') failedNow.push(index);
  }
  return executions;
}

/** One more than is kept, so that the receipt says that there were more. */
const numbered = (records: readonly TestRecord[]): FailureRow[] =>
  records
    .flatMap(({ failures }) => failures)
    .slice(0, FAILURES_MAX + 1)
    .map((failure, index) => ({ ...failure, attempt: index + 1 }));
