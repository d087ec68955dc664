/**
 * Python environments with clients from PyPI. An environment is made once for its list of packages and kept in
 * `node_modules/.cache`: pip takes longer to install the clients than the tests take to run them.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type LicensedPackage, pythonPackages, refuseClosed } from './licences.ts';
import { run } from './run.ts';

const CACHE = resolve(import.meta.dir, '../../../node_modules/.cache/clients');

/**
 * Lists of packages with exact versions: `tests/clients/requirements/*.txt`. `newest` has the last releases of the mergify clients
 * under an open-source licence, `older` the CLI as it was before June 2026.
 */
type Requirements = 'newest' | 'older' | 'schemathesis' | 'recipes' | 'tools' | 'deploy' | 's3';

export interface PythonEnvironment {
  /** Folder of its programs. */
  bin: string;
  packages: LicensedPackage[];
}

const made = new Map<string, Promise<PythonEnvironment | undefined>>();

/**
 * The environment with these clients; undefined if it cannot be made, with the reason printed. In CI it must be made.
 *
 * @example
 * const python = await pythonEnvironment('newest');
 * describe.skipIf(!python)('the mergify CLI', () => { … });
 */
export function pythonEnvironment(name: Requirements): Promise<PythonEnvironment | undefined> {
  let environment = made.get(name);
  if (!environment) {
    environment = make(name);
    made.set(name, environment);
  }
  return environment;
}

async function make(name: Requirements): Promise<PythonEnvironment | undefined> {
  const list = join(import.meta.dir, '../requirements', `${name}.txt`);
  const key = Bun.hash(`${await Bun.file(list).text()} ${Bun.which('python3')}`).toString(36);
  const pointer = join(CACHE, `${name}-${key}`);
  const kept = existsSync(pointer) ? readFileSync(pointer, 'utf8') : '';
  if (existsSync(kept)) return environmentOf(kept);

  mkdirSync(CACHE, { recursive: true });
  // The programs of an environment contain its path, so it cannot be moved: once it is whole, a file points to it.
  const folder = mkdtempSync(`${pointer}-`);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const reason = await whyNot(folder, list);
  if (reason === undefined) {
    try {
      const environment = environmentOf(folder);
      writeFileSync(`${folder}.path`, folder);
      renameSync(`${folder}.path`, pointer);
      return environment;
    } catch (error) {
      remove();
      throw error;
    }
  }
  remove();
  if (process.env.CI === 'true') throw new Error(`in CI no client is skipped, but ${reason}`);
  console.error(`skipped: tests of the clients in requirements/${name}.txt, because ${reason}`);
  return undefined;
}

function environmentOf(folder: string): PythonEnvironment {
  const packages = pythonPackages(folder);
  refuseClosed(packages);
  return { bin: join(folder, 'bin'), packages };
}

async function whyNot(folder: string, list: string): Promise<string | undefined> {
  if (Bun.which('python3') === null) return 'there is no python3 here';
  // pip takes the address of its registry from the machine's own variables.
  const { env } = process;
  const venv = await run(['python3', '-m', 'venv', folder], { env });
  if (venv.code !== 0) return `python3 cannot make environments: ${lastLine(venv.printed)}`;
  const pip = [join(folder, 'bin', 'pip'), 'install', '--quiet', '--no-compile', '--disable-pip-version-check'];
  const install = await run([...pip, '--requirement', list], { env });
  return install.code === 0 ? undefined : `pip cannot install them: ${lastLine(install.printed)}`;
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
