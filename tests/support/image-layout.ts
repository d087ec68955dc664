/** Lays out the files of the image as a builder would, by the instructions of the Dockerfile, without its base image. */
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isIgnored, patternsOf, stagesOf } from './image-context.ts';

const ROOT = resolve(import.meta.dir, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The files that a builder sees. */
function context(): string[] {
  const listed = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  const patterns = patternsOf(read('.dockerignore'));
  const files = listed.stdout.toString().split('\0').filter(Boolean);
  return files.filter((file) => existsSync(join(ROOT, file)) && !isIgnored(patterns, file));
}

/**
 * Makes `/app` of the last stage in a folder. What the stage `web` builds is taken from the checkout, where set-up has built
 * it; every other command is run.
 */
export function layOut(folder: string): void {
  const files = context();
  const stages = stagesOf(read('Dockerfile'));
  for (const { name, steps } of stages) {
    if (name === 'web') continue;
    const app = name === stages.at(-1)?.name ? folder : `${folder}-${name}`;
    mkdirSync(app, { recursive: true });
    for (const step of steps) {
      if (step.kind === 'run') {
        if (step.command.startsWith('ln -s /app')) continue;
        const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', step.command], { cwd: app, stderr: 'pipe' });
        if (exitCode !== 0) throw new Error(`${step.command}: ${stderr.toString()}`);
        continue;
      }
      for (const source of step.sources) {
        const path = source.replace(/^\/app\//, '');
        const from = step.from === undefined || step.from === 'web' ? ROOT : `${folder}-${step.from}`;
        const chosen = step.from === undefined ? files.filter((file) => isBelow(file, path)) : [path];
        for (const file of chosen) copy(join(from, file), join(app, file));
      }
    }
  }
}

const isBelow = (file: string, source: string): boolean => file === source || file.startsWith(`${source}/`);

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

/** Bytes of all files, as a layer counts them. */
export function bytesOf(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stat = lstatSync(path);
    bytes += stat.isDirectory() ? bytesOf(path) : stat.size;
  }
  return bytes;
}
