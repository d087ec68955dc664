/** The workers as a separate process: their garbage is collected without regard to the memory of the embedded ClickHouse. */
import { runPart } from '../src/parts/process.ts';
import { startWorkers } from './main.ts';

await runPart(async (deps) => {
  const workers = startWorkers(deps);
  void deps.notifications.connect();
  return { stop: workers.stop };
});
