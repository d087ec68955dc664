import { expect, test } from 'bun:test';
import { AUTO_QUARANTINE_MODES, autoQuarantineChange } from '../../src/domain/quarantine-rules.ts';

test('a change of auto-quarantine is named by whether it was and is on', () => {
  const changes = AUTO_QUARANTINE_MODES.map((before) =>
    AUTO_QUARANTINE_MODES.map((after) => autoQuarantineChange(before, after)),
  );
  expect(changes).toEqual([
    [undefined, 'enabled', 'enabled'],
    ['disabled', undefined, 'modified'],
    ['disabled', 'modified', undefined],
  ]);
});
