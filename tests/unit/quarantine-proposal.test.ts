/** The command that `why` and `explain` propose is one that a shell reads as it is meant. */
import { expect, test } from 'bun:test';
import { quarantineProposal } from '../../src/client/quarantine-proposal.ts';

test.each([
  [{ axes: { os: ['windows', 'linux'] } }, '--axis os=windows --axis os=linux'],
  [{ pipeline_name: 'CI', job_name: 'unit tests' }, "--pipeline CI --job 'unit tests'"],
  [{ axes: { image: ["a, b='$c'"] } }, `--axis 'image=a, b='\\''$c'\\'''`],
])('%j', (scope, flags) =>
  expect(quarantineProposal('cart > sums', scope)).toBe(
    `To quarantine it only there: ci-insights quarantine add 'cart > sums' ${flags} --reason '…'`,
  ),
);
