/** The bundled client against a real service, for every combination of failures and policies. */
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Verdict } from '../../src/client/gate/decision.ts';
import { RUNTIMES } from '../clients/support/client.ts';
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
const CODES = [0, 7];
/** Each of the 256 jobs starts a client: seconds on a busy machine. */
const WAIT_MS_MAX = 1_800_000;
/** Jobs that run at once. */
const LANES = 2;

const folder = mkdtempSync(join(tmpdir(), 'ci-insights-gate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(RUNTIMES)(
  'on %s, the exit code is that of the table for every combination of failures and policies',
  async (runtime) => {
    const gate = gateJobs(await sharedService(), await shopWithHistory(), mkdtempSync(join(folder, runtime)));
    const cases = Array.from({ length: 2 ** FAILURES.length }, (_, subset) =>
      FAILURES.filter((_, i) => subset & (1 << i)),
    ).flatMap((failures) => POLICIES.flatMap((policy) => CODES.map((code) => ({ failures, policy, code }))));
    const left = cases.values();
    const lane = async (): Promise<void> => {
      for (const { failures, policy, code } of left) {
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
        expect([verdicts, policy, code, ran.code, ran.code === expected ? '' : ran.stdout]).toEqual([
          verdicts,
          policy,
          code,
          expected,
          '',
        ]);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(cases).toHaveLength(2 ** FAILURES.length * POLICIES.length * CODES.length);
  },
  WAIT_MS_MAX,
);
