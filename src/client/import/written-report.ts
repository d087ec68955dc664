/** A report of tests that came in no report: from a log, or from the answers of an API. Pure. */

export interface WrittenTest {
  name: string;
  /** In the word of the tool (src/domain/status-words.ts). */
  status: string;
  /** Milliseconds. */
  duration: number;
  /** Milliseconds since the epoch. */
  start?: number;
  stop?: number;
  suite?: readonly string[];
  message?: string;
  trace?: string;
  filePath?: string;
  /** The attempts before the last. */
  retryAttempts?: readonly { status: string }[];
}

/** In the Common Test Report Format. */
export const ctrfOf = (tool: string, tests: readonly WrittenTest[]): string =>
  JSON.stringify({
    reportFormat: 'CTRF',
    results: { tool: { name: tool }, summary: { tests: tests.length }, tests },
  });
