/**
 * Unpacks and parses a hostile body from standard input in a separate process, and prints as JSON what it cost (seconds
 * of CPU, and peak memory above the start in MB) and how it ended.
 */
import { readFileSync } from 'node:fs';
import { FORMATS } from '../../src/formats/formats.ts';
import type { ParsedUpload } from '../../src/formats/upload.ts';
import { gunzip } from '../../src/ingest/body.ts';
import { chunksOf } from '../../src/ingest/chunks.ts';
import { parseOtlp } from '../../src/ingest/otlp/map.ts';
import { parseReport } from '../../src/ingest/reports/parse.ts';
import { RUN } from './parsing.ts';

const [parser = ''] = process.argv.slice(2);
const sent = await Bun.stdin.bytes();

async function parse(body: Uint8Array): Promise<ParsedUpload> {
  if (parser === 'protobuf' || parser === 'json') return parseOtlp(body, parser);
  const format = FORMATS.find(({ name }) => name === parser);
  if (!format) throw new Error(`no format is called ${parser}`);
  return parseReport(format, body, { run: RUN, reportName: 'r' });
}

/** Not `maxRSS`, in which a process inherits the peak of the one that started it. */
const rssKb = (): number => Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]);
const startKb = rssKb();
const startCpu = process.cpuUsage();
let outcome: string;
try {
  const upload = await parse(await gunzip([sent]));
  const head = {
    uploadId: '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a',
    repository: { host: 'github.com', owner: 'acme', name: 'shop' },
    receivedAt: new Date(0),
  };
  let bytes = 0;
  // Packed one after the other, as the producer does.
  for (const job of chunksOf(upload, head)) bytes += JSON.stringify(job).length;
  const executions = upload.runs.reduce((sum, run) => sum + run.executions.length, 0);
  outcome = `${executions} executions, ${Math.round(bytes / 1e6)} MB of jobs`;
} catch (error) {
  outcome = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
const { user, system } = process.cpuUsage(startCpu);
console.log(
  JSON.stringify({ cpuSeconds: (user + system) / 1e6, peakMb: Math.round((rssKb() - startKb) / 1024), outcome }),
);
