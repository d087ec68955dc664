import { describe, expect, test } from 'bun:test';
import { makeJobs } from '../bench/data.ts';
import { answerIn } from '../bench/http-answer.ts';
import { kindOf } from '../bench/memory.ts';
import { latencyOf, quantile } from '../bench/quantile.ts';
import { figure, linesOf, tableOf, withFloors } from '../bench/report.ts';
import { rolesTablesOf, windowsFigures } from '../bench/roles-figures.ts';

describe('the benchmark', () => {
  test('a quantile is a value of the list, whatever its order', () => {
    const values = Array.from({ length: 100 }, (_, i) => (i * 37) % 100);
    expect(quantile(values, 0.5)).toBe(50);
    expect(quantile(values, 0.99)).toBe(99);
    expect(quantile([7], 0.99)).toBe(7);
    expect(latencyOf([1, 2, 3, 4], 2)).toEqual({ perSecond: 2, median: 3, p99: 4 });
  });

  test('a figure says whether its goal is reached, and shows its floors', () => {
    const figures = [
      figure('details.64_connections', 2_999.6, '/s', { atLeast: 3_000 }),
      figure('details.median', 2, 'ms', { atMost: 2 }),
      figure('identities', 12, ''),
    ];
    expect(figures.map(({ reached }) => reached)).toEqual([false, true, null]);
    const [first, ...others] = withFloors(figures, new Map([['details.median', { postgres: 1.23456, bare: 0.1 }]]));
    expect(first?.postgres).toBeNull();
    expect(others[0]).toMatchObject({ postgres: 1.235, bare: 0.1 });
    const table = tableOf([figures[0] as (typeof figures)[0], ...others]).split('\n');
    expect(table).toHaveLength(5);
    expect(table[2]).toContain('**no**');
    expect(table[3]).toContain('| 1.235 ');
    expect(
      linesOf(figures)
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(figures);
  });

  test('an answer is read when it is complete, and what follows it is kept', () => {
    const bytes = Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 3\r\nx: y\r\n\r\nabcHTTP');
    expect(answerIn(bytes.subarray(0, 20))).toBeUndefined();
    expect(answerIn(bytes.subarray(0, -5))).toBeUndefined();
    const answer = answerIn(bytes);
    expect(answer).toMatchObject({ status: 404, bytes: bytes.length - 4 });
    expect(Buffer.from(answer?.rest ?? []).toString()).toBe('HTTP');
  });

  test('the data are the same for a seed, and another for another', () => {
    const source = {
      seed: 3,
      executions: 250,
      tests: 40,
      repositories: 2,
      chunk: 100,
      now: Date.UTC(2026, 0, 1),
      days: 5,
      isEachTest: false,
    };
    const jobs = [...makeJobs(source)];
    expect(jobs.map(({ executions }) => executions.name.length)).toEqual([100, 100, 50]);
    expect([...makeJobs(source)]).toEqual(jobs);
    expect([...makeJobs({ ...source, seed: 4 })]).not.toEqual(jobs);
    const [each] = makeJobs({ ...source, tests: 100, isEachTest: true });
    expect(new Set(each?.executions.name).size).toBe(100);
  });

  test('each part of a run of the roles has what happened in it, and the whole run has all of it', () => {
    const minute = 60_000;
    const taken = [0, 1, 7, 29.9].map((at) => ({ kind: 'taken' as const, at: at * minute, ms: 20, executions: 3_000 }));
    const stored = [
      { kind: 'stored' as const, at: 2 * minute, ms: 500 },
      { kind: 'stored' as const, at: 8 * minute, ms: 3_000 },
    ];
    const refused = [{ kind: 'refused' as const, at: 6 * minute, status: 503 }];
    const samples = [0, 4, 6].map((at) => ({
      ...{ at: at * minute, jobs: at, parts: 2 * at, unjudged: 0, memory: { workers: at * 2 ** 20, sender: 5 } },
      // Half a processor, and the sender is none of the service's.
      processor: { workers: at * 30, sender: at * 60 },
    }));
    const figures = windowsFigures({ taken, stored, refused, unread: [] }, samples, 30 * minute);
    const read = (name: string) => figures.find((one) => one.name === name)?.value;
    expect([read('0:00 to 5:00.rate'), read('5:00 to 10:00.rate'), read('25:00 to 30:00.rate')]).toEqual([20, 10, 10]);
    expect([read('0:00 to 5:00.lag_p95'), read('5:00 to 10:00.lag_p95')]).toEqual([0.5, 3]);
    expect([read('0:00 to 5:00.refused'), read('5:00 to 10:00.refused'), read('all.refused')]).toEqual([0, 1, 1]);
    expect([read('0:00 to 5:00.jobs'), read('0:00 to 5:00.parts'), read('5:00 to 10:00.jobs')]).toEqual([4, 8, 6]);
    expect([read('0:00 to 5:00.workers_memory'), read('0:00 to 5:00.together_memory')]).toEqual([4, 4]);
    expect([read('0:00 to 5:00.workers_cores'), read('0:00 to 5:00.together_cores')]).toEqual([0.5, 0.5]);
    expect(figures.find(({ name }) => name === 'all.lag_p95')).toMatchObject({ value: 3, reached: false });
    const { lag, others } = rolesTablesOf([...figures, figure('executions.lost', 0, '', { atMost: 0 })]);
    expect(lag.split('\n')).toHaveLength(2 + 7);
    expect(others.split('\n')).toHaveLength(3);
  });

  test('every process of the service has a kind', () => {
    expect(kindOf('bun /app/src/cli.ts serve ')).toBe('engine');
    expect(kindOf('bun /app/workers/process.ts ')).toBe('workers');
    expect(kindOf('bun /app/src/api/process.ts ')).toBe('api');
    expect(kindOf('bun /app/src/ingest/parsing/process.ts ')).toBe('parsing');
    expect(kindOf('postgres: checkpointer ')).toBe('postgres');
    expect(kindOf('tail ')).toBe('other');
  });
});
