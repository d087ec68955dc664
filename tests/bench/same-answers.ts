/** Whether the floor answers what the service answers: a sample of each read, in a shape that both can give. */
import type { Floor } from './floor.ts';
import { STATEMENTS, valuesOf } from './floor-reads.ts';
import { pathsOf, READS, type Read, type Targets } from './reads.ts';
import type { BenchService } from './service.ts';

const SAMPLE = 40;

type Json = Record<string, unknown>;

export interface Sample {
  read: Read;
  place: number;
  path: string;
  askedAt: number;
  answer: Json;
}

/** Answers of the service. Nothing may be ingested until the same data are in the floor. */
export async function sampleAnswers(service: BenchService, targets: Targets): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const read of READS) {
    for (const [place, path] of pathsOf(read, targets).slice(0, SAMPLE).entries()) {
      const response = await service.request(path);
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      samples.push({ read, place, path, askedAt: Date.now(), answer: (await response.json()) as Json });
    }
  }
  return samples;
}

/** Throws at the first answer that differs. Returns how many were compared. */
export async function compareAnswers(floor: Floor, samples: readonly Sample[], targets: Targets): Promise<number> {
  for (const { read, place, path, askedAt, answer } of samples) {
    const rows = await floor.rows(STATEMENTS[read], valuesOf(read, targets, askedAt)[place] ?? []);
    const ours = ofService(read, answer);
    const theirs = ofFloor(read, rows);
    if (!(read === 'stats' ? areNear(ours as Point[], theirs as Point[]) : Bun.deepEquals(ours, theirs)))
      throw new Error(`${path}: the service answers ${JSON.stringify(ours)}, PostgreSQL ${JSON.stringify(theirs)}`);
  }
  return samples.length;
}

/** Fields that the floor knows: health and flakiness are judgements, which no statement on raw rows gives. */
const DETAILS = [
  'test_name',
  'last_conclusion',
  'failure_ratio',
  'success_ratio',
  'first_failure_commit',
  'test_framework',
  'test_framework_version',
  'test_programming_language',
  'test_filepath',
];
const FOUND = ['test_id', 'test_name', 'pipeline_name', 'job_name'];
const FAILURE = ['id', 'failure_count', 'exception_type', 'exception_message'];
const EXECUTIONS = ['pipeline_name', 'job_name', 'executions_count'];

const only = (row: Json, names: readonly string[]): Json => Object.fromEntries(names.map((name) => [name, row[name]]));
const listIn = (answer: Json, name: string): Json[] => answer[name] as Json[];
const timeOf = (moment: unknown): number | null => (typeof moment === 'string' ? Date.parse(moment) : null);
type Point = [at: number, value: number];
/** Means are of single-precision numbers, added in another order. */
const areNear = (ours: readonly Point[], theirs: readonly Point[]): boolean =>
  ours.length === theirs.length &&
  ours.every(([at, value], i) => {
    const [otherAt, other = Number.NaN] = theirs[i] ?? [];
    return at === otherAt && Math.abs(value - other) <= 1e-4 * value;
  });

function ofService(read: Read, answer: Json): unknown {
  switch (read) {
    case 'details':
      return {
        ...only(answer, DETAILS),
        times: ['first_failure_at', 'last_failure_at', 'last_success_at'].map((name) => timeOf(answer[name])),
      };
    case 'failures':
      return listIn(answer, 'failures').map((group) => ({
        ...only(group, FAILURE),
        times: [timeOf(group.first_failure_at), timeOf(group.last_failure_at)],
      }));
    case 'exact':
    case 'pattern':
    case 'part':
    case 'all':
      return listIn(answer, 'tests').map((one) => only(one, FOUND));
    case 'stats':
      // Buckets without executions are 0, and the floor has none.
      return listIn(answer, 'value_over_time')
        .map(({ start, value }) => [timeOf(start), Number(value)])
        .filter(([, value]) => value !== 0);
    case 'executions':
      return listIn(answer, 'executions').map((one) => only(one, EXECUTIONS));
  }
}

function ofFloor(read: Read, rows: readonly Json[]): unknown {
  switch (read) {
    case 'details': {
      const row = rows[0] ?? {};
      return { ...only(row, DETAILS), times: [row.first_failure_ms, row.last_failure_ms, row.last_success_ms] };
    }
    case 'failures':
      return rows.map((row) => ({ ...only(row, FAILURE), times: [row.first_ms, row.last_ms] }));
    case 'exact':
    case 'pattern':
    case 'part':
    case 'all':
      return rows.map((row) => only(row, FOUND));
    case 'stats':
      return rows.map(({ start_ms, value }) => [start_ms, Number(value)]).filter(([, value]) => value !== 0);
    case 'executions':
      return rows.map((row) => only(row, EXECUTIONS));
  }
}
