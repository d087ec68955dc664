/** Shows the result of `gate` where people look: by the CI provider that runs the job. Never fails the job. */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GateResult } from '../gate/result.ts';
import { printCommand, printError, printJson } from '../output.ts';
import { githubCommands } from './github.ts';
import { annotationsOf, inSection } from './gitlab.ts';
import { markdownOf } from './markdown.ts';
import { COLOURS, NO_COLOURS, plainLines } from './plain.ts';

/** In the folder of the job, so that it can keep them as artifacts. */
const ARTIFACTS_FOLDER = '.ci-insights';
const ANNOTATE_MS_MAX = 10_000;

export interface Surroundings {
  variables: Readonly<Record<string, string | undefined>>;
  isTerminal: boolean;
  isJson: boolean;
  nowMs: number;
}

export function publish(result: GateResult, { variables, isTerminal, isJson, nowMs }: Surroundings): void {
  const palette = isTerminal && !variables.NO_COLOR ? COLOURS : NO_COLOURS;
  const lines = plainLines(result, palette);
  if (isJson) printJson(jsonOf(result));
  else for (const line of variables.GITLAB_CI ? inSection(lines, nowMs) : lines) printCommand(line);
  if (variables.GITHUB_ACTIONS) {
    // Runners take commands from both streams; scripts read standard output.
    for (const command of githubCommands(result)) printCommand(command, isJson);
    const summary = variables.GITHUB_STEP_SUMMARY;
    if (summary) quietly('the job summary', () => appendFileSync(summary, `${markdownOf(result)}\n`));
  }
  if (variables.GITLAB_CI) quietly(ARTIFACTS_FOLDER, () => writeArtifacts(result));
  if (variables.BUILDKITE) quietly('the annotation', () => annotate(result));
}

/** More failures are counted and left out of what is printed: an agent that reads it reads it whole. */
const FAILURES_PRINTED_MAX = 1_000;

/** What `--json` prints. */
export const jsonOf = (result: GateResult): GateResult & { failuresLeftOut: number } => ({
  ...result,
  failures: result.failures.slice(0, FAILURES_PRINTED_MAX),
  failuresLeftOut: Math.max(0, result.failures.length - FAILURES_PRINTED_MAX),
});

function writeArtifacts(result: GateResult): void {
  mkdirSync(ARTIFACTS_FOLDER, { recursive: true });
  writeFileSync(join(ARTIFACTS_FOLDER, 'annotations.json'), JSON.stringify(annotationsOf(result)));
  writeFileSync(join(ARTIFACTS_FOLDER, 'gate.md'), markdownOf(result));
  writeFileSync(join(ARTIFACTS_FOLDER, 'gate.json'), JSON.stringify(result, null, 2));
}

/** Another step of the build may have annotated too: its own text is added, with its own style. */
function annotate(result: GateResult): void {
  const style = result.decision.code === 0 ? (result.failures.length > 0 ? 'warning' : 'success') : 'error';
  const context = `ci-insights-${style}`;
  const { error, status } = spawnSync(
    'buildkite-agent',
    ['annotate', '--append', '--style', style, '--context', context],
    {
      input: `${markdownOf(result)}\n`,
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: ANNOTATE_MS_MAX,
    },
  );
  if (error) throw error;
  if (status !== 0) throw new Error(`buildkite-agent ended with ${status}`);
}

/** An output that fails is not missed: the log of the job has everything. */
function quietly(what: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    printError(`${what} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}
