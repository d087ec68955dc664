/** The exit code of `gate`, for every combination of what can happen. */
import { expect, test } from 'bun:test';
import { decide, type Evidence, VERDICTS } from '../../src/client/gate/decision.ts';
import { codeOf, type GateCase, POLICIES } from '../support/gate-table.ts';

const COMMANDS: Evidence['command'][] = [
  null,
  { code: 0, signal: null },
  { code: 1, signal: null },
  { code: 3, signal: null },
  { code: 126, signal: null },
  { code: 127, signal: null },
  { code: 137, signal: null },
  { code: 143, signal: 'SIGTERM' },
];
/** Without 3, which pytest gives for its own errors. */
const FAILURE_CODES = [1, 2];

function* everyCase(): Generator<GateCase> {
  for (const command of COMMANDS)
    for (const tests of [0, 7])
      for (const hasTrouble of [false, true])
        for (const policy of POLICIES)
          for (let subset = 0; subset < 2 ** VERDICTS.length; subset++)
            yield {
              command,
              failureCodes: FAILURE_CODES,
              tests,
              hasTrouble,
              policy: new Set(policy),
              verdicts: tests === 0 ? [] : VERDICTS.filter((_, i) => subset & (1 << i)),
            };
}

test('the exit code is that of the first row of the table that applies, in every case', () => {
  let cases = 0;
  for (const one of everyCase()) {
    expect([one, decide(one, one.policy).code]).toEqual([one, codeOf(one)]);
    cases++;
  }
  expect(cases).toBe(COMMANDS.length * 2 * 2 * POLICIES.length * 2 ** VERDICTS.length);
});

test('a job that failed passes only with a test in a whole report, and only if no failure is new or unknown', () => {
  for (const one of everyCase()) {
    const hasFailed = one.command === null ? one.verdicts.length > 0 : one.command.code !== 0;
    if (!hasFailed || decide(one, one.policy).code !== 0) continue;
    expect(one.tests).toBeGreaterThan(0);
    expect([one.hasTrouble, one.command?.signal ?? null]).toEqual([false, null]);
    expect(one.verdicts.length).toBeGreaterThan(0);
    for (const never of ['new', 'unknown', 'infrastructure'] as const) expect(one.verdicts).not.toContain(never);
    if (one.command !== null) expect(one.failureCodes).toContain(one.command.code);
  }
});

test('a wider policy never turns a job that passes into one that fails', () => {
  for (const one of everyCase())
    if (decide(one, new Set(['quarantined'])).code === 0) expect(decide(one, one.policy).code).toBe(0);
});
