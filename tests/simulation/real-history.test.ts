/** How a real history is read, and how what two said of it is compared: on a few lines. */
import { afterAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'bun';
import { DAY_MS } from '../../src/domain/time.ts';
import { makeFolder } from '../support/folder.ts';
import { daysOf, firstDays, readRealHistory } from './real-history.ts';
import { differencesOf, verdictsOf } from './real-verdicts.ts';
import { ServiceRules } from './service-rules.ts';

const folder = makeFolder('history');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LINES = [
  'finished_at\tcommit\trun_id\tsuite\ttest\tfile\tstatus\tmessage',
  '2022-03-25T06:00:42Z\tc1\t1\tlinux\tadds\tcart\tpassed\t',
  '2022-03-25T06:00:42Z\tc1\t1\tmacos\tadds\tcart\tfailed\tgot &lt;3&gt;',
  '2022-03-25T06:00:42Z\tc1\t1\tmacos\tsubtracts\tcart\tpassed\t',
  '2022-03-27T06:00:42Z\tc2\t2\tlinux\tadds\tcart\tpassed\t',
];

async function history() {
  const path = join(folder, 'results.tsv.gz');
  await Bun.write(path, gzipSync(LINES.join('\n')));
  return readRealHistory(path);
}

test('the CI jobs of a workflow finish one after another', async () => {
  const { runs, identities, executions } = await history();
  const begin = Date.parse('2022-03-25T06:00:42Z');
  expect(runs.map(({ at }) => at - begin)).toEqual([0, 1, 2 * DAY_MS]);
  expect({ identities: identities.length, executions }).toEqual({ identities: 3, executions: 4 });
  expect([...(runs[1]?.troubles.values() ?? [])]).toEqual([{ message: 'got <3>', isPassedOnRetry: false }]);
});

test('days without a run are days, and a slice ends with one', async () => {
  const all = await history();
  expect(daysOf(all).map(({ runs }) => runs.length)).toEqual([2, 0, 1]);
  expect(daysOf(firstDays(all, 2)).map(({ runs }) => runs.length)).toEqual([2]);
  expect(firstDays(all, 2).executions).toBe(3);
});

test('every verdict that differs is named, after a run as well as at the end of a day', async () => {
  const all = await history();
  const rules = verdictsOf(all, new ServiceRules());
  expect(differencesOf(all, rules, rules)).toEqual([]);
  const other = { ...rules, name: 'other', afterRun: [...rules.afterRun], atEndOfDay: new Map(rules.atEndOfDay) };
  other.afterRun[2] = new Map([[0, 'flaky']]);
  other.atEndOfDay.set(Math.floor(Date.parse('2022-03-26') / DAY_MS), new Map([[2, 'broken']]));
  expect(differencesOf(all, other, rules)).toEqual([
    'after run 2 of 2022-03-27T06:00:42.000Z, adds in linux: other: flaky, the rules: healthy',
    'at the end of 2022-03-26, subtracts in macos: other: broken, the rules: healthy',
    'at the end of 2022-03-26, adds in macos: other: healthy, the rules: broken',
  ]);
});
