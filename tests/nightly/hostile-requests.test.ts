/** Nothing small stops everybody: costly requests are answered in order, and others are served meanwhile. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOSTILE_REQUESTS, noticed, warmUp } from '../support/hostile-requests.ts';
import { ServiceProcess } from '../support/service-process.ts';

/** Everything that was taken, answered, or refused with a reason. */
const ORDERLY = ['200', '202', '403', '404', '413', '415', '422', '429', '503', 'closed'];
/** Twice the goal, which `bun tests/bench/hostile.ts` measures: how much is given back in between depends on the machine. */
const MEMORY_GROWTH_MAX = 600e6;
const WAIT_MS_MAX = 200_000;

const folder = mkdtempSync(join(tmpdir(), 'ci-insights-hostile-'));
const service = ServiceProcess.onFolder(folder);
beforeAll(async () => {
  await service.start();
  await warmUp(service);
}, WAIT_MS_MAX);
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

for (const [name, make] of Object.entries(HOSTILE_REQUESTS))
  test(
    `${name}, ten at once: each is answered, another owner's upload is stored, and memory stays bounded`,
    async () => {
      const { answers, uploadMs, memoryGrowth } = await noticed(service, make);
      expect([...answers.keys()].filter((status) => !ORDERLY.includes(status))).toEqual([]);
      expect(uploadMs).toBeLessThan(Number.POSITIVE_INFINITY);
      expect(memoryGrowth).toBeLessThan(MEMORY_GROWTH_MAX);
    },
    WAIT_MS_MAX,
  );
