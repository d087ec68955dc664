/** A JUnit report as a job of the tests writes it: a pass of half a second, two failures, a skipped test. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const FAILING = 'cart.Totals.adds [10%] tax, twice';
export const QUARANTINED = 'cart.Totals.rounds *down*?';
export const PASSING = 'cart.Totals.sums prices';
export const SKIPPED = 'cart.Totals.prints';
/** Seconds, as the report says. */
export const FAILING_SECONDS = 2.5;

export const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="cart" tests="4" failures="2" skipped="1">
    <testcase classname="cart.Totals" name="sums prices" time="0.5"/>
    <testcase classname="cart.Totals" name="adds [10%] tax, twice" time="${FAILING_SECONDS}">
      <failure type="AssertionError" message="expected 110.00, got 110.01">at totals.py:42</failure>
    </testcase>
    <testcase classname="cart.Totals" name="rounds *down*?" time="0.25">
      <failure type="RoundingError" message="rounded up">at totals.py:77</failure>
    </testcase>
    <testcase classname="cart.Totals" name="prints" time="0"><skipped/></testcase>
  </testsuite>
</testsuites>
`;

/** A folder with the report as `unit.xml`; the caller removes it. */
export function reportFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ci-insights-report-'));
  writeFileSync(join(folder, 'unit.xml'), REPORT);
  return folder;
}
