/**
 * The roles of the service as separate processes, on servers: two APIs and two workers, one PostgreSQL, one ClickHouse and one
 * Redis, and reports that keep arriving from many repositories. How long after its answer a report is stored and evaluated, what
 * waits, what each kind of process takes, and in the end whether each execution is stored exactly once.
 */
import { and, inArray, isNotNull } from 'drizzle-orm';
import { z } from 'zod';
import type { Deps } from '../../src/deps.ts';
import { JUDGING_KINDS } from '../../src/domain/stale.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { blockParts, stale } from '../../src/postgres/schema.ts';
import { executionKinds } from '../../src/queue/kinds.ts';
import { Producer } from '../../src/queue/producer.ts';
import { Installation } from './installation.ts';
import { memoryOfKinds, processorSecondsOf } from './memory.ts';
import { type Figure, figure } from './report.ts';
import { type Happened, KINDS, processorFigures, type Sample, sum, windowsFigures } from './roles-figures.ts';
import { type SentEvent, send, TESTS_OF_RUN } from './roles-send.ts';

const MIB = 2 ** 20;
const SAMPLE_MS = 5_000;
const DRAIN_MS_MAX = 1_800_000;
const POLL_MS = 250;

export interface RolesOptions {
  seconds: number;
  /** Executions a second. */
  rate: number;
  repositories: number;
}

const isUnjudged = and(isNotNull(stale.notedAt), inArray(stale.kind, [...JUDGING_KINDS]));

/** Looks at the installation while it is under load. */
class Watch {
  samples: Sample[] = [];
  #started = performance.now();
  readonly #producers;
  #isWatching = true;
  readonly #watched: Promise<void>;

  constructor(private readonly deps: Deps) {
    this.#producers = executionKinds.map((kind) => new Producer<z.ZodType>(deps.queues, kind));
    this.#watched = this.#watch();
  }

  async look(): Promise<Sample> {
    const depths = await Promise.all(this.#producers.map((producer) => producer.depth()));
    const sample = {
      at: performance.now() - this.#started,
      jobs: depths.reduce((sum, depth) => sum + depth, 0),
      parts: await this.deps.postgres.db.$count(blockParts),
      unjudged: await this.deps.postgres.db.$count(stale, isUnjudged),
      memory: await memoryOfKinds(process.pid, KINDS),
      processor: processorSecondsOf(process.pid, KINDS),
    };
    this.samples.push(sample);
    return sample;
  }

  async #watch(): Promise<void> {
    for (; this.#isWatching; await Bun.sleep(SAMPLE_MS)) await this.look();
  }

  /** Forgets what it has seen. */
  restart(): void {
    this.samples = [];
    this.#started = performance.now();
  }

  async stop(): Promise<void> {
    this.#isWatching = false;
    await this.#watched;
    for (const producer of this.#producers) await producer.close();
  }
}

async function diskFigures({ clickhouse, postgres }: Deps, executions: number): Promise<Figure[]> {
  const [parts] = await clickhouse.rows(
    "SELECT toFloat64(sum(bytes_on_disk)) AS bytes FROM system.parts WHERE active AND database = 'ci'",
  );
  const { rows } = await postgres.pool.query<Record<'all' | 'claims' | 'identities', number>>(
    `select pg_database_size(current_database())::float8 as all,
       pg_total_relation_size('ci_insights.ingest_claims')::float8 as claims,
       (select count(*) from ci_insights.identities)::float8 as identities`,
  );
  const { all = 0, claims = 0, identities = 0 } = rows[0] ?? {};
  const perMillion = (bytes: number): number => bytes / MIB / (executions / 1e6);
  return [
    figure('disk_per_million.clickhouse', perMillion(bytesSchema.parse(parts).bytes), 'MiB'),
    figure('disk_per_million.claims', perMillion(claims), 'MiB'),
    figure('disk.postgres', all / MIB, 'MiB'),
    figure('identities.all', identities, ''),
  ];
}
const bytesSchema = z.object({ bytes: z.number() });

/** Whether each execution that was taken is stored once, and everything derived from them agrees. */
async function exactFigures(deps: Deps, executions: number): Promise<Figure[]> {
  const [stored] = await deps.clickhouse.rows(
    `SELECT toUInt32(count()) AS rows, toUInt32(uniqExact(repository_id, execution_id)) AS executions FROM ci.executions`,
  );
  const { rows, executions: distinct } = storedSchema.parse(stored);
  const { checks } = await verify(deps);
  return [
    figure('executions.sent', executions, ''),
    figure('executions.lost', executions - distinct, '', { atMost: 0 }),
    figure('executions.twice', rows - distinct, '', { atMost: 0 }),
    figure('verify.differences', sum(checks.map(({ count }) => count)), '', { atMost: 0 }),
  ];
}
const storedSchema = z.object({ rows: z.number(), executions: z.number() });

async function untilEvaluated(watch: Watch): Promise<void> {
  const until = performance.now() + DRAIN_MS_MAX;
  for (let quiet = 0; quiet < 2; await Bun.sleep(POLL_MS)) {
    const { jobs, parts, unjudged } = await watch.look();
    quiet = jobs + parts + unjudged === 0 ? quiet + 1 : 0;
    if (performance.now() > until) throw new Error('not all was evaluated within half an hour');
  }
}

function note({ taken, refused, stored, unread }: Happened, event: SentEvent): void {
  if (event.kind === 'taken') taken.push(event);
  else if (event.kind === 'refused') refused.push(event);
  else if (event.kind === 'stored') stored.push(event);
  else unread.push(event);
}

const executionsIn = ({ taken }: Happened): number => sum(taken.map(({ executions }) => executions));

export async function measureRoles(
  folder: string,
  options: RolesOptions,
  say: (what: string) => void,
): Promise<Figure[]> {
  const installation = new Installation(folder);
  try {
    const { deps, origins, token } = await installation.start();
    const watch = new Watch(deps);
    const { rate, repositories } = options;
    const sendAll = async (executions: number, isEachInTurn: boolean, seed: number) => {
      const happened: Happened = { taken: [], refused: [], stored: [], unread: [] };
      let takenAt = 0;
      const request = { origins, token, rate, repositories, executions, isEachInTurn, seed };
      for await (const event of send(request)) {
        note(happened, event);
        if (event.kind === 'taken') takenAt = performance.now();
      }
      return { happened, takenAt };
    };
    // An installation knows most tests that run.
    say('sends each report of each repository once');
    const { happened: known } = await sendAll(repositories * TESTS_OF_RUN, true, 1);
    await untilEvaluated(watch);
    watch.restart();
    const first = await watch.look();
    say(`sends ${rate} executions a second for ${options.seconds} s`);
    const { happened, takenAt } = await sendAll(rate * options.seconds, false, 2);
    say('waits for the rest');
    await untilEvaluated(watch);
    const drained = (performance.now() - takenAt) / 1_000;
    const last = await watch.look();
    await watch.stop();
    const executions = executionsIn(happened);
    const all = executionsIn(known) + executions;
    say(`verifies ${all} executions`);
    return [
      ...windowsFigures(happened, watch.samples, options.seconds * 1_000),
      figure('followed.uploads', happened.stored.length, ''),
      figure('followed.not_answered', happened.unread.length, ''),
      figure('drained.after', drained, 's'),
      ...processorFigures(first, last, executions),
      ...(await diskFigures(deps, all)),
      ...(await exactFigures(deps, all)),
    ];
  } finally {
    await installation.stop();
  }
}
