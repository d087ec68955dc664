/**
 * Many uploaders at once against a service on embedded stores: what reads, lists of quarantines and health checks feel of it,
 * what it takes, and whether everything is stored in the end. Each uploader sends reports one after the other, and again after
 * `Retry-After` when it is refused.
 *
 * `bun tests/bench/overload.ts [uploaders] [tests of a report] [seconds] [seconds to drain]`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceProcess } from '../support/service-process.ts';
import { overload } from '../support/uploaders.ts';

const [uploaders = 200, tests = 5_000, seconds = 30, drainSecondsMax = 600] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'ci-insights-overload-'));
const service = ServiceProcess.onFolder(folder);
await service.start();
try {
  console.log(JSON.stringify(await overload(service, { uploaders, tests, seconds, drainSecondsMax }), null, 1));
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
