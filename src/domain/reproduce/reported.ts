/** What a report says of a test, and what the spellings of its runners have in common. Pure. */
import { reportedPath, tailsOf } from '../test-file.ts';

/** What is stored of an execution. Empty where the report did not say. */
export interface ReportedTest {
  name: string;
  framework: string;
  language: string;
  filepath: string;
  /** The test's own name. */
  function: string;
  /** The value of the axis `project` of its leg: Playwright runs a test in each of its projects. */
  project?: string | undefined;
}

/** The program and its arguments; null if they cannot be known. */
export type Words = readonly string[] | null;

/** What a report puts before the test's own name and a dot; null if there is nothing. */
export function withoutOwn(name: string, own: string): string | null {
  const around = own !== '' && name.endsWith(`.${own}`) ? name.slice(0, -own.length - 1) : '';
  return around === '' ? null : around;
}

/** Allure puts parameters behind the name of a test: `pays[Project=chromium, n=2]`. Null if there are none. */
export function withoutParameters(name: string): { name: string; parameters: string } | null {
  const [, plain, parameters] = /^(.*?)\[([^[\]=]+=.*)\]$/s.exec(name) ?? [];
  return plain !== undefined && parameters !== undefined ? { name: plain, parameters } : null;
}

/** A path from the folder where the tests ran; null for one from the root of the CI's machine, which is of no use here. */
export function inFolder(path: string): string | null {
  const reported = reportedPath(path);
  return reported && !reported.isOutside ? reported.names.join('/') : null;
}

/** The name of a file, wherever its folder is; null if there is none. */
export const baseName = (path: string): string | null => reportedPath(path)?.names.at(-1) ?? null;

/** Two tests of one name are told apart by the end of their files' paths, which is taken off again here. */
export function withoutFile(name: string, filepath: string): string {
  const tail = tailsOf(reportedPath(filepath)?.names ?? []).find((one) => name === one || name.startsWith(`${one}.`));
  return tail === undefined ? name : name.slice(tail.length + 1);
}

export const isScript = (name: string): boolean => /\.[cm]?[jt]sx?$/.test(name);

export const notAnOption = (word: string): string => (word.startsWith('-') ? `./${word}` : word);

/** For regular expressions of every runner here. */
export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
