/** The exit code of `gate`, as the table of docs/producers.md has it. */
import type { Evidence, Excuse, Verdict } from '../../src/client/gate/decision.ts';

export const POLICIES: Excuse[][] = [
  ['quarantined'],
  ['quarantined', 'flaky'],
  ['quarantined', 'broken'],
  ['quarantined', 'flaky', 'broken'],
];

/** The excuse that each verdict needs from the policy; the others are never excused. */
const NEEDS: Partial<Record<Verdict, Excuse>> = { quarantined: 'quarantined', known_flaky: 'flaky', broken: 'broken' };

export interface GateCase extends Evidence {
  policy: ReadonlySet<Excuse>;
}

/** Same table as in docs/producers.md: the first row that applies. */
const TABLE: [applies: (one: GateCase) => boolean, code: (own: number) => number][] = [
  [({ command }) => command !== null && (command.signal !== null || command.code >= 126), (own) => own],
  [({ command }) => command?.code === 0, () => 0],
  [({ tests }) => tests === 0, (own) => own],
  [({ hasTrouble }) => hasTrouble, (own) => own],
  [({ command, verdicts }) => command === null && verdicts.length === 0, () => 0],
  [({ verdicts }) => verdicts.length === 0, (own) => own],
  [
    ({ verdicts, policy }) => verdicts.some((verdict) => !policy.has(NEEDS[verdict] ?? ('never' as Excuse))),
    (own) => own,
  ],
  [({ command, failureCodes }) => command !== null && !failureCodes.includes(command.code), (own) => own],
  [() => true, () => 0],
];

/** The exit code of a case. */
export function codeOf(one: GateCase): number {
  const [, code] = TABLE.find(([applies]) => applies(one)) ?? [];
  return code?.(one.command?.code ?? 1) ?? -1;
}
