/**
 * Evaluates what is stored, partition by partition, soon after it is stored. Any worker evaluates any partition that no
 * other holds, so a process that dies leaves nothing behind but parts that wait.
 */
import { evaluatePartition, type PassDeps } from '../src/evaluation/pass.ts';
import { evaluationSeconds } from '../src/observability/metrics.ts';
import { inSpan } from '../src/observability/tracing.ts';
import { onPostgres } from '../src/postgres/client.ts';
import { isPartWaiting } from '../src/postgres/partitions.ts';
import { Loop } from './loop.ts';

const RETRY_MS = 1_000;
/** Finds what other workers left, and repositories that were postponed, where no notification arrives. */
const EVERY_MS = 5_000;
/**
 * Between two passes of a partition, parts collect and are evaluated together: a test that ran in ten of them is written
 * once. By partition, and not by worker, so that more workers do not make more passes.
 */
const PACE_MS = 600;
/** Between two rounds. */
const PAUSE_MS = 50;
/**
 * After a pass of an import, live results of its partition have their turn: longer than between their rounds. The slowest of
 * them waited for 4 to 7 s (`bun run bench --imports`), without the pause for 11 to 12 s.
 */
const IMPORT_PAUSE_MS = 75;

export interface EvaluatorDeps extends PassDeps {
  /** Live and imported results are evaluated side by side: a live result waits only for an import in its partition. */
  isOfImports: boolean;
  /** Called when something was evaluated. */
  onEvaluated?: () => void;
  /** Milliseconds between two passes of a partition; tests want none. */
  paceMs?: number;
  /** Milliseconds after which it looks without being woken. */
  everyMs?: number | undefined;
}

export class Evaluator {
  readonly loop: Loop;

  constructor(private readonly deps: EvaluatorDeps) {
    this.loop = new Loop({
      name: deps.isOfImports ? 'evaluation of imports' : 'evaluation',
      log: deps.log,
      run: () => this.#run(),
      pauseMs: () => Math.min(PAUSE_MS, deps.paceMs ?? PAUSE_MS),
      everyMs: deps.everyMs ?? EVERY_MS,
      retryMs: RETRY_MS,
    });
  }

  /** One round: every partition in which something waits, once it is its turn. */
  async #run(): Promise<void> {
    const pauseMs = this.deps.isOfImports ? Math.min(IMPORT_PAUSE_MS, this.deps.paceMs ?? IMPORT_PAUSE_MS) : 0;
    while (!this.loop.isStopped && (await this.#pass()) !== undefined) {
      this.deps.onEvaluated?.();
      await Bun.sleep(pauseMs);
    }
    if (await onPostgres(() => isPartWaiting(this.deps.db, this.deps.isOfImports))) this.loop.wake();
  }

  async #pass(): Promise<number | undefined> {
    const measured = evaluationSeconds.startTimer();
    // A separate trace: parts come from many uploads.
    const executions = await inSpan('evaluate', { parent: null }, () =>
      evaluatePartition(this.deps, this.deps.paceMs ?? PACE_MS),
    );
    if (executions !== undefined) measured();
    return executions;
  }
}
