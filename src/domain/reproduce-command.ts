/**
 * The command that runs one test alone, as its runner spells it, from what the report says of the test. Pure;
 * docs/reproduce.md has the table. What the report does not say is not guessed: then there is no command.
 */
import { shellCommand } from './shell-words.ts';
import { reportedPath } from './test-file.ts';

/** What is stored of an execution. Empty where the report did not say. */
export interface ReportedTest {
  name: string;
  framework: string;
  filepath: string;
  /** The test's own name. */
  function: string;
}

/** A line for a POSIX shell, to be run where the CI job ran the tests; null if it cannot be known. */
export function reproduceCommand(test: ReportedTest): string | null {
  const runner = test.framework.toLowerCase();
  const words = Object.hasOwn(RUNNERS, runner) ? RUNNERS[runner]?.(test) : null;
  return words ? shellCommand(words) : null;
}

type Words = readonly string[] | null;

const RUNNERS: Readonly<Record<string, (test: ReportedTest) => Words>> = {
  pytest,
  jest,
  vitest,
  playwright,
  'go test': go,
  nextest,
  rspec,
  phpunit,
  surefire: maven,
  gradle,
  xunit: (test) => dotnet(test),
  mstest: (test) => dotnet(test),
  nunit: (test) => dotnet(test, { hasRows: true }),
};

function pytest({ name, filepath, function: own }: ReportedTest): Words {
  // Its OpenTelemetry plugins name a test as pytest itself does.
  if (/^[^[]+?\.py::/.test(name)) return inFolder(name.split('::', 1)[0] ?? '') ? ['pytest', notAnOption(name)] : null;
  const around = withoutOwn(name, own);
  if (around === null) return null;
  const file = inFolder(filepath);
  const split = file?.endsWith('.py') ? classesWithin(around, file) : moduleBefore(around);
  return split && ['pytest', notAnOption([split.file, ...split.classes, own].join('::'))];
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

function jest({ filepath, function: own }: ReportedTest): Words {
  if (own === '') return null;
  const file = inFolder(filepath);
  const only = file === null ? [] : ['--runTestsByPath', notAnOption(file)];
  return ['npx', 'jest', ...only, `--testNamePattern=${titles(own)}$`];
}

function vitest({ name, filepath, function: own }: ReportedTest): Words {
  if (own === '') return null;
  const file = inFolder(filepath) ?? scriptOf(withoutOwn(name, own));
  return ['npx', 'vitest', 'run', ...(file === null ? [] : [notAnOption(file)]), `--testNamePattern=${titles(own)}$`];
}

/** Its JUnit report has the file as the class of a test. */
const scriptOf = (around: string | null): string | null =>
  around !== null && /\.[cm]?[jt]sx?$/.test(around) ? inFolder(around) : null;

/** Reports join titles with ` > `, and these runners match them joined with a space. */
const titles = (own: string): string => own.split(' > ').map(escaped).join(' (> )?');

/** Named `[project] › file › describe › title`, without a project if there is only the one without a name. */
function playwright({ name, filepath, function: own }: ReportedTest): Words {
  const [, project, rest = ''] = /^(?:\[([^\]]*)\] › )?(.*)$/s.exec(name) ?? [];
  const file = inFolder(filepath);
  if (own === '' || file === null || !rest.startsWith(`${filepath} › `)) return null;
  const title = rest.slice(filepath.length).split(' › ').slice(1).map(escaped).join(' (› )?');
  return [
    ...['npx', 'playwright', 'test', notAnOption(escaped(file))],
    ...(project === undefined ? [] : [`--project=${project}`]),
    // Tags follow the title.
    `--grep=${title}( @|$)`,
  ];
}

/** The own name of a sub-test is that of the test around it. */
function go({ name, function: own }: ReportedTest): Words {
  const at = /^\p{Lu}/u.test(own) ? `${name}/`.indexOf(`.${own}/`) : -1;
  if (at <= 0) return null;
  const path = name
    .slice(at + 1)
    .split('/')
    .map((part) => `^${escaped(part)}$`);
  return ['go', 'test', '-count=1', `-run=${path.join('/')}`, notAnOption(name.slice(0, at))];
}

/** The class of its JUnit report is the id of the binary. */
function nextest({ name, function: own }: ReportedTest): Words {
  const binary = withoutOwn(name, own);
  if (binary === null || ![binary, own].every((part) => /^[\w:./-]+$/.test(part))) return null;
  return ['cargo', 'nextest', 'run', '-E', `binary_id(=${binary}) & test(=${own})`];
}

function rspec({ filepath, function: own }: ReportedTest): Words {
  if (own === '') return null;
  const file = inFolder(filepath);
  return ['bundle', 'exec', 'rspec', ...(file === null ? [] : [notAnOption(file)]), `--example=${own}`];
}

/** A report has dots in place of the backslashes of a class. */
function phpunit({ name, function: own }: ReportedTest): Words {
  const className = withoutOwn(name, own);
  if (className === null || !/^\w+(?: with data set .+)?$/s.test(own)) return null;
  const pattern = `^${className.split('.').map(escaped).join('\\\\')}::${escaped(own)}$`;
  return ['vendor/bin/phpunit', `--filter=/${pattern.replaceAll('/', '\\/')}/`];
}

/** Failsafe runs the classes that are named like this, and writes the same reports. */
const INTEGRATION = /(?:^|\.)IT\w*$|IT$|ITCase$/;

function maven(test: ReportedTest): Words {
  const java = javaMethod(test);
  if (!java) return null;
  const which = `${java.className}#${java.method}`;
  return INTEGRATION.test(java.className)
    ? ['mvn', 'verify', `-Dit.test=${which}`]
    : ['mvn', 'test', `-Dtest=${which}`];
}

function gradle(test: ReportedTest): Words {
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
function dotnet({ name, function: own }: ReportedTest, { hasRows } = { hasRows: false }): Words {
  const row = name.indexOf('(');
  const qualified = row < 0 ? name : name.slice(0, row);
  if (own === '' || !qualified.endsWith(`.${own}`) || !/^[\p{L}_][\p{L}\d_.+]*$/u.test(qualified)) return null;
  const filter = hasRows && row >= 0 ? `FullyQualifiedName~${qualified}\\(` : `FullyQualifiedName=${qualified}`;
  return ['dotnet', 'test', '--filter', filter];
}

/** What a report puts before the test's own name and a dot; null if there is nothing. */
function withoutOwn(name: string, own: string): string | null {
  const around = own !== '' && name.endsWith(`.${own}`) ? name.slice(0, -own.length - 1) : '';
  return around === '' ? null : around;
}

/** A path from the folder where the tests ran; null for one from the root of the CI's machine, which is of no use here. */
function inFolder(path: string): string | null {
  const reported = reportedPath(path);
  return reported && !reported.isOutside ? reported.names.join('/') : null;
}

const notAnOption = (word: string): string => (word.startsWith('-') ? `./${word}` : word);

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
