/** How long a start on the stored data takes, and the commands that read all of it. */

import { runCommand } from '../support/service-process.ts';
import type { DataOptions } from './data.ts';
import { type Figure, figure } from './report.ts';
import type { BenchService } from './service.ts';
import { storeWithoutQueue } from './store.ts';

type Maintenance = 'verify' | 'rebuild';

/** The service runs before and after. */
export async function measureMaintenance(
  service: BenchService,
  commands: readonly Maintenance[],
  say: (what: string) => void,
): Promise<Figure[]> {
  await service.untilEvaluated();
  await service.stop();
  const figures = commands.map((command) => measureCommand(service.folder, command, say));
  return [figure('start.filled', await service.start(), 's'), ...figures];
}

/** Jobs of the source up to `to`, stored without the queue and judged by a rebuild. The service runs before and after. */
export async function fillDirectly(
  service: BenchService,
  source: DataOptions,
  to: number,
  say: (what: string) => void,
): Promise<Figure[]> {
  await service.stop();
  const started = performance.now();
  await storeWithoutQueue({ folder: service.folder, source, to });
  const perSecond = (to * source.chunk * 1_000) / (performance.now() - started);
  const rebuilt = measureCommand(service.folder, 'rebuild', say);
  await service.start();
  return [figure('fill.stored', perSecond, '/s'), rebuilt];
}

function measureCommand(folder: string, command: Maintenance, say: (what: string) => void): Figure {
  say(command);
  const started = performance.now();
  const { code, out } = runCommand(folder, command);
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${out}`);
  return figure(`${command}.all`, (performance.now() - started) / 1_000, 's');
}
