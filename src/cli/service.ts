/** How `serve` and `worker` run the service, and how they end if it does not start. */
import type { Config, Role } from '../config.ts';
import { createLogger } from '../observability/log.ts';
import { environmentWithSettings, type ProcessKind } from '../runtime.ts';
import { sentenceOf } from './sentence.ts';

/** The log is JSON to its last line: only a person at a terminal gets the sentence alone. */
export async function runService(read: () => Config): Promise<void> {
  try {
    const config = read();
    beginWithSettings(KINDS[config.role]);
    const { serve } = await import('../main.ts');
    await serve(config);
  } catch (error) {
    if (process.stderr.isTTY === true) throw error;
    createLogger('info').fatal(sentenceOf(error));
    process.exitCode = 1;
  }
}

/** In role `all`, the process that is started has the embedded ClickHouse. */
const KINDS: Record<Role, ProcessKind> = { all: 'engine', worker: 'workers', api: 'api' };

/** Begins again as the same process, unless it has the settings of the runtime already. */
function beginWithSettings(kind: ProcessKind): void {
  const environment = environmentWithSettings(kind);
  // Windows has no such call.
  if (!environment || !process.execve || process.platform === 'win32') return;
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], environment);
}
