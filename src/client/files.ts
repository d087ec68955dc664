/** Expands a list of files, folders and globs. */
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { ReportFormat } from '../formats/format.ts';

interface ExpandedFiles {
  /** Paths as they are displayed and read: sorted, without duplicates. */
  files: string[];
  /** Patterns that match no file. */
  missing: string[];
  /** Files that no pattern names: they are in a folder, or match a glob. */
  found: ReadonlySet<string>;
}

interface ReportFiles extends ExpandedFiles {
  /** Files that were found and are whole documents of another kind. */
  leftOut: string[];
}

/** The reports among files, folders and globs. A file that is named itself is a report, whatever it holds. */
export async function reportFilesOf(
  patterns: readonly string[],
  format: ReportFormat,
  cwd: string,
): Promise<ReportFiles> {
  const expanded = withFolders(await expandFiles(patterns, format.globs, cwd), format, cwd);
  const leftOut: string[] = [];
  for (const file of expanded.found)
    if (await format.isOther(await readFile(resolve(cwd, file)).catch(() => new Uint8Array()))) leftOut.push(file);
  return { ...expanded, files: expanded.files.filter((file) => !leftOut.includes(file)), leftOut };
}

/** A file that is part of a report stands for its folder, however it was found. */
function withFolders(expanded: ExpandedFiles, { folder }: ReportFormat, cwd: string): ExpandedFiles {
  if (!folder) return expanded;
  const reportOf = (file: string): string =>
    folder.isPart(basename(file)) ? displayed(resolve(cwd, dirname(file)), cwd) || '.' : file;
  return {
    files: [...new Set(expanded.files.map(reportOf))].sort(),
    missing: expanded.missing,
    found: new Set([...expanded.found].filter((file) => reportOf(file) === file)),
  };
}

/** A sentence for people about files that are left out. */
export const leftOutSentence = (file: string, { title }: ReportFormat): string =>
  `${file} is left out: it is not a ${title} report.`;

/**
 * A folder stands for the files in it that match `folderGlobs`. Globs that the shell did not expand (quoted, or `**`)
 * are expanded here.
 */
async function expandFiles(
  patterns: readonly string[],
  folderGlobs: readonly string[],
  cwd: string,
): Promise<ExpandedFiles> {
  const files = new Set<string>();
  const named = new Set<string>();
  const missing: string[] = [];
  for (const pattern of patterns) {
    const found = await filesOf(pattern, folderGlobs, cwd);
    if (found.length === 0) missing.push(pattern);
    for (const file of found) {
      const shown = displayed(resolve(cwd, file), cwd);
      files.add(shown);
      if (file === pattern) named.add(shown);
    }
  }
  const sorted = [...files].sort();
  return { files: sorted, missing, found: new Set(sorted.filter((file) => !named.has(file))) };
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
