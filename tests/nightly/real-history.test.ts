/**
 * A slice of a real history through a service: uploads, queue, evaluation, and what can be read after each run and at the end
 * of each day. It needs the file that `bun run replay` reads; without it, nothing is tested.
 */
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { groupsOf } from '../simulation/real-groups.ts';
import { firstDays, legsOf, readRealHistory } from '../simulation/real-history.ts';
import { HistoryInService, withService } from '../simulation/real-service.ts';
import { differencesOf, verdictsAskedTogether } from '../simulation/real-verdicts.ts';
import { ServiceRules } from '../simulation/service-rules.ts';

const FILE = resolve(import.meta.dir, '../../../shared/datasets/dask-distributed-2022-2024.tsv.gz');
const DAYS = 30;

const isThere = existsSync(FILE);
if (!isThere) console.warn(`skipped: there is no ${FILE}`);

test.skipIf(!isThere)('after each run and at the end of each day, the service says what the rules say', () =>
  withService(async (service) => {
    const history = firstDays(await readRealHistory(FILE), DAYS);
    const rules = verdictsAskedTogether(history, new ServiceRules({ legs: legsOf(history) }));
    const inService = new HistoryInService(service, history);
    const read = await inService.play();
    expect(differencesOf(history, read, rules)).toEqual([]);
    expect(read.afterRun).toHaveLength(history.runs.length);
    expect([...read.atEndOfDay.keys()]).toEqual([...rules.atEndOfDay.keys()]);
    const said = new Set([...rules.atEndOfDay.values()].flatMap((notHealthy) => [...notHealthy.values()]));
    expect(said).toEqual(new Set(['flaky', 'broken']));
    expect(await inService.readGroups()).toEqual(groupsOf(history));
    expect(await inService.verify()).toEqual([]);
  }),
);
