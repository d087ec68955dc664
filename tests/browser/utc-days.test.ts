/** The days of the page are those of UTC, wherever its reader is. In processes, because a zone is read when one starts. */
import { expect, test } from 'bun:test';
import { resolve } from 'node:path';

const UTC_MODULE = resolve(import.meta.dir, '../../web/ui/utc.ts');
const DAY_S = 86_400;

test.each(['America/New_York', 'Europe/Prague', 'Pacific/Kiritimati'])(
  'days are those of UTC for a reader in %s',
  (zone) => {
    const program = `import { formatUtcDay, formatUtcSpan, formatUtcTick } from ${JSON.stringify(UTC_MODULE)};
    const day = Date.UTC(2026, 10, 8);
    console.log([
      formatUtcDay(day), formatUtcTick(day, false), formatUtcTick(day + ${3_600_000 * 13}, false),
      formatUtcSpan(day, day + ${1_000 * DAY_S}), formatUtcSpan(day, day + ${3_600_000}),
    ].join('|').replaceAll(/\\s+/g, ' '));`;
    const env = { ...process.env, TZ: zone, LC_ALL: 'en_US.UTF-8' };
    const { stdout } = Bun.spawnSync([process.execPath, '-e', program], { env });
    expect(stdout.toString().trim()).toBe(
      'Nov 8|Nov 8|01:00 PM|Nov 8, 2026 UTC|Nov 8, 2026, 12:00 AM – Nov 8, 2026, 1:00 AM UTC',
    );
  },
);
