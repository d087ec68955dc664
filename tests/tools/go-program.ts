/** Programs in Go, built once from their modules and kept in `node_modules/.cache`. */
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pythonEnvironment } from '../clients/support/python.ts';
import { run } from '../clients/support/run.ts';

const CACHE = resolve(import.meta.dir, '../../node_modules/.cache/tools');

/** Settings of Go: the toolchain is the one that the package of Python has. */
export const GO_SETTINGS = { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', GOCACHE: join(CACHE, 'go-build') };

/**
 * The path of a program; undefined if it cannot be built here, with the reason printed. In CI it must be.
 *
 * @example await goProgram('github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0')
 */
export async function goProgram(module: string): Promise<string | undefined> {
  const [path = '', version] = module.split('@');
  const name = path.split('/').at(-1) ?? '';
  const folder = join(CACHE, `${name}-${version}`);
  const program = join(folder, name);
  if (existsSync(program)) return program;
  const python = await pythonEnvironment('tools');
  if (!python) return undefined;
  mkdirSync(folder, { recursive: true });
  // What the machine says of its registry is needed here.
  const env = { ...process.env, ...GO_SETTINGS, GOBIN: folder };
  const { code, printed } = await run([join(python.bin, 'go'), 'install', module], { env });
  if (code === 0) return program;
  if (process.env.CI === 'true') throw new Error(`in CI no tool is skipped, but: ${printed}`);
  console.error(`skipped: what needs ${name}, because it cannot be built: ${printed.trim().split('\n').at(-1)}`);
  return undefined;
}
