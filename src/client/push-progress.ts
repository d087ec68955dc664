/** The progress of a push: a bar on a terminal, otherwise a line per report. */
import { SingleBar } from 'cli-progress';
import { count, printable } from './output.ts';
import type { UploadResult } from './upload.ts';

export interface Progress {
  done(result: UploadResult): void;
  stop(): void;
}

/** Both write to standard error: standard output is for the summary. */
export function openProgress(total: number, isTerminal: boolean): Progress {
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
