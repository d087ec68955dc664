/** Sends many reports, and shows how far it is: a bar on a terminal, otherwise a line per report. */
import { inLog } from '../domain/foreign-text.ts';
import { count } from './output.ts';
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

/** One line that is written again: the terminal goes back to its start and clears it. */
const AGAIN = '\r\u001b[K';
const BAR_WIDTH = 30;

function bar(total: number): Progress {
  let finished = 0;
  let executions = 0;
  const show = (): void => {
    const filled = Math.round((BAR_WIDTH * finished) / Math.max(total, 1));
    const drawn = '='.repeat(filled).padEnd(BAR_WIDTH, '-');
    process.stderr.write(
      `${AGAIN}uploading [${drawn}] ${finished}/${total} reports, ${count(executions, 'execution')}`,
    );
  };
  show();
  return {
    done: (result) => {
      finished++;
      executions += result.accepted;
      show();
    },
    stop: () => process.stderr.write('\n'),
  };
}

function lines(total: number): Progress {
  let finished = 0;
  return {
    done: (result) => {
      finished++;
      const what = result.outcome === 'failed' ? 'failed' : `${result.outcome}, ${count(result.accepted, 'execution')}`;
      process.stderr.write(`[${finished}/${total}] ${inLog(result.file)}: ${what}\n`);
    },
    stop: () => {},
  };
}
