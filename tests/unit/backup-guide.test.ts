/** The guide to backups keeps what it copies from others, and lets in no one whose access had ended. */
import { describe, expect, test } from 'bun:test';

const guide = await Bun.file(new URL('../../docs/operations.md', import.meta.url)).text();
/** The commands of the first block after a text. */
const commandsAfter = (text: string): string[] =>
  (guide.slice(guide.indexOf(text)).split('```sh\n')[1]?.split('```')[0] ?? '').split('\n');
const placeOf = (commands: readonly string[], part: string): number =>
  commands.findIndex((command) => command.includes(part));

describe('the guide', () => {
  test.each(['To back up,', 'To restore:'])('%s writes files that only their owner can read', (text) => {
    const commands = commandsAfter(text);
    expect(commands[0]).toBe('umask 077');
    expect(commands.some((command) => command.includes(' > ') || command.includes(' cp '))).toBe(true);
  });

  test('to a restore ends sessions and revokes keys after it, and before the API starts', () => {
    const commands = commandsAfter('To restore:');
    const order = [
      'audit --action key.revoke',
      'stop api',
      'pg_restore',
      'sessions end --all',
      'keys revoke',
      'start api',
    ];
    const places = order.map((part) => placeOf(commands, part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });
});
