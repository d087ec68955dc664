/** The zone of the machine, and with it daylight saving, changes no answer. */
import { expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';

const ANSWERS = fileURLToPath(new URL('../support/time-answers.ts', import.meta.url));
/** Summer time in the north, in the south by half an hour, far ahead with a day left out, and an odd offset. */
const ZONES = ['America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia', 'Asia/Kathmandu'];

const answersIn = (zone: string): unknown => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ANSWERS], {
    env: { PATH: process.env.PATH ?? '', TZ: zone },
  });
  if (exitCode !== 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
};

test('rules, parsers and commands answer the same in every time zone', () => {
  const answers = answersIn('UTC');
  for (const zone of ZONES) expect([zone, answersIn(zone)]).toEqual([zone, answers]);
});
