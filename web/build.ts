/**
 * Bundles the web application into `web/dist`, from where the service delivers it: `bun web/build.ts`. Set-up runs it, so
 * nobody else needs to. It does nothing while `dist` was made from the sources as they are.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { compile, optimize } from '@tailwindcss/node';
import { Scanner } from '@tailwindcss/oxide';
import { type BunPlugin, Glob } from 'bun';
import type { Manifest } from '../src/web/files.ts';

const HERE = import.meta.dir;
const DIST = join(HERE, 'dist');
/** With the versions of what it imports, this is all that the bundle is made from. */
const SOURCES = new Glob('web/**/*.{ts,tsx,css,svg}');
const BROTLI_QUALITY = 9;

/** The page is in English, so what the parts of React Aria say in thirty other languages stays out of the bundle. */
const onlyEnglish: BunPlugin = {
  name: 'only English',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/dist\/private\/intl\/(?:[\w-]{1,40}\/)?(?!en-US)[a-z]{2}-[A-Z]{2}\.mjs$/ }, () => ({
      contents: "export { default } from './en-US.mjs';",
      loader: 'js',
    }));
  },
};

if (import.meta.main) {
  const sources = sourcesHash();
  if (builtFrom() !== sources) await build(sources);
}

function sourcesHash(): string {
  const root = join(HERE, '..');
  const hash = createHash('sha256');
  const files = [...SOURCES.scanSync({ cwd: root })].filter((file) => !file.startsWith('web/dist')).sort();
  for (const file of [...files, 'bun.lock']) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}

function builtFrom(): string | undefined {
  try {
    return JSON.parse(readFileSync(join(DIST, 'manifest.json'), 'utf8')).sources;
  } catch {
    return undefined;
  }
}

async function build(sources: string): Promise<void> {
  const made = `${DIST}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  const script = await bundleScripts(made);
  const style = await bundleStyles(made);
  const icon = writeHashed(made, 'icon', 'svg', readFileSync(join(HERE, 'icon.svg')));
  for (const file of readdirSync(made)) compress(join(made, file));
  const manifest: Manifest = { sources, script, preload: importsOf(made, script), style, icon };
  writeFileSync(join(made, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // Whole or not at all. Of two set-ups at the same time the later one wins.
  if (existsSync(DIST)) renameSync(DIST, `${made}.old`);
  renameSync(made, DIST);
  rmSync(`${made}.old`, { recursive: true, force: true });
}

/** Returns the file of the entry. Others have names that the entry imports. */
async function bundleScripts(folder: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(HERE, 'main.tsx')],
    outdir: folder,
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [onlyEnglish],
  });
  const entry = outputs.find(({ kind }) => kind === 'entry-point');
  if (!entry) throw new Error('the bundle has no entry');
  return entry.path.slice(entry.path.lastIndexOf('/') + 1);
}

/** Tailwind's rules for the classes that the application names. */
async function bundleStyles(folder: string): Promise<string> {
  const compiler = await compile(readFileSync(join(HERE, 'styles.css'), 'utf8'), {
    base: HERE,
    onDependency: () => {},
  });
  const scanner = new Scanner({ sources: [{ base: HERE, pattern: '**/*.tsx', negated: false }] });
  const { code } = optimize(compiler.build(scanner.scan()), { minify: true });
  return writeHashed(folder, 'styles', 'css', Buffer.from(code));
}

function writeHashed(folder: string, name: string, extension: string, bytes: Uint8Array): string {
  const file = `${name}-${createHash('sha256').update(bytes).digest('hex').slice(0, 8)}.${extension}`;
  writeFileSync(join(folder, file), bytes);
  return file;
}

/** Files that a script imports before it runs, directly and by way of others. */
function importsOf(folder: string, script: string, found = new Set<string>()): string[] {
  const code = readFileSync(join(folder, script), 'utf8');
  for (const [, file = ''] of code.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) {
    if (found.has(file)) continue;
    found.add(file);
    importsOf(folder, file, found);
  }
  return [...found];
}

function compress(file: string): void {
  const bytes = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}
