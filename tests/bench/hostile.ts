/**
 * `bun tests/bench/hostile.ts [part of a kind]`: what others notice of ten costly requests or uploads of at most 10 MiB, for each kind of body.
 * Goals: liveness within 250 ms, another owner's upload within 2 s, at most 300 MB more memory.
 */

import { closeAll } from '../support/at-end.ts';
import { makeFolder } from '../support/folder.ts';
import { HOSTILE_REQUESTS, noticed, warmUp } from '../support/hostile-requests.ts';
import { ServiceProcess } from '../support/service-process.ts';

const [wanted = ''] = process.argv.slice(2);
const service = ServiceProcess.onFolder(makeFolder('hostile'));
await service.start();
await warmUp(service);
try {
  for (const [name, make] of Object.entries(HOSTILE_REQUESTS)) {
    if (!name.includes(wanted)) continue;
    const { answers, livenessMs, uploadMs, memoryGrowth } = await noticed(service, make);
    const statuses = [...answers].map(([status, count]) => `${count} × ${status}`).join(', ');
    console.log(
      `${name}: ${statuses}; liveness ${livenessMs.toFixed(0)} ms, another upload ${uploadMs.toFixed(0)} ms, ${(memoryGrowth / 1e6).toFixed(0)} MB more`,
    );
  }
} finally {
  await service.stop();
  await closeAll();
}
process.exit(0);
