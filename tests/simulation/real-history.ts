/**
 * A real history of CI results: tab-separated, gzipped, in order of time, with the columns `finished_at`, `commit`,
 * `run_id`, `suite`, `test`, `file`, `status` and `message` (escaped as HTML, then `\t \n \r \\`).
 */
import { gunzipSync } from 'bun';
import { DAY_MS } from '../../src/domain/time.ts';
import type { Run, Trouble } from './history.ts';

export interface RealHistory {
  /** One run for each run of the provider and suite, in order of time; no two at the same moment. */
  runs: Run[];
  /** By identity: the test and the suite it runs in. */
  identities: { test: string; suite: string }[];
  executions: number;
}

type GrowingRun = Run & { identities: number[]; troubles: Map<number, Trouble> };

export async function readRealHistory(path: string): Promise<RealHistory> {
  const text = new TextDecoder().decode(gunzipSync(await Bun.file(path).bytes()));
  const identities: RealHistory['identities'] = [];
  const numbers = new Map<string, number>();
  const suites = new Map<string, number>();
  const runs = new Map<string, GrowingRun>();
  let executions = 0;
  for (const line of text.split('\n').slice(1)) {
    const [finishedAt = '', commit = '', runId = '', suite = '', test = '', , status = '', message = ''] =
      line.split('\t');
    if (test === '' || test === 'collection failure' || status === 'skipped') continue;
    const name = `${suite}\0${test}`;
    const identity = numbers.get(name) ?? identities.push({ test, suite }) - 1;
    numbers.set(name, identity);
    const job = suites.get(suite) ?? suites.size;
    suites.set(suite, job);
    const key = `${runId}\0${suite}`;
    const at = Date.parse(finishedAt);
    const run: GrowingRun = runs.get(key) ?? {
      id: runId,
      attempt: 1,
      job,
      commit,
      isDefaultBranch: true,
      at,
      identities: [],
      troubles: new Map(),
    };
    runs.set(key, run);
    run.identities.push(identity);
    if (status === 'failed') run.troubles.set(identity, { message: unescaped(message), isPassedOnRetry: false });
    executions++;
  }
  const inOrder = [...runs.values()].sort((a, b) => a.at - b.at);
  spread(inOrder);
  return { runs: inOrder, identities, executions };
}

/** The file has one time for all CI jobs of a workflow. In the world, one finishes after another: here, a millisecond later. */
function spread(runs: readonly GrowingRun[]): void {
  let last = 0;
  for (const run of runs) {
    run.at = Math.max(run.at, last + 1);
    last = run.at;
  }
}

/** The first days of it. */
export function firstDays({ runs, identities }: RealHistory, days: number): RealHistory {
  const until = dayOf(runs[0]?.at ?? 0) + days;
  const within = runs.filter(({ at }) => dayOf(at) < until);
  return { runs: within, identities, executions: within.reduce((sum, run) => sum + run.identities.length, 0) };
}

/** The identities of each test: it runs in several suites. */
export const legsOf = ({ identities }: RealHistory): number[][] => [
  ...Map.groupBy(identities.keys(), (identity) => identities[identity]?.test).values(),
];

export interface Day {
  /** Since 1970. */
  day: number;
  runs: readonly Run[];
}

/** From the day of the first run to the day of the last, those without a run among them. */
export function daysOf({ runs }: RealHistory): Day[] {
  const byDay = Map.groupBy(runs, ({ at }) => dayOf(at));
  const first = dayOf(runs[0]?.at ?? 0);
  const count = runs.length === 0 ? 0 : dayOf(runs.at(-1)?.at ?? 0) - first + 1;
  return Array.from({ length: count }, (_, i) => ({ day: first + i, runs: byDay.get(first + i) ?? [] }));
}

const dayOf = (at: number): number => Math.floor(at / DAY_MS);

/**
 * Adds the passes that the format leaves out: on a day on which no line names a test, it passed in each run of its suites,
 * from the first line that names it there on.
 */
export function addQuietDays(history: RealHistory): void {
  const { runs, identities } = history;
  const named = new Set<string>();
  const nameOf = (test: string | undefined, at: number): string => `${dayOf(at)}/${test}`;
  for (const run of runs)
    for (let i = 0; i < run.identities.length; i++)
      named.add(nameOf(identities[run.identities[i] as number]?.test, run.at));
  const known = new Map<number, Set<number>>();
  for (const run of runs as GrowingRun[]) {
    const ofSuite = known.get(run.job) ?? new Set();
    known.set(run.job, ofSuite);
    const listed = [...run.identities];
    for (const identity of ofSuite) {
      if (named.has(nameOf(identities[identity]?.test, run.at))) continue;
      run.identities.push(identity);
      history.executions++;
    }
    for (const identity of listed) ofSuite.add(identity);
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\t': '\t', '\\n': '\n', '\\r': '\r', '\\\\': '\\' };
const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };

const unescaped = (text: string): string =>
  text
    .replace(/\\[tnr\\]/g, (code) => ESCAPES[code] ?? code)
    .replace(/&(?:lt|gt|quot|amp);|&#x27;|&#39;/g, (entity) => ENTITIES[entity] ?? "'");
