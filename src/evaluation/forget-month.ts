/** Takes a month that leaves out of the state of tests. What is believed of them stays (baseline.ts). */
import { withoutGroupMonth } from '../domain/failure-group.ts';
import { withoutFirstsOf } from '../domain/first-executions.ts';
import { RepositoryTotals } from '../domain/repository-stats.ts';
import { monthOf } from '../domain/retention.ts';
import { withoutMonth } from '../domain/test-state.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Executor } from '../postgres/client.ts';
import { writeIdentities, writeTests } from '../postgres/test-state-writes.ts';
import type { TestState } from '../postgres/test-states.ts';
import { keepTotals, type WrittenTest } from './keep-totals.ts';
import { StateStore } from './state-store.ts';

/** Takes a month, and every month before it, out of what is known of some tests; under the evaluation lock. */
export async function forgetMonth(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
  month: number,
): Promise<void> {
  const states = new StateStore(tx, repositoryId);
  const known = await states.readStates(testIds);
  const tests = [...known.values()].flatMap(({ test }) => (test ? [{ ...test, ...withoutRunsOf(test, month) }] : []));
  await writeTests(tx, repositoryId, tests);
  const written = [...known].map(([testId, { records }]) => ({
    ...{ testId, before: records, mayHealthChange: false },
    after: records.map((record) => ({ ...record, summary: withoutMonth(record.summary, month) })),
  }));
  const totals = { tx, repositoryId, difference: new RepositoryTotals() };
  await keepTotals(totals, written satisfies WrittenTest[], () =>
    writeIdentities(
      tx,
      repositoryId,
      written.flatMap(({ after }) => after),
      (testId) => known.get(testId)?.test?.name ?? '',
    ),
  );
  const groups = (await states.readGroups(testIds)).flatMap((group) => {
    const kept = withoutGroupMonth(group, month);
    return kept ? [{ ...group, ...kept }] : [];
  });
  await states.replaceGroups(testIds, groups);
}

const withoutRunsOf = ({ firstExecutions, lastDay }: TestState, month: number) => ({
  firstExecutions: withoutFirstsOf(firstExecutions, month),
  lastDay: lastDay !== null && monthOf(lastDay * DAY_MS) > month ? lastDay : null,
});
