/** The properties of tests/ingest/{judgements,evidence,rebuild,explain,backtest}.test.ts, on many more histories. */
import { expect, test } from 'bun:test';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { backtestsAgree } from '../support/backtests.ts';
import { explanationsAgree } from '../support/explanations.ts';
import { setUpIngest } from '../support/ingest.ts';
import { overlappingRunsAgree, storedAheadAgrees } from '../support/overlapping-runs.ts';
import { mixedRunsAgree, pullRunsAgree, troubledRunsAgree } from '../support/random-histories.ts';

const ingest = setUpIngest({ isAlone: true });

test('in any order, one by one or together, what is derived from mixed runs agrees with the executions', () =>
  mixedRunsAgree(ingest, 25));

test('in any order and any split, verdicts on troubled runs agree with the executions', () =>
  troubledRunsAgree(ingest, 25));

test('in runs that go on at the same time, what is derived agrees with the executions', () =>
  overlappingRunsAgree(ingest, 25));

test('what is stored and not counted yet when runs are judged again counts once', () => storedAheadAgrees(ingest, 15));

test('in any order and any split, what commits of pull requests contradict agrees with the executions', () =>
  pullRunsAgree(ingest, 25));

test('rebuild finds what evaluation found step by step', async () => {
  await mixedRunsAgree(ingest, 5);
  await troubledRunsAgree(ingest, 5);
  await pullRunsAgree(ingest, 5);
  expect(await rebuild(ingest.stores)).toMatchObject({ moved: 0, regrouped: 0 });
  await ingest.driver.verify();
});

test('as of every moment, the health that is explained is what the evaluation had written by then', () =>
  explanationsAgree(ingest, { numRuns: 15, runsMax: 10 }));

test('a backtest of the policy that was on says what the service really quarantined', () =>
  backtestsAgree(ingest, { numRuns: 15, stepsMax: 8 }));
