/**
 * `bun run bench [--quick] [--json]`: generates its data from a seed, measures everything it compares in the same run, and prints a
 * table and JSON lines. `--quick` uses a tenth of the data, for a first look. Quote figures of a full run only.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/clock.ts';
import { readConfig } from '../../src/config.ts';
import { openDeps } from '../../src/deps.ts';
import { createLogger } from '../../src/observability/log.ts';
import { benchIngest } from './ingest.ts';
import { benchMemory } from './memory.ts';
import { benchReads } from './reads.ts';
import { print } from './report.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    executions: { type: 'string' },
  },
});

const seed = Number(values.seed);
const dataDir = mkdtempSync(join(tmpdir(), 'ci-insights-bench-'));
const config = readConfig({
  DATA_DIR: dataDir,
  ...(process.env.REDIS_URL ? { REDIS_URL: process.env.REDIS_URL } : {}),
});
const deps = await openDeps(config, { log: createLogger('error') });
try {
  const now = systemClock.now();
  process.stderr.write(`seed ${seed}\n`);
  const figures = [
    ...(await benchIngest(deps, { seed, executions: values.quick ? 100_000 : 1_000_000, now })),
    ...(await benchReads(deps, {
      seed,
      executions: Number(values.executions ?? (values.quick ? 1_000_000 : 10_000_000)),
      now,
    })),
    ...(await benchMemory(deps)),
  ];
  print(figures, values.json);
} finally {
  await deps.close();
  rmSync(dataDir, { recursive: true, force: true });
}
