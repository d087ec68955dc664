/** Where a test fails: its legs from its executions, and the sentence. */
import { describe, expect, test } from 'bun:test';
import { axesText } from '../../src/domain/axes.ts';
import type { AxisTerm } from '../../src/domain/axis-candidates.ts';
import type { NamedLegs } from '../../src/domain/axis-explanation.ts';
import { axisSentence } from '../../src/domain/axis-words.ts';
import { type LegExecution, whereItFails } from '../../src/domain/where-it-fails.ts';

const named = (
  terms: readonly AxisTerm[],
  { outsideFailed = 0, kind = 'axes' }: { outsideFailed?: number; kind?: NamedLegs['kind'] } = {},
): NamedLegs => ({
  kind,
  terms,
  isOnly: outsideFailed <= 2,
  probability: 0.99,
  strata: 8,
  inside: { failed: 9, ran: 10 },
  outside: { failed: outsideFailed, ran: 100 },
});
const windows: AxisTerm = [{ axis: 'os', values: ['windows'] }];

test.each([
  [named([windows]), 'Fails only with os=windows.'],
  [named([windows], { outsideFailed: 1 }), 'Fails with os=windows, hardly elsewhere.'],
  [named([windows], { outsideFailed: 30 }), 'Fails mostly with os=windows: elsewhere 30 of 100 executions failed.'],
  [named([[{ axis: 'os', values: ['linux', 'macos'] }]]), 'Fails only with os=linux or macos.'],
  [
    named([
      [
        { axis: 'python', values: ['3.13'] },
        { axis: 'browser', values: ['webkit'] },
      ],
    ]),
    'Fails only with python=3.13 and browser=webkit.',
  ],
  [
    named([windows, [{ axis: 'shell', values: ['pwsh'] }]]),
    'Fails only with os=windows, or shell=pwsh: nothing that ran tells them apart.',
  ],
  [named([windows], { kind: 'leg' }), 'Fails only in the leg os=windows.'],
  [named([[{ axis: 'os', values: ['Windows 11 and more'] }]]), 'Fails only with os="Windows 11 and more".'],
])('a sentence says it', (explanation, sentence) => {
  expect(axisSentence(explanation, 6)).toBe(sentence);
});

test('a test that fails anywhere, or of which too little is known, has a sentence, too', () => {
  expect(axisSentence({ kind: 'every_leg', probability: 1 }, 6)).toBe(
    'Fails in every leg: its failures follow no axis.',
  );
  expect(axisSentence({ kind: 'unknown' }, 6)).toBe('Too few commits tell its legs apart to say where it fails.');
  expect(axisSentence({ kind: 'unknown' }, 1)).toBe('It ran in one leg only, so there is nothing to compare.');
});

describe('legs', () => {
  const on = (
    day: number,
    { jobName = 'unit', pipelineName = 'CI', os = 'linux', isFailed = false, more = {} } = {},
  ): LegExecution => ({
    pipelineName,
    jobName,
    axes: axesText({ os, ...more }),
    commit: `c${day}`,
    day,
    isFailed,
  });
  const days = Array.from({ length: 12 }, (_, day) => day);

  test('are counted, those that fail most first', () => {
    const { legs, explanation } = whereItFails(
      days.flatMap((day) => [on(day), on(day, { os: 'windows', isFailed: true })]),
    );
    expect(legs).toEqual([
      { pipelineName: 'CI', jobName: 'unit', axes: { os: 'windows' }, passed: 0, failed: 12 },
      { pipelineName: 'CI', jobName: 'unit', axes: { os: 'linux' }, passed: 12, failed: 0 },
    ]);
    expect(explanation).toMatchObject({ terms: [[{ axis: 'os', values: ['windows'] }]] });
  });

  test('of several CI jobs and pipelines differ by these, as by axes', () => {
    const jobs = ['unit', 'slow', 'arm'];
    const byJob = days.flatMap((day) =>
      jobs.map((jobName) => on(day, { jobName, isFailed: jobName === 'slow' && day !== 3 })),
    );
    expect(whereItFails(byJob).explanation).toMatchObject({ terms: [[{ axis: 'job', values: ['slow'] }]] });
    const byPipeline = byJob.map((one) => ({ ...one, jobName: 'unit', pipelineName: one.jobName }));
    expect(whereItFails(byPipeline).explanation).toMatchObject({ terms: [[{ axis: 'pipeline', values: ['slow'] }]] });
  });

  test('whose own axes are called job and pipeline keep them apart from those of the CI', () => {
    const results = days.flatMap((day) =>
      ['a', 'b', 'c'].flatMap((job) =>
        ['x', 'y'].map((jobName) => on(day, { jobName, more: { job }, isFailed: jobName === 'x' })),
      ),
    );
    expect(whereItFails(results).explanation).toMatchObject({ terms: [[{ axis: 'CI job', values: ['x'] }]] });
  });
});

test('the first failures of a pull request say nothing of where a test fails, however clear they look', () => {
  const legs = ['linux', 'windows'].flatMap((os) => ['3.12', '3.13'].map((python) => axesText({ os, python })));
  for (const isIll of [(leg: string) => leg.includes('windows'), (leg: string) => leg === legs[3]])
    for (const pushes of [1, 2]) {
      const { explanation, scope } = whereItFails(
        Array.from({ length: 30 }, (_, commit) =>
          legs.map((axes) => ({
            ...{ pipelineName: 'CI', jobName: 'unit', axes, commit: `c${commit}`, day: commit },
            isFailed: commit >= 30 - pushes && isIll(axes),
          })),
        ).flat(),
      );
      expect([explanation.kind, scope]).toEqual(['unknown', null]);
    }
});
