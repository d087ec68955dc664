/** Throw-away Python environments with clients from PyPI; each is made once a run and removed with it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from '../../support/at-end.ts';
import { run } from './run.ts';

/** The versions that the clients are tested in. `newest` is the last one under an open-source licence. */
const ENVIRONMENTS = {
  newest: ['mergify-cli==2026.10.3', 'pytest-mergify==2026.10.3', 'pytest==9.2.0', 'bullmq==3.4.4'],
  /** Before June 2026 the CLI was written in Python; the plugin before October 2026 still asked for `quarantines`. */
  older: ['mergify-cli==2025.10.17.1', 'pytest-mergify==2026.9.24.1', 'pytest==9.2.0'],
  schemathesis: ['schemathesis==4.32.5'],
} as const;

export interface PythonEnvironment {
  /** Folder of its programs. */
  bin: string;
}

const made = new Map<string, Promise<PythonEnvironment | undefined>>();

/**
 * The environment with these clients; undefined where it cannot be made, with the reason printed. In CI it must be made.
 *
 * @example
 * const python = await pythonEnvironment('newest');
 * describe.skipIf(!python)('the mergify CLI', () => { … });
 */
export function pythonEnvironment(name: keyof typeof ENVIRONMENTS): Promise<PythonEnvironment | undefined> {
  let environment = made.get(name);
  if (!environment) {
    environment = make(name);
    made.set(name, environment);
  }
  return environment;
}

async function make(name: keyof typeof ENVIRONMENTS): Promise<PythonEnvironment | undefined> {
  const folder = mkdtempSync(join(tmpdir(), `ci-insights-python-${name}-`));
  atEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const reason = await whyNot(folder, ENVIRONMENTS[name]);
  if (reason === undefined) return { bin: join(folder, 'bin') };
  if (process.env.CI === 'true') throw new Error(`in CI no client is skipped, but ${reason}`);
  console.error(`skipped: tests of ${ENVIRONMENTS[name].join(', ')}, because ${reason}`);
  return undefined;
}

async function whyNot(folder: string, packages: readonly string[]): Promise<string | undefined> {
  if (Bun.which('python3') === null) return 'there is no python3 here';
  // pip is told by the machine's own variables where its registry is.
  const { env } = process;
  const venv = await run(['python3', '-m', 'venv', folder], { env });
  if (venv.code !== 0) return `python3 cannot make environments: ${lastLine(venv.printed)}`;
  const pip = [
    join(folder, 'bin', 'pip'),
    'install',
    '--quiet',
    '--no-compile',
    '--disable-pip-version-check',
    ...packages,
  ];
  const install = await run(pip, { env });
  return install.code === 0 ? undefined : `pip cannot install them: ${lastLine(install.printed)}`;
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
