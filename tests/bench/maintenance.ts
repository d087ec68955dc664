/** How long a start on the stored data takes, and the commands that read all of it. */
import { runCommand } from '../support/service-process.ts';
import { type Figure, figure } from './report.ts';
import type { BenchService } from './service.ts';

/** The service runs before and after. */
export async function measureMaintenance(service: BenchService, say: (what: string) => void): Promise<Figure[]> {
  await service.untilEvaluated();
  await service.stop();
  const figures: Figure[] = [];
  for (const command of ['verify', 'rebuild']) {
    say(command);
    const started = performance.now();
    const { code, out } = runCommand(service.folder, command);
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${out}`);
    figures.push(figure(`${command}.all`, (performance.now() - started) / 1_000, 's'));
  }
  return [figure('start.filled', await service.start(), 's'), ...figures];
}
