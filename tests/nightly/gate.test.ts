/**
 * The bundled client against a real service, for every combination of failures. `tests/property/gate.test.ts` has every case of
 * the decision itself, so here a combination meets half of the policies, each on one runtime, and each kind of failure meets
 * each policy on both.
 */
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Verdict } from '../../src/client/gate/decision.ts';
import { RUNTIMES, type Runtime } from '../clients/support/client.ts';
import { gateJobs } from '../clients/support/gate-job.ts';
import { sharedService } from '../clients/support/service.ts';
import {
  BROKEN,
  FLAKY,
  fail,
  MANY,
  NEW,
  pass,
  QUARANTINED,
  type Row,
  shopWithHistory,
} from '../clients/support/shop.ts';
import { codeOf, POLICIES } from '../support/gate-table.ts';

const FAILURES: readonly (readonly [Verdict, readonly Row[]])[] = [
  ['new', [NEW]],
  ['known_flaky', [FLAKY]],
  ['broken', [BROKEN]],
  ['quarantined', [QUARANTINED]],
  // All tests that usually pass fail with one message.
  ['infrastructure', MANY.map((name) => fail(name, 'connection refused'))],
];
/** Each of the jobs starts a client: seconds on a busy machine. */
const WAIT_MS_MAX = 1_800_000;
/** Jobs that run at once. */
const WRITERS = 2;

const folder = mkdtempSync(join(tmpdir(), 'ci-insights-gate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Case {
  failures: typeof FAILURES;
  policy: (typeof POLICIES)[number];
  /** With which the command ends. */
  code: number;
  runtime: Runtime;
}

const SUBSETS = Array.from({ length: 2 ** FAILURES.length }, (_, subset) =>
  FAILURES.filter((_, i) => subset & (1 << i)),
);
const CASES = SUBSETS.flatMap((failures, subset): Case[] => {
  const many = failures.length;
  const half = Math.floor(many / 2);
  // Every second policy; each half of them on another runtime.
  const failed = POLICIES.flatMap((policy, place): Case[] => {
    const runtime = RUNTIMES[(half + Math.floor(place / 2)) % RUNTIMES.length] ?? 'node';
    return (place + many) % 2 === 0 ? [{ failures, policy, code: 7, runtime }] : [];
  });
  // A command that succeeds passes whatever the policy is.
  const [one] = failed;
  return one !== undefined && subset % 4 === 0 ? [...failed, { ...one, code: 0 }] : failed;
});

test('each kind of failure meets each policy on each runtime', () => {
  const met = new Set(
    CASES.flatMap(({ failures, policy, runtime }) => failures.map(([verdict]) => `${verdict} ${policy} ${runtime}`)),
  );
  expect(met.size).toBe(FAILURES.length * POLICIES.length * RUNTIMES.length);
});

test(
  'the exit code is that of the table for every combination of failures',
  async () => {
    const gate = gateJobs(await sharedService(), await shopWithHistory(), folder);
    const left = CASES.values();
    const write = async (): Promise<void> => {
      for (const { failures, policy, code, runtime } of left) {
        const verdicts = failures.map(([verdict]) => verdict);
        const rows = failures.flatMap(([, failed]) => failed);
        // Something that passes: a report of nothing but failures would be an outage.
        const passed = verdicts.includes('infrastructure') ? [] : MANY.map(pass);
        const ran = await gate({
          runtime,
          rows: [...rows, ...passed],
          ending: `exit ${code}`,
          args: ['--excuse', policy.join(',')],
        });
        const evidence = {
          command: { code, signal: null },
          // The jobs of `gateJobs`.
          failureCodes: [1, 7],
          tests: rows.length + passed.length,
          hasTrouble: false,
        };
        const expected = codeOf({ ...evidence, verdicts, policy: new Set(policy) });
        expect([runtime, verdicts, policy, code, ran.code, ran.code === expected ? '' : ran.stdout]).toEqual([
          runtime,
          verdicts,
          policy,
          code,
          expected,
          '',
        ]);
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, write));
  },
  WAIT_MS_MAX,
);
