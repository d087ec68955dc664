/** Waiting for a server that was just started. */
import { until } from './patience.ts';

/**
 * Returns once something listens on this port of the machine.
 *
 * @param ended whether the process that should listen has ended
 * @throws Error if it has
 */
export async function untilListening(port: number, ended: () => boolean): Promise<void> {
  await until(async () => {
    if (ended()) throw new Error(`what should listen on port ${port} has ended`);
    try {
      (await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })).end();
      return true;
    } catch {
      return false;
    }
  });
}
