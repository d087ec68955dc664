/**
 * The cost of legs: `bun tests/bench/legs.ts [--legs 40] [--tests 5000] [--runs 2] [--turns 200] [--json]`. The same executions
 * fill two repositories, once in so many legs of a CI job and once in one leg. They are filled and read in turns, so that
 * whatever else the machine does slows both down alike.
 */
import { parseArgs } from 'node:util';
import { testIdOf } from '../../src/domain/identity.ts';
import { openQueues } from '../../src/queue/open.ts';
import { packJob } from '../../src/queue/packed-job.ts';
import { Producer } from '../../src/queue/producer.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { makeJob } from '../support/jobs.ts';
import { closeOnSignals, inFolder } from './folder.ts';
import { connect, requestOf } from './http-client.ts';
import { quantile } from './quantile.ts';
import { type Figure, figure, linesOf, tableOf } from './report.ts';
import { BenchService } from './service.ts';

const { values } = parseArgs({
  options: {
    legs: { type: 'string', default: '40' },
    tests: { type: 'string', default: '5000' },
    runs: { type: 'string', default: '2' },
    turns: { type: 'string', default: '200' },
    json: { type: 'boolean', default: false },
  },
});
const [legs, tests, runs, turns] = [values.legs, values.tests, values.runs, values.turns].map(Number) as [
  number,
  number,
  number,
  number,
];

/** These have a longer history, and fail on one value of an axis. They are read. */
const READ_TESTS = 20;
const MORE_RUNS = 20;
const PYTHONS = 10;
const HOUR_MS = 3_600_000;
const READS = ['details', 'explanation', 'axes', 'failures'] as const;
const GOAL_MS = 3;

const KINDS = ['one_leg', 'legs'] as const;
type Kind = (typeof KINDS)[number];
const repositoryOf = (kind: Kind) => ({ host: 'github.com', owner: 'bench', name: kind });

const nameOf = (test: number): string => `suite ${test % 100} > test ${test}`;
const isBad = (test: number, leg: number): boolean => test < READ_TESTS && leg % PYTHONS === 3;

/** One run of all legs. In one leg, each is another run. */
function jobsOf(kind: Kind, run: number, testsOfRun: number, now: number) {
  const at = now - (runs + MORE_RUNS - run) * HOUR_MS;
  return Array.from({ length: legs }, (_, leg) =>
    makeJob({
      repository: repositoryOf(kind),
      receivedAt: at,
      run: {
        commit: `commit ${run}`,
        run_id: kind === 'legs' ? `${run}` : `${run} ${leg}`,
        axes:
          kind === 'legs' ? { os: `os ${Math.floor(leg / PYTHONS)}`, python: `3.${leg % PYTHONS}` } : { os: 'os 0' },
      },
      executions: Array.from({ length: testsOfRun }, (_, test) => ({
        name: nameOf(test),
        at,
        status: isBad(test, leg) ? ('failed' as const) : ('passed' as const),
        failures: isBad(test, leg) ? [{ type: 'OSError', message: 'no such drive' }] : [],
      })),
    }),
  );
}

async function measure(folder: string): Promise<Figure[]> {
  const service = new BenchService(folder);
  await service.start();
  const queues = await openQueues({ databaseDirectUrl: undefined, redisUrl: undefined }, service.databaseUrl, () => {});
  const producer = new Producer(queues, testRuns);
  const now = Date.now();
  const rates: Record<Kind, number[]> = { one_leg: [], legs: [] };
  try {
    for (let run = 0; run < runs + MORE_RUNS; run++) {
      const isWhole = run < runs;
      for (const kind of KINDS) {
        const jobs = jobsOf(kind, run, isWhole ? tests : READ_TESTS, now).map((job) => packJob(testRuns, job));
        const begun = performance.now();
        await producer.addPacked(jobs);
        await service.untilEvaluated();
        if (isWhole) rates[kind].push((legs * tests * 1_000) / (performance.now() - begun));
      }
    }
    await service.untilNothingIsStale();
    return [
      ...KINDS.map((kind) => figure(`legs.evaluated.${kind}`, quantile(rates[kind], 0.5), 'executions/s')),
      ...(await state(service)),
      ...(await reads(service)),
    ];
  } finally {
    await producer.close();
    await queues.close();
    await service.stop();
  }
}

/** Bytes of the rows that are kept for each identity; folds are there once for each test. */
async function state(service: BenchService): Promise<Figure[]> {
  const rows = await service.rows<{ name: string; bytes: string; count: string }>(`
    select name, sum(pg_column_size(identities.*))::text as bytes, count(*)::text as count
    from ci_insights.identities join ci_insights.repositories on repositories.id = identities.repository_id
    group by name`);
  return KINDS.flatMap((kind) => {
    const found = rows.find(({ name }) => name === kind);
    const bytes = Number(found?.bytes);
    return [
      figure(`legs.state_of_a_test.${kind}`, bytes / tests, 'bytes'),
      figure(`legs.rows_of_a_test.${kind}`, Number(found?.count) / tests, ''),
    ];
  });
}

async function reads(service: BenchService): Promise<Figure[]> {
  const request = await connect(service.origin);
  const ids = new Map<string, string>();
  for (const { id, name } of await service.rows<{ id: string; name: string }>(
    'select id, name from ci_insights.repositories',
  ))
    ids.set(name, id);
  const figures: Figure[] = [];
  for (const read of READS) {
    const times: Record<Kind, number[]> = { one_leg: [], legs: [] };
    for (let turn = 0; turn < turns; turn++)
      for (const kind of KINDS) {
        const id = testIdOf(ids.get(kind) ?? '', nameOf(turn % READ_TESTS));
        const path = `/v1/ci/bench/repositories/${kind}/tests/${id}${read === 'details' ? '' : `/${read}`}`;
        const asked = requestOf(service.origin, path, service.authorization);
        const begun = performance.now();
        const answer = await request(asked);
        times[kind].push(performance.now() - begun);
        if (answer.status !== 200) throw new Error(`${path} is answered with ${answer.status}`);
      }
    for (const kind of KINDS)
      figures.push(
        figure(`legs.${read}.${kind}`, quantile(times[kind], 0.5), 'ms', kind === 'legs' ? { atMost: GOAL_MS } : {}),
      );
  }
  return figures;
}

closeOnSignals();
const figures = await inFolder(undefined, measure);
console.log(values.json ? linesOf(figures) : tableOf(figures));
process.exit(0);
