/** Expands a list of files, folders and globs. */
import { statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';

export interface ExpandedFiles {
  /** Paths as they are displayed and read: sorted, without duplicates. */
  files: string[];
  /** Patterns that match no file. */
  missing: string[];
}

/**
 * A folder stands for the files in it that match `folderGlobs`. Globs that the shell did not expand (quoted, or `**`)
 * are expanded here.
 */
export async function expandFiles(
  patterns: readonly string[],
  folderGlobs: readonly string[],
  cwd: string,
): Promise<ExpandedFiles> {
  const files = new Set<string>();
  const missing: string[] = [];
  for (const pattern of patterns) {
    const found = await filesOf(pattern, folderGlobs, cwd);
    if (found.length === 0) missing.push(pattern);
    for (const file of found) files.add(displayed(resolve(cwd, file), cwd));
  }
  return { files: [...files].sort(), missing };
}

async function filesOf(pattern: string, folderGlobs: readonly string[], cwd: string): Promise<string[]> {
  const path = resolve(cwd, pattern);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return (await scan(folderGlobs, path)).map((file) => resolve(path, file));
  if (stat) return [pattern];
  if (!/[*?[{]/.test(pattern)) return [];
  return scan([pattern], cwd);
}

async function scan(patterns: readonly string[], cwd: string): Promise<string[]> {
  const { glob } = await import('tinyglobby');
  return glob([...patterns], { cwd, dot: true, onlyFiles: true, expandDirectories: false });
}

/**
 * The path relative to the working folder, with `/` on every system, so that a report has the same name on every
 * machine. A file outside that folder keeps its absolute path.
 */
function displayed(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return (path.startsWith('..') || isAbsolute(path) ? file : path).split(sep).join('/');
}
