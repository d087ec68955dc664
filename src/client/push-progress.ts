/** Sends many reports, and shows how far it is: a bar on a terminal, otherwise a line per report. */
import { SingleBar } from 'cli-progress';
import { count, printable } from './output.ts';
import type { UploadResult } from './upload.ts';

/** Uploads at a time: enough to hide the latency of the service, without being a burden to it. */
const CONCURRENCY = 4;

/** The results in the order of the uploads, whichever finished first. */
export async function eachWithProgress<T>(
  uploads: readonly T[],
  send: (upload: T) => Promise<UploadResult>,
): Promise<UploadResult[]> {
  const progress = openProgress(uploads.length, process.stderr.isTTY === true);
  const results: UploadResult[] = [];
  const left = uploads.entries();
  const work = async (): Promise<void> => {
    for (const [index, upload] of left) {
      const result = await send(upload);
      results[index] = result;
      progress.done(result);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  progress.stop();
  return results;
}

interface Progress {
  done(result: UploadResult): void;
  stop(): void;
}

/** Both write to standard error: standard output is for the summary. */
function openProgress(total: number, isTerminal: boolean): Progress {
  return isTerminal ? bar(total) : lines(total);
}

function bar(total: number): Progress {
  const progressBar = new SingleBar({
    format: 'uploading [{bar}] {value}/{total} reports, {executions} executions',
    hideCursor: true,
    stream: process.stderr,
  });
  let executions = 0;
  progressBar.start(total, 0, { executions: '0' });
  return {
    done: (result) => {
      executions += result.accepted;
      progressBar.increment(1, { executions: executions.toLocaleString('en-US') });
    },
    stop: () => progressBar.stop(),
  };
}

function lines(total: number): Progress {
  let finished = 0;
  return {
    done: (result) => {
      finished++;
      const what = result.outcome === 'failed' ? 'failed' : `${result.outcome}, ${count(result.accepted, 'execution')}`;
      process.stderr.write(`[${finished}/${total}] ${printable(result.file)}: ${what}\n`);
    },
    stop: () => {},
  };
}
