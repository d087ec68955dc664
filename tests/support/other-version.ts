/**
 * The version that runs beside this one: the last release, from the history of this repository.
 *
 * Until there is a release, it is this version, from a second copy of its files. Then the tests say that two copies work
 * side by side, and nothing about upgrades.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './service-process.ts';

/** By its changelog, so that a clone without tags does not look like a repository without releases. */
const release = /^## (\d+\.\d+\.\d+)(?! \(unreleased\))/m.exec(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'))?.[1];

/** Its name in the tests. */
export const OTHER = release === undefined ? 'a second copy of this version' : `release ${release}`;

if (release === undefined)
  console.error(
    'not tested: an upgrade from a release, because there is none yet; two copies of this version run side by side',
  );

const git = (...args: string[]): Buffer =>
  execFileSync('git', args, { cwd: ROOT, maxBuffer: 256 * 1024 * 1024, stdio: ['ignore', 'pipe', 'pipe'] });

/** Puts its files and its dependencies into a folder, and returns the folder. */
export function installOther(parent: string): string {
  const tree = join(parent, 'other');
  mkdirSync(tree);
  if (release === undefined) copyThis(tree);
  else install(release, tree);
  return tree;
}

/** All files as they are, committed or not. */
function copyThis(tree: string): void {
  const files = git('ls-files', '-z', '--cached', '--others', '--exclude-standard').toString().split('\0');
  for (const file of files.filter((one) => one !== '' && existsSync(join(ROOT, one)))) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    copyFileSync(join(ROOT, file), join(tree, file));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
}

function install(version: string, tree: string): void {
  const tag = `v${version}`;
  if (Bun.spawnSync(['git', 'cat-file', '-e', `${tag}^{commit}`], { cwd: ROOT }).exitCode !== 0)
    throw new Error(`CHANGELOG.md has release ${version}, but the history here has no tag ${tag}: fetch the tags.`);
  execFileSync('tar', ['-x', '-C', tree], { input: git('archive', tag) });
  // This version may no longer have all of them.
  execFileSync(process.execPath, ['install', '--frozen-lockfile', '--no-summary', '--no-progress'], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}
