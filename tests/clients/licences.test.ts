/** The client tests install only open source. An environment with anything else is refused before any of it runs. */
import { expect, test } from 'bun:test';
import { licenceRefusal } from './support/licences.ts';
import { pythonEnvironment } from './support/python.ts';

const newest = await pythonEnvironment('newest');
const older = await pythonEnvironment('older');

test.skipIf(!newest || !older).each([
  ['mergify_cli 2026.10.3', newest],
  ['pytest-mergify 2026.10.3', newest],
  ['bullmq 3.4.4', newest],
  ['mergify_cli 2025.10.17.1', older],
  ['pytest-mergify 2026.9.24.1', older],
])('%s and everything installed with it is open source', (client, environment) => {
  const packages = environment?.packages ?? [];
  expect(packages.map(({ name, version }) => `${name} ${version}`)).toContain(client);
  expect(packages.flatMap((one) => licenceRefusal(one) ?? [])).toEqual([]);
});
