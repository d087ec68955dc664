/** The form in which an export of any tool is read. Each tool is a file here and a line in `command.ts`. */
import { z } from 'zod';
import type { ExportFile } from './files.ts';

/** The run of a report, as far as the tool says it. Options say the rest. */
export interface Told {
  pipeline: string;
  job: string;
  runId: string;
  commit: string | undefined;
  branch: string | undefined;
  /** When its tests had ended. Milliseconds since the epoch. */
  endedAt: number | undefined;
  url: string | undefined;
}

/** A report of an export. */
export interface ExportedReport {
  /** Its path in the export: names it in messages, and within its run. */
  path: string;
  format: 'ctrf' | 'allure';
  told: Told;
  read(): Promise<Uint8Array>;
}

/** A report, or what is none and why. Files that belong to something else are passed over without a word. */
export type Exported = ExportedReport | { path: string; leftOut: string };

export interface ExportTool {
  /** The word in the command. */
  name: string;
  title: string;
  description: string;
  reports(files: readonly ExportFile[]): AsyncIterable<Exported>;
}

const ONE_WORD = /[^a-z]/g;
const COMMIT = /^(?:git|scm|vcs|ci|build)?(?:commit|commitsha|commithash|commitid|sha|revision|rev)$/;
const BRANCH = /^(?:git|scm|vcs|ci|build)?(?:branch|branchname)$/;

/** Commit and branch among pairs that people name themselves: `commit`, `git.commit`, `GIT_COMMIT`, `Branch`. */
export function subjectAmong(pairs: Iterable<readonly [string, string]>): Pick<Told, 'commit' | 'branch'> {
  const named = [...pairs].map(([name, value]) => [name.toLowerCase().replace(ONE_WORD, ''), value.trim()] as const);
  const find = (pattern: RegExp) => named.find(([name, value]) => pattern.test(name) && value !== '')?.[1];
  return { commit: find(COMMIT), branch: withoutPrefix(find(BRANCH)) };
}

/** `refs/heads/main`, `origin/main` → `main` */
export const withoutPrefix = (branch: string | null | undefined): string | undefined =>
  branch?.replace(/^refs\/heads\/|^(?:refs\/remotes\/)?origin\//, '') || undefined;

/** `shop_deploy#1234`, and `Build 1234` of the build 1234 → without the number, which is another one in each run. */
export function withoutNumber(name: string | null | undefined, number: string | null | undefined): string | undefined {
  const [, mark, last] = /([#\s:_-])(\d{1,20})$/.exec(name ?? '') ?? [];
  if (!name || last === undefined || (mark !== '#' && last !== number)) return name || undefined;
  return name.slice(0, -last.length - 1).trimEnd() || undefined;
}

/** There are no later dates. */
const MOMENT_MAX = 8_640_000_000_000_000;

/** A moment as tools write it: milliseconds, or ISO 8601; undefined for neither. */
export const momentSchema = z
  .union([z.number(), z.string().transform((text) => (/^\d+$/.test(text) ? Number(text) : Date.parse(text)))])
  .nullish()
  .transform((at) => (at && at > 0 && at <= MOMENT_MAX ? at : undefined))
  .catch(undefined);

/** The last of them. */
export function lastOf(moments: Iterable<number | null | undefined>): number | undefined {
  let last: number | undefined;
  for (const at of moments) if (at && (last === undefined || at > last)) last = at;
  return last;
}
