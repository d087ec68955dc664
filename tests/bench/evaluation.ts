/**
 * The cost of evaluations: processor seconds per million executions, by part. The first pass, in which most names are new,
 * does not count. Jobs arrive in nearly the order in which they finished.
 *
 * `bun tests/bench/evaluation.ts [executions] [executions of a pass] [suspects]`: with the last, three of ten tests fail three
 * times in ten, and all are drawn alike. It imports little, and nothing new, so a copy of
 * this file measures an older checkout as well.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { openDeps } from '../../src/deps.ts';
import { Refresh } from '../../src/evaluation/refresh.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { evaluateStoredParts } from '../../src/maintenance/stored-parts.ts';
import { createLogger } from '../../src/observability/log.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { prepareChunk } from '../support/prepare.ts';
import { processTree } from '../support/process-tree.ts';
import { randomFrom } from '../support/random.ts';
import { makeJobs } from './data.ts';

const CHUNK = 1_000;
/** Chunks that are stored together. */
const STORED_TOGETHER = 10;
/** A job arrives among so many others. */
const OUT_OF_ORDER = 8;

interface Cost {
  executions: number;
  seconds: number;
  /** JavaScript, and ClickHouse in the same process. */
  ownCpu: number;
  postgresCpu: number;
}

const [executions = 400_000, ofPass = 100_000] = process.argv.slice(2, 4).map(Number);
const world =
  process.argv[4] === 'suspects' ? { tests: 2_000, skew: 0, unreliable: 0.3, failing: 0.3 } : { tests: 20_000 };
const folder = mkdtempSync(join(tmpdir(), 'ci-insights-evaluation-'));
const deps = await openDeps(readConfig({ DATA_DIR: folder }), { log: createLogger('error') });
const { clickhouse, clock, quarantines, repositories } = deps;
const { db } = deps.postgres;
const ledger = new Ledger({ db, clickhouse, clock });
const refresh = new Refresh({ db, clickhouse, clock, quarantines });
const now = clock.now();

function* arriving(): Generator<TestRunsJob> {
  const random = randomFrom(1);
  const source = { seed: 1, ...world, repositories: 5, chunk: CHUNK, days: 36, isEachTest: false };
  const next: TestRunsJob[] = [];
  for (const job of makeJobs({ ...source, executions, now })) {
    next.push(job);
    if (next.length >= OUT_OF_ORDER) yield* next.splice(Math.floor(random() * next.length), 1);
  }
  yield* next;
}

async function store(jobs: readonly TestRunsJob[]): Promise<void> {
  const chunks = [];
  for (const job of jobs) {
    const { id } = await repositories.record(job.repository);
    chunks.push(prepareChunk(job, { repositoryId: id, defaultBranch: 'main', now, retentionDays: 90 }));
  }
  for (const { error } of await ledger.write(chunks)) if (error !== undefined) throw error;
}

const postgresCpu = (): number =>
  processTree(process.pid)
    .filter(({ command }) => /postgres/.test(command))
    .reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);

async function costOf(executions: number, work: () => Promise<void>): Promise<Cost> {
  const [begun, own, postgres] = [performance.now(), process.cpuUsage(), postgresCpu()];
  await work();
  const { user, system } = process.cpuUsage(own);
  const seconds = (performance.now() - begun) / 1_000;
  return { executions, seconds, ownCpu: (user + system) / 1e6, postgresCpu: postgresCpu() - postgres };
}

async function evaluateAll(): Promise<void> {
  await evaluateStoredParts({ db, log: deps.log });
  await refresh.all();
}

function describe(name: string, costs: readonly Cost[]): void {
  const sum = (of: (cost: Cost) => number): number => costs.reduce((total, cost) => total + of(cost), 0);
  const all = sum((cost) => cost.executions);
  const each = (of: (cost: Cost) => number): string => ((sum(of) / all) * 1e6).toFixed(1);
  const own = each((cost) => cost.ownCpu);
  const postgres = each((cost) => cost.postgresCpu);
  const rate = (all / sum((cost) => cost.seconds)).toFixed(0);
  console.log(`${name}: ${all} executions, ${rate}/s; CPU seconds per million: ${own} here, ${postgres} of PostgreSQL`);
}

try {
  const passes: Cost[] = [];
  const evaluate = async (stored: number): Promise<void> => {
    const cost = await costOf(stored, evaluateAll);
    passes.push(cost);
    describe(`pass ${passes.length}`, [cost]);
  };
  const waiting: TestRunsJob[] = [];
  let stored = 0;
  for (const job of arriving()) {
    waiting.push(job);
    stored += job.executions.key.length;
    if (waiting.length === STORED_TOGETHER || stored >= ofPass) await store(waiting.splice(0));
    if (stored < ofPass) continue;
    await evaluate(stored);
    stored = 0;
  }
  await store(waiting);
  if (stored > 0) await evaluate(stored);
  describe('all but the first', passes.slice(1));
} finally {
  await deps.close();
  rmSync(folder, { recursive: true, force: true });
}
