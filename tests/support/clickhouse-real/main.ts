/**
 * One real ClickHouse server, in this process: `bun main.ts '<options as JSON>'`.
 *
 * The library of chdb contains clickhouse-local, and that can listen over HTTP, with users, grants and profiles. The call
 * does not return, so it runs in a worker thread. The process ends with the one that started it, also if that is killed.
 */
import { CString, dlopen, ptr } from 'bun:ffi';
import { fileURLToPath } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { type Configured, configure, LIBRARY, optionsSchema, untilReady } from './configure.ts';

const configuredSchema = z.object({ data: z.string(), config: z.string(), listeners: z.array(z.string()) });

/** Runs clickhouse-local in this thread until its statement ends. */
function runClickHouse({ config, data, listeners }: Configured): void {
  const library = dlopen(LIBRARY, {
    chdb_query_cmdline: { args: ['int', 'ptr'], returns: 'ptr' },
    chdb_result_error: { args: ['ptr'], returns: 'ptr' },
  });
  // The server lives as long as the last statement.
  const statements = [
    ...listeners.map((listener) => `SYSTEM START LISTEN ${listener}`),
    `SELECT sleepEachRow(1) FROM system.numbers
     SETTINGS max_block_size = 1, max_threads = 1, function_sleep_max_microseconds_per_block = 10000000 FORMAT Null`,
  ];
  const args = ['clickhouse', `--config-file=${config}`, `--path=${data}`, '--query', statements.join('; ')];
  const texts = args.map((arg) => Buffer.from(`${arg}\0`));
  const argv = new BigUint64Array(texts.map((text) => BigInt(ptr(text))));
  const result = library.symbols.chdb_query_cmdline(args.length, ptr(argv));
  const error = result && library.symbols.chdb_result_error(result);
  if (error) console.error(new CString(error).toString());
}

async function main(): Promise<void> {
  const options = optionsSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
  // The process that started it is gone.
  process.stdin.on('end', () => process.exit(1)).resume();
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: configure(options) });
  worker.on('exit', () => process.exit(1));
  await untilReady(options.port);
  console.log('ready');
}

if (isMainThread) await main();
else {
  runClickHouse(configuredSchema.parse(workerData));
  process.exit(0);
}
