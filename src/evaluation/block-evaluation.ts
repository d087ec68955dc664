/**
 * One pass of the evaluation: counts and judges what some stored blocks brought.
 */
import { eq } from 'drizzle-orm';
import type { ClickHouse } from '../clickhouse/client.ts';
import type { BlockLines, BlockStore } from '../ledger/blocks.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { repositories } from '../postgres/schema.ts';
import { evaluate, type Judgements } from './evaluate.ts';
import { drawVersion, lockEvaluation } from './lock.ts';
import type { TouchedTest } from './news.ts';
import { QuarantineEvidenceStore } from './quarantine-evidence.ts';
import { judgeQuarantines } from './quarantines.ts';
import { RunStore } from './run-store.ts';
import { StateStore } from './state-store.ts';
import { EvaluationStore } from './store.ts';
import { type Touched, touchedBy } from './touched.ts';

export interface EvaluationDeps {
  db: Database;
  clickhouse: ClickHouse;
  blocks: BlockStore;
  quarantines: QuarantineStore;
}

export class BlockEvaluation {
  readonly #deps: EvaluationDeps;

  /** @param isStopped whether the process stops: then a pass ends early with {@link Stopped}. */
  constructor(
    deps: EvaluationDeps,
    private readonly isStopped: () => boolean = () => false,
  ) {
    this.#deps = deps;
  }

  /**
   * Counts and judges what these blocks brought. Any of them may have been evaluated before, as a whole or in part.
   *
   * The state of the tests and the mark that a block is counted are one transaction. Verdicts follow it into ClickHouse,
   * then quarantines, which ask for them. All of that under the locks of the repositories, so that no other process
   * judges from verdicts that are still on their way.
   */
  async run(blockIds: readonly number[]): Promise<void> {
    const { db, blocks } = this.#deps;
    const found = await blocks.lines(blockIds);
    const touched = touchedBy(found);
    const isDone = await onPostgres(() =>
      db.transaction(async (locks) => {
        // In order of id: all processes lock alike.
        const repositoryIds = [...touched.keys()].sort();
        for (const id of repositoryIds) await lockEvaluation(locks, id);
        const version = await drawVersion(db);
        const judged = await db.transaction((tx) => this.#count(tx, found, touched));
        if (judged === undefined) return false;
        for (const [repositoryId, judgements] of judged) await this.#write(repositoryId, judgements, version);
        return true;
      }),
    );
    if (!isDone) return this.run(blockIds);
    await blocks.markEvaluated(blockIds);
  }

  /** Undefined if another process has evaluated any of these blocks meanwhile. */
  async #count(
    tx: Executor,
    found: readonly BlockLines[],
    touched: Touched,
  ): Promise<ReadonlyMap<string, Judgements> | undefined> {
    const { blocks } = this.#deps;
    const blockIds = found.map(({ blockId }) => blockId);
    const counted = await blocks.lockCounted(tx, blockIds);
    if (found.some(({ blockId, isCounted }) => counted.get(blockId) !== isCounted)) return undefined;
    const judged = new Map<string, Judgements>();
    for (const [repositoryId, tests] of touched) {
      // Another process or the next start evaluates the blocks.
      if (this.isStopped()) throw new Stopped();
      judged.set(repositoryId, await this.#judge(tx, repositoryId, tests));
    }
    await blocks.markCounted(tx, blockIds);
    return judged;
  }

  async #judge(tx: Executor, repositoryId: string, tests: ReadonlyMap<string, TouchedTest>): Promise<Judgements> {
    const { clickhouse } = this.#deps;
    const stores = {
      executions: new EvaluationStore(clickhouse, repositoryId),
      runs: new RunStore(clickhouse, repositoryId),
      states: new StateStore(tx, repositoryId),
    };
    const repository = await settingsOf(tx, repositoryId);
    return evaluate(stores, tests, { isFlakyDetectionEnabled: repository?.isEnabled ?? true });
  }

  async #write(repositoryId: string, { verdicts, runs, states }: Judgements, version: number): Promise<void> {
    const { db, clickhouse, quarantines } = this.#deps;
    await new EvaluationStore(clickhouse, repositoryId).writeVerdicts(verdicts, version);
    if (runs.length > 0) await new RunStore(clickhouse, repositoryId).write(runs, version);
    const repository = await settingsOf(db, repositoryId);
    const evidence = new QuarantineEvidenceStore(clickhouse, repositoryId);
    await judgeQuarantines({ repositoryId, mode: repository?.mode ?? 'off', quarantines, evidence }, states);
  }
}

/** Thrown to take back what a pass has written, because the process stops. */
export class Stopped extends Error {
  override name = 'Stopped';
}

async function settingsOf(db: Executor, repositoryId: string) {
  const [repository] = await db
    .select({ isEnabled: repositories.flakyDetectionEnabled, mode: repositories.autoQuarantine })
    .from(repositories)
    .where(eq(repositories.id, repositoryId));
  return repository;
}
