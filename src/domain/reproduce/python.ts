/** Runners of Python. Pure. */

import { inFolder, notAnOption, type ReportedTest, type Words, withoutOwn } from './reported.ts';
import { scenario } from './scenario.ts';

export function pytest({ name, filepath, function: own }: ReportedTest): Words {
  // Its OpenTelemetry plugins and its CTRF report name a test as pytest itself does.
  if (/^[^[]+?\.py::/.test(name)) return inFolder(name.split('::', 1)[0] ?? '') ? ['pytest', notAnOption(name)] : null;
  const { around, method } = withinModule(name, own);
  if (around === null) {
    // A module that cannot be collected has its name in place of a test's.
    const module = name === own ? moduleBefore(name) : null;
    return module?.classes.length === 0 ? ['pytest', notAnOption(module.file)] : null;
  }
  const file = inFolder(filepath);
  const split = file?.endsWith('.py') ? classesWithin(around, file) : moduleBefore(around);
  return split && ['pytest', notAnOption([split.file, ...split.classes, method].join('::'))];
}

/** Allure names a test `module.Class#method[n=1]`, and its own name is the method with its row, or a title. */
function withinModule(name: string, own: string): { around: string | null; method: string } {
  const around = withoutOwn(name, own);
  if (around !== null) return { around, method: own };
  const [, module, method = ''] = /^([\w.]+)#(\w+)(?:\[.*)?$/s.exec(name) ?? [];
  const isOfMethod = own === method || own.startsWith(`${method}[`);
  return { around: module ?? null, method: isOfMethod ? own : method };
}

interface Module {
  file: string;
  classes: readonly string[];
}

/** `unit.test_cart.TestCart` in `unit/test_cart.py` → `TestCart`. */
function classesWithin(around: string, file: string): Module | null {
  const module = file.slice(0, -'.py'.length).replaceAll('/', '.');
  if (around === module) return { file, classes: [] };
  return around.startsWith(`${module}.`) ? { file, classes: around.slice(module.length + 1).split('.') } : null;
}

/** By the names of files that pytest collects: `test_cart`, `cart_test`. What follows are classes. */
function moduleBefore(around: string): Module | null {
  const names = around.split('.');
  const at = names.findLastIndex((name) => /^test_|_test$/.test(name));
  const classes = names.slice(at + 1);
  if (at < 0 || names.includes('') || !classes.every((name) => /^\p{Lu}/u.test(name))) return null;
  return { file: `${names.slice(0, at + 1).join('/')}.py`, classes };
}

/** By unittest-xml-reporting. A sub-test is written behind its test: `test_rows (i=1)`. Set-ups are no tests. */
export function unittest({ name, function: own }: ReportedTest): Words {
  const around = withoutOwn(name, own);
  const [, method] = /^([\p{L}_][\p{L}\d_]*)(?: [([].*)?$/su.exec(own) ?? [];
  if (around === null || method === undefined || !/^[\p{L}_][\p{L}\d_.]*$/u.test(around)) return null;
  return ['python', '-m', 'unittest', `${around}.${method}`];
}

/** The long name of a test has the suites around it, which depend on what Robot Framework was started with: any may come before. */
export function robot({ name, function: own }: ReportedTest): Words {
  if (withoutOwn(name, own) === null) return null;
  return ['robot', `--test=*${name.replace(/[*?[]/g, '[$&]')}`, '.'];
}

export const behave = (test: ReportedTest): Words => scenario(['behave'], test);
