/** That everything sent is stored, once, whatever happened to the processes on the way. */
import { expect } from 'bun:test';
import type { Deps } from '../../src/deps.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { blockParts } from '../../src/postgres/schema.ts';

const PAUSE_MS = 200;

/** Whether everything that is recorded is evaluated. To ask `verify` for that would compare everything each time. */
export const isEvaluated = async ({ postgres }: Pick<Deps, 'postgres'>): Promise<boolean> =>
  (await postgres.db.$count(blockParts)) === 0;

/** Waits until all of it is stored and evaluated, and compares it with everything derived. For stores of one test. */
export async function expectStoredExactly(
  deps: Deps,
  sent: { executions: number; events: number },
  waitMsMax: number,
): Promise<void> {
  const stored = async () =>
    (
      await deps.clickhouse.rows(
        'SELECT toUInt32((SELECT count() FROM ci.executions)) AS executions, toUInt32((SELECT uniqExact(id) FROM ci.events)) AS events',
      )
    )[0] as { executions: number; events: number };
  const isDone = async () => {
    const { executions, events } = await stored();
    if (executions < sent.executions || events < sent.events) return false;
    return isEvaluated(deps);
  };
  const deadline = performance.now() + waitMsMax;
  while (!(await isDone()) && performance.now() < deadline) await Bun.sleep(PAUSE_MS);
  expect(await stored()).toEqual(sent);
  const report = await verify(deps);
  expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
  expect(report.pendingBlocks).toBe(0);
}
