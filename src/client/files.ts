/** Expands a list of files, folders and globs. */
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { ReportFormat } from '../formats/format.ts';
import { FORMATS } from '../formats/formats.ts';

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
  for (const file of expanded.found) if (await format.isOther(await contentOf(file, cwd))) leftOut.push(file);
  return { ...expanded, files: expanded.files.filter((file) => !leftOut.includes(file)), leftOut };
}

/** A file that is part of a report stands for its folder, however it was found. */
function withFolders(expanded: ExpandedFiles, { folder }: ReportFormat, cwd: string): ExpandedFiles {
  if (!folder) return expanded;
  const reportOf = (file: string): string => (folder.isPart(basename(file)) ? folderOf(file, cwd) : file);
  return {
    files: [...new Set(expanded.files.map(reportOf))].sort(),
    missing: expanded.missing,
    found: new Set([...expanded.found].filter((file) => reportOf(file) === file)),
  };
}

const folderOf = (file: string, cwd: string): string => displayed(resolve(cwd, dirname(file)), cwd) || '.';

/** A sentence for people about a file that is left out. */
export async function leftOutSentence(file: string, { title }: ReportFormat, cwd: string): Promise<string> {
  const { whatIs } = await recognise();
  const what = await whatIs(await contentOf(file, cwd));
  return `${file} is left out: it is not a ${title} report${what === null ? '' : `, but ${what}`}.`;
}

export interface SortedFiles {
  /** The format of each report. */
  formats: ReadonlyMap<string, ReportFormat>;
  /** Patterns that match no file. */
  missing: string[];
  /** Files that were found and are no reports, and those that were named, each with a sentence. */
  leftOut: ReadonlyMap<string, string>;
  refused: ReadonlyMap<string, string>;
}

/** The reports of any format among files, folders and globs, by their content. */
export async function sortedFilesOf(patterns: readonly string[], cwd: string): Promise<SortedFiles> {
  const { formatOf, whatIs } = await recognise();
  const globs = [...new Set(FORMATS.flatMap((format) => format.globs))];
  const { files, missing, found } = await expandFiles(patterns, globs, cwd);
  const formats = new Map<string, ReportFormat>();
  const leftOut = new Map<string, string>();
  const refused = new Map<string, string>();
  for (const file of files) {
    const whole = FORMATS.find(({ folder }) => folder?.isPart(basename(file)));
    if (whole) {
      formats.set(folderOf(file, cwd), whole);
      continue;
    }
    const content = await contentOf(file, cwd);
    const format = await formatOf(content);
    if (format) formats.set(file, format);
    else {
      const what = await whatIs(content);
      const sentence =
        what === null ? 'it is not a report, or broken: `push <format>` sends it anyway' : `it is ${what}`;
      (found.has(file) ? leftOut : refused).set(file, sentence);
    }
  }
  return { formats, missing, leftOut, refused };
}

/** Loaded when it is needed, because it loads a parser. */
const recognise = () => import('../formats/recognise.ts');

const contentOf = (file: string, cwd: string): Promise<Uint8Array> =>
  readFile(resolve(cwd, file)).catch(() => new Uint8Array());

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
