/** Which files a list of files, folders and globs means. */
import { statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { Glob } from 'bun';

export interface ExpandedFiles {
  /** As they are to be shown and read, sorted, each once. */
  files: string[];
  /** What was asked for and is not there. */
  missing: string[];
}

/** A folder means every `.xml` below it. Globs that the shell left alone (quoted, or `**`) are expanded here. */
export function expandFiles(patterns: readonly string[], cwd: string): ExpandedFiles {
  const files = new Set<string>();
  const missing: string[] = [];
  for (const pattern of patterns) {
    const found = filesOf(pattern, cwd);
    if (found.length === 0) missing.push(pattern);
    for (const file of found) files.add(displayed(resolve(cwd, file), cwd));
  }
  return { files: [...files].sort(), missing };
}

function filesOf(pattern: string, cwd: string): string[] {
  const stat = statSync(resolve(cwd, pattern), { throwIfNoEntry: false });
  if (stat?.isDirectory()) return scan('**/*.xml', resolve(cwd, pattern)).map((file) => resolve(cwd, pattern, file));
  if (stat) return [pattern];
  if (!/[*?[{]/.test(pattern)) return [];
  return scan(pattern, cwd);
}

const scan = (glob: string, cwd: string): string[] => [...new Glob(glob).scanSync({ cwd, dot: true, onlyFiles: true })];

/**
 * The path from the working folder, with `/` on every system, so that a report has the same name on every machine; one
 * outside of it keeps its whole path.
 */
function displayed(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return (path.startsWith('..') || isAbsolute(path) ? file : path).split(sep).join('/');
}
