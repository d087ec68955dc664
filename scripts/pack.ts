/**
 * Packs what is published on npm: `bun scripts/pack.ts <folder>` writes a tarball of each package of `packages/` there.
 * A package is one bundled file with its types, its licence, and a page. Only the producer has dependencies: a program
 * has one BullMQ.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { bundleProgram, WITHOUT_KERBEROS } from '../src/download/bundle.ts';

const ROOT = resolve(import.meta.dir, '..');

interface Manifest {
  name: string;
  version: string;
  description: string;
  dependencies?: Record<string, string>;
  [field: string]: unknown;
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Dependencies stay outside of the bundle of these. */
const WITH_DEPENDENCIES = ['producer'];
export const PACKAGES = readdirSync(join(ROOT, 'packages')).sort();

/** Writes the tarball of a package into a folder and returns its path. */
export async function pack(name: string, folder: string): Promise<string> {
  const source = join(ROOT, 'packages', name);
  const entry = join(source, 'src/index.ts');
  const staging = mkdtempSync(join(tmpdir(), `ci-insights-pack-${name}-`));
  try {
    const root = readManifest(ROOT);
    const manifest: Manifest = { ...readManifest(source), version: root.version };
    const isProgram = manifest.bin !== undefined;
    const code = await (isProgram ? bundleProgram(entry) : bundleLibrary(entry, WITH_DEPENDENCIES.includes(name)));
    mkdirSync(join(staging, 'dist'));
    writeFileSync(join(staging, 'dist/index.mjs'), code);
    const dependencies = dependenciesOf(code, root.dependencies ?? {});
    if (Object.keys(dependencies).length > 0) manifest.dependencies = dependencies;
    // In the repository they are the sources.
    if (isProgram) manifest.bin = { 'ci-insights': 'dist/index.mjs' };
    if (manifest.exports !== undefined) {
      const types = `./dist/types/${declarations(entry, join(staging, 'dist/types'))}`;
      manifest.exports = { '.': { types, default: './dist/index.mjs' } };
    }
    writeFileSync(join(staging, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    cpSync(join(ROOT, 'LICENSE'), join(staging, 'LICENSE'));
    cpSync(join(source, 'README.md'), join(staging, 'README.md'));
    mkdirSync(folder, { recursive: true });
    const [tarball = ''] = spawn(['npm', 'pack', '--silent', '--pack-destination', resolve(folder)], staging)
      .trim()
      .split('\n');
    return join(folder, tarball);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

async function bundleLibrary(entry: string, hasDependencies: boolean): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'node',
    format: 'esm',
    minify: !hasDependencies,
    packages: hasDependencies ? 'external' : 'bundle',
    plugins: [WITHOUT_KERBEROS],
  });
  const [output] = outputs;
  if (!output || outputs.length !== 1) throw new Error(`${entry} became ${outputs.length} files`);
  return output.text();
}

/** The packages that the bundle imports, in the versions of this repository. */
function dependenciesOf(code: string, known: Record<string, string>): Record<string, string> {
  const imported = new Bun.Transpiler({ loader: 'js' })
    .scanImports(code.replace(/^#!.*/, ''))
    .map(({ path }) => path.replace(/^((?:@[^/]+\/)?[^/]+).*$/, '$1'))
    .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
  return Object.fromEntries(
    [...new Set(imported)].sort().map((name) => {
      const version = known[name];
      if (version === undefined) throw new Error(`the bundle imports ${name}, which is not a dependency`);
      return [name, version];
    }),
  );
}

/** Writes the types of an entry and returns the path of those of the entry itself. */
function declarations(entry: string, folder: string): string {
  const options = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false', '--rewriteRelativeImportExtensions'];
  const project = join(folder, '..', 'tsconfig.json');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { rootDir: ROOT, outDir: folder, typeRoots: [join(ROOT, 'node_modules/@types')] },
      files: [entry],
      include: [],
    }),
  );
  spawn([process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '--project', project, ...options], ROOT);
  rmSync(project);
  return entry.slice(ROOT.length + 1).replace(/\.ts$/, '.d.ts');
}

function spawn(command: string[], cwd: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd });
  if (exitCode !== 0) throw new Error(`${basename(command[0] ?? '')} failed: ${stdout}${stderr}`);
  return stdout.toString();
}

if (import.meta.main) {
  const [folder = 'dist'] = process.argv.slice(2);
  for (const name of PACKAGES) console.log(await pack(name, folder));
}
