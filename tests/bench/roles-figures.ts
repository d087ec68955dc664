/** The figures of the roles as separate processes: of the whole run, and of each part of it, so that a drift shows. */
import { quantile } from './quantile.ts';
import { type Figure, figure, type Goal, tableByName, tableOf } from './report.ts';
import type { SentEvent } from './roles-send.ts';

const MIB = 2 ** 20;
const WINDOWS = 6;
const LAG_SECONDS_MAX = 2;

export const KINDS = {
  sender: /roles-send/,
  parsers: /parsing\/process/,
  clickhouse: /clickhouse-real\/main/,
  redis: /redis-server/,
  apis: /cli\.ts serve/,
  workers: /cli\.ts worker/,
  postgres: /postgres/,
};
/** What the table of the windows shows. The sender and the benchmark itself are no part of the service. */
const SERVED = ['apis', 'parsers', 'workers', 'postgres', 'clickhouse', 'redis'] as const;
type Served = (typeof SERVED)[number];

type Kind = keyof typeof KINDS | 'other';

export interface Sample {
  /** Milliseconds since the sender started. */
  at: number;
  /** Jobs in the queue. */
  jobs: number;
  /** Parts of blocks that are stored and not evaluated yet. */
  parts: number;
  /** Notes that evidence or judgements of a repository are stale. */
  unjudged: number;
  /** Bytes. */
  memory: Partial<Record<Kind, number>>;
  /** Seconds until now. */
  processor: Partial<Record<Kind, number>>;
}

type Event<K extends SentEvent['kind']> = Extract<SentEvent, { kind: K }>;

/** The events of the run, by kind. */
export interface Happened {
  taken: Event<'taken'>[];
  refused: Event<'refused'>[];
  stored: Event<'stored'>[];
  unread: Event<'unread'>[];
}

const seconds = (events: readonly { ms: number }[], q: number): number =>
  quantile(
    events.map(({ ms }) => ms / 1_000),
    q,
  );
export const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** The whole run, or a part of it. */
function lagFigures(name: string, { taken, refused, stored }: Omit<Happened, 'unread'>, goal: Goal = {}): Figure[] {
  return [
    figure(`${name}.answered_p99`, seconds(taken, 0.99), 's'),
    figure(`${name}.refused`, refused.length, ''),
    figure(`${name}.lag_p50`, seconds(stored, 0.5), 's'),
    figure(`${name}.lag_p95`, seconds(stored, 0.95), 's', goal),
    figure(`${name}.lag_p99`, seconds(stored, 0.99), 's'),
  ];
}

/** As 2:30. A name has no points but the one before what is measured. */
function minutes(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** A part of the run: what arrived in it, the most that waited, the most memory and the processors that each kind took. */
function windowFigures(happened: Happened, samples: readonly Sample[], from: number, to: number): Figure[] {
  const isIn = ({ at }: { at: number }): boolean => at >= from && at < to;
  const inside = samples.filter(isIn);
  const most = (of: (sample: Sample) => number): number => Math.max(0, ...inside.map(of));
  const mebibytes = (kinds: readonly Served[]): number =>
    most(({ memory }) => sum(kinds.map((kind) => memory[kind] ?? 0))) / MIB;
  const cores = (kinds: readonly Served[]): number => sum(kinds.map((kind) => coresOf(kind, inside)));
  const name = `${minutes(from)} to ${minutes(to)}`;
  const taken = happened.taken.filter(isIn);
  const mostJobs = most(({ jobs }) => jobs);
  const mostParts = most(({ parts }) => parts);
  const mostUnjudged = most(({ unjudged }) => unjudged);
  return [
    figure(`${name}.rate`, (sum(taken.map(({ executions }) => executions)) * 1_000) / (to - from), ''),
    ...lagFigures(name, { taken, refused: happened.refused.filter(isIn), stored: happened.stored.filter(isIn) }),
    figure(`${name}.jobs`, mostJobs, ''),
    figure(`${name}.parts`, mostParts, ''),
    figure(`${name}.unjudged`, mostUnjudged, ''),
    ...[...SERVED.map((kind) => [kind] as const), SERVED].flatMap((kinds) => {
      const of = kinds.length === 1 ? kinds[0] : 'together';
      return [figure(`${name}.${of}_memory`, mebibytes(kinds), ''), figure(`${name}.${of}_cores`, cores(kinds), '')];
    }),
  ];
}

/** How many processors it kept busy between the first and the last of these samples. */
function coresOf(kind: Served, samples: readonly Sample[]): number {
  const [from, to] = [samples.at(0), samples.at(-1)];
  if (!from || !to || from === to) return 0;
  return (((to.processor[kind] ?? 0) - (from.processor[kind] ?? 0)) * 1_000) / (to.at - from.at);
}

/** Processor seconds per million executions, from the first upload until all is evaluated. */
export function processorFigures(from: Sample, to: Sample, executions: number): Figure[] {
  const each = SERVED.map((kind) => ((to.processor[kind] ?? 0) - (from.processor[kind] ?? 0)) / (executions / 1e6));
  return [
    ...SERVED.map((kind, i) => figure(`processor_seconds_per_million.${kind}`, each[i] ?? 0, 's')),
    figure('processor_seconds_per_million.all', sum(each), 's'),
  ];
}

/** For each part of the run, and for all of it. */
export function windowsFigures(happened: Happened, samples: readonly Sample[], ms: number): Figure[] {
  const each = Array.from({ length: WINDOWS }, (_, i) =>
    windowFigures(happened, samples, (i * ms) / WINDOWS, ((i + 1) * ms) / WINDOWS),
  );
  return [...each.flat(), ...lagFigures('all', happened, { atMost: LAG_SECONDS_MAX })];
}

const LAG_COLUMNS = {
  rate: 'executions a second',
  answered_p99: 'answered: 99th',
  refused: 'refused',
  lag_p50: 'lag: median',
  lag_p95: '95th',
  lag_p99: '99th',
  jobs: 'jobs that wait',
  parts: 'parts',
  unjudged: 'to be judged',
};
const columnsOf = (what: 'memory' | 'cores'): Record<string, string> =>
  Object.fromEntries([...SERVED, 'together'].map((kind) => [`${kind}_${what}`, kind]));
const MEMORY_COLUMNS = columnsOf('memory');
const CORES_COLUMNS = columnsOf('cores');
const IN_A_WINDOW = new Set([LAG_COLUMNS, MEMORY_COLUMNS, CORES_COLUMNS].flatMap((columns) => Object.keys(columns)));

/** How late it is in each part of the run, what each kind of process takes in it, and all other figures. */
export function rolesTablesOf(figures: readonly Figure[]): Record<'lag' | 'memory' | 'cores' | 'others', string> {
  const ofWindows = figures.filter(({ name }) => !name.startsWith('all.'));
  return {
    lag: tableByName(figures, 'minutes', LAG_COLUMNS),
    memory: tableByName(ofWindows, 'minutes', MEMORY_COLUMNS),
    cores: tableByName(ofWindows, 'minutes', CORES_COLUMNS),
    others: tableOf(figures.filter(({ name }) => !IN_A_WINDOW.has(name.split('.')[1] ?? ''))),
  };
}
