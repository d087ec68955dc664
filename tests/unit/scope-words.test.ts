/** What help and guides say of scopes follows from the rules. */
import { expect, test } from 'bun:test';
import { PERMITTED } from '../../src/access/credential.ts';
import { logsCommand } from '../../src/client/commands/logs.ts';
import { KEY_SCOPES } from '../../src/domain/key-scope.ts';

test('the help of logs and the guide name the scopes that may read the event log', async () => {
  const scopes = KEY_SCOPES.filter((scope) => PERMITTED[scope].includes('events'));
  expect(logsCommand().description()).toContain(`the scope ${scopes.join(' or ')}`);
  const guide = await Bun.file(new URL('../../docs/producers.md', import.meta.url)).text();
  expect(guide).toContain(`\`logs\` one with the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}`);
});
