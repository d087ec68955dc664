/** Tools that write reports: how each is installed and run. What we say of the reports is in expected.json. */
/** `bun`: it is here. `maven` is the machine's, and installs the rest. */
export type Installer = 'bun' | 'npm' | 'python' | 'go' | 'maven';

/**
 * A tool in one version, and a project of its kind with tests that pass, fail, are skipped, are run again, have the same
 * name, have rows, or end their process.
 */
export interface Tool {
  /** As docs/executions.md names it. */
  name: string;
  /** Versions of what writes the reports, as docs/executions.md shows them. */
  version: string;
  /** What installs it. */
  from: Installer;
  /** Contents of the project, by path. */
  files: Readonly<Record<string, string>>;
  /** Written one after the other. */
  reports: readonly ToolReport[];
}

interface ToolReport {
  /** What wrote it, with its version, if that is a package besides the tool: docs/producers.md names it. */
  by?: string;
  /** Its copy in tests/fixtures, in the folder of its format. */
  fixture: string;
  /** Run in the project; absent: the one before wrote this report, too. Tests fail, so its exit code says nothing. */
  command?: readonly string[];
  /** The file that the command writes, or a folder with the files of one report; absent: the standard output. */
  file?: string;
}
