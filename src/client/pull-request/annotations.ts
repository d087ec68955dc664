/** Annotations of a check: where in the repository the tests of this job failed. */
import { statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { inLog } from '../../domain/foreign-text.ts';
import { cutMiddle } from '../../domain/told-text.ts';
import type { CheckAnnotation } from '../../hosts/writes/check-host.ts';
import type { JudgedTest } from '../gate/result.ts';
import { exceptionOf, ownedBy, VERDICT_WORDS } from '../outputs/words.ts';

/** Of one job. No one reads more, and each 50 are a request. */
export const ANNOTATIONS_OF_JOB_MAX = 100;
const PART_MAX = 1_000;

interface Folders {
  /** Where the repository is checked out. */
  root: string;
  /** Where the tests ran. */
  cwd: string;
}

/** Tests whose file is not known to be in the repository have none. What needs attention comes first. */
export const annotationsOf = (failures: readonly JudgedTest[], folders: Folders): CheckAnnotation[] =>
  failures
    .flatMap((test) => {
      const path = pathInRepository(test.sourcePath, folders);
      return path === null ? [] : [annotationOf(test, path)];
    })
    .slice(0, ANNOTATIONS_OF_JOB_MAX);

function annotationOf(test: JudgedTest, path: string): CheckAnnotation {
  const parts = [test.name, exceptionOf(test), test.because, test.where, ownedBy(test), test.historyUrl];
  return {
    path,
    line: test.line ?? 1,
    level: test.isExcused ? 'warning' : 'failure',
    title: `Failed test, ${VERDICT_WORDS[test.verdict]}`,
    message: parts.flatMap((part) => (part === null ? [] : [cutMiddle(inLog(part), PART_MAX)])).join('\n'),
  };
}

/** Runners tell it from the root of the machine, from the folder in which they run, or from the root of the repository. */
function pathInRepository(path: string | null, { root, cwd }: Folders): string | null {
  if (!path || path.includes('\0')) return null;
  const candidates = isAbsolute(path) ? [path] : [resolve(cwd, path), resolve(root, path)];
  for (const file of candidates) {
    const inside = relative(root, file);
    if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) continue;
    if (statSync(file, { throwIfNoEntry: false })?.isFile()) return inside.split(sep).join('/');
  }
  return null;
}
