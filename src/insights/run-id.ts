/** The ids of runs in addresses: what names a run, so that a look-up needs no index of ids. */
import { z } from 'zod';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { textProblem } from '../domain/text.ts';

/** Names a pipeline's run: all CI jobs and attempts of a pipeline for a commit. */
export interface RunName {
  pipelineName: string;
  /** The CI provider's id. */
  runId: string;
  /** Empty where the run did not report it. */
  commit: string;
}

const name = z.string().refine((value) => textProblem(value, 0, NAME_LENGTH_MAX) === null);
const stored = z.tuple([name, name, name]);

export const runIdOf = ({ pipelineName, runId, commit }: RunName): string =>
  Buffer.from(JSON.stringify([pipelineName, runId, commit])).toString('base64url');

/** Undefined for a text that is not such an id. */
export function readRunId(text: string): RunName | undefined {
  try {
    const read = stored.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    if (!read.success) return undefined;
    const [pipelineName, runId, commit] = read.data;
    return { pipelineName, runId, commit };
  } catch {
    return undefined;
  }
}
