/** Runners of Go, Rust, C++, .NET and Java, and of what Bazel builds. Pure. */
import { escaped, notAnOption, type ReportedTest, type Words, withoutOwn } from './reported.ts';

/** The own name of a sub-test is that of the test around it, or has it. CTRF writes `package › test`. */
export function go({ name, function: own }: ReportedTest): Words {
  const separator = [' › ', '.'].find((one) => `${name}/`.includes(`${one}${own}/`)) ?? '.';
  const at = /^\p{Lu}/u.test(own) ? `${name}/`.indexOf(`${separator}${own}/`) : -1;
  if (at <= 0) return null;
  const module = notAnOption(name.slice(0, at));
  // Stands for all of a package: it was not built, or failed outside of its tests.
  if (own === 'TestMain') return ['go', 'test', '-count=1', module];
  const path = name
    .slice(at + separator.length)
    .split('/')
    .map((part) => `^${escaped(part)}$`)
    .join('/');
  const which = own.startsWith('Benchmark') ? ['-run=^$', `-bench=${path}`] : [`-run=${path}`];
  return ['go', 'test', '-count=1', ...which, module];
}

/** The class of its JUnit report is the id of the binary. */
export function nextest({ name, function: own }: ReportedTest): Words {
  const binary = withoutOwn(name, own);
  if (binary === null || ![binary, own].every((part) => /^[\w:./-]+$/.test(part))) return null;
  return ['cargo', 'nextest', 'run', '-E', `binary_id(=${binary}) & test(=${own})`];
}

/** Its class is the module of a unit test. These stand for none: a test at the top of a crate, and one of the folder `tests`. */
const NO_MODULES: ReadonlySet<string> = new Set(['crate', 'integration']);

export function cargo({ name, function: own }: ReportedTest): Words {
  const module = withoutOwn(name, own);
  if (module === null || ![module, own].every((part) => /^[\w:]+$/.test(part))) return null;
  return ['cargo', 'test', '--', '--exact', NO_MODULES.has(module) ? own : `${module}::${own}`];
}

/**
 * Its class is the program and a name for the test's fixture. A section is written behind its test, `adds/an item`: the test runs
 * with all of its sections, and with what else begins like it.
 */
export function catch2({ name, function: own }: ReportedTest): Words {
  const [, program] = /^([\w-]+)\.[\w:.<> ]+$/.exec(withoutOwn(name, own) ?? '') ?? [];
  const [test = ''] = own.split('/', 1);
  // One that begins with a dash would be an option, and ~ excludes tests.
  if (program === undefined || test === '' || test.startsWith('-')) return null;
  return [`./${program}`, `${test.replace(/[\\,[\]"*~]/g, '\\$&')}${test === own ? '' : '*'}`];
}

export const ctest = ({ function: own }: ReportedTest): Words =>
  own === '' ? null : ['ctest', '--output-on-failure', `--tests-regex=^${escaped(own)}$`];

/** The configuration is part of a name where it is not the usual one. */
export function bazel({ name }: ReportedTest): Words {
  const [, label] = /^(?:\[[^\]]*\] › )?(@?@?[\w.~+-]*\/\/[^\s]+)$/.exec(name) ?? [];
  return label === undefined ? null : ['bazel', 'test', '--nocache_test_results', '--test_output=errors', label];
}

/** Failsafe runs the classes that are named like this, and writes the same reports. */
const INTEGRATION = /(?:^|\.)IT\w*$|IT$|ITCase$/;

export function maven(test: ReportedTest): Words {
  const java = javaMethod(test);
  if (!java) return null;
  const which = `${java.className}#${java.method}`;
  return INTEGRATION.test(java.className)
    ? ['mvn', 'verify', `-Dit.test=${which}`]
    : ['mvn', 'test', `-Dtest=${which}`];
}

export function gradle(test: ReportedTest): Words {
  const java = javaMethod(test);
  return java && ['./gradlew', 'test', '--tests', `${java.className}.${java.method}`];
}

/** A display name in place of the method tells no method. The parameters and the row are left out: all rows run. */
function javaMethod({ name, function: own }: ReportedTest): { className: string; method: string } | null {
  const className = withoutOwn(name, own);
  const [, method] = /^([\p{L}_$][\p{L}\d_$]*)(?:[([{].*)?$/su.exec(own) ?? [];
  return method !== undefined && className !== null && /^[\p{L}_$][\p{L}\d_$.]*$/u.test(className)
    ? { className, method }
    : null;
}

/** All rows of a test, because a filter knows none. NUnit's qualified names have the row. */
export function dotnet({ name, function: own }: ReportedTest, { hasRows } = { hasRows: false }): Words {
  const row = name.indexOf('(');
  const qualified = row < 0 ? name : name.slice(0, row).trimEnd();
  if (own === '' || !qualified.endsWith(`.${own}`) || !/^[\p{L}_][\p{L}\d_.+]*$/u.test(qualified)) return null;
  const filter = hasRows && row >= 0 ? `FullyQualifiedName~${qualified}\\(` : `FullyQualifiedName=${qualified}`;
  return ['dotnet', 'test', '--filter', filter];
}
