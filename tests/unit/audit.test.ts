/** How CI judges what the registry knows about the dependencies. */
import { expect, test } from 'bun:test';
import { judgeOutput, judgeReport } from '../../scripts/audit.ts';

const advisory = (severity: string, id = severity) => ({
  url: `https://advisories.example/${id}`,
  title: 'Reads too much',
  severity,
  vulnerable_versions: '<1.2.3',
});

test('a severe advisory fails, a lesser one is shown', () => {
  for (const [severity, isFailed] of [
    ['low', false],
    ['moderate', false],
    ['high', true],
    ['critical', true],
  ] as const) {
    const judged = judgeReport({ parser: [advisory(severity)] });
    expect([severity, judged.isFailed]).toEqual([severity, isFailed]);
    expect(judged.lines[0]).toStartWith(`${severity}: parser <1.2.3: Reads too much`);
  }
});

test('a severe advisory that is accepted with a reason does not fail, and the reason is shown', () => {
  const report = { parser: [advisory('high', 'one')] };
  const judged = judgeReport(report, { 'https://advisories.example/one': 'the parser reads only our own files' });
  expect(judged.isFailed).toBe(false);
  expect(judged.lines[0]).toEndWith('accepted: the parser reads only our own files');
});

test('no advisories pass; a registry that does not answer passes too, and the output says that nothing was checked', () => {
  expect(judgeOutput('bun audit v1\n{}\n', '')).toEqual({
    lines: ['0 known advisories, 0 of them severe and not accepted.'],
    isFailed: false,
  });
  for (const [problem, why] of [
    ['error: POST https://registry.example/bulk - 405', 'answered 405'],
    ['error: ConnectionRefused', 'gave no usable answer'],
  ] as const)
    expect(judgeOutput('', problem)).toEqual({
      lines: [expect.stringContaining(`NOT AUDITED: the package registry ${why}`)],
      isFailed: false,
    });
});
