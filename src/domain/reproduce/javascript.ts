/** Runners of JavaScript. Pure. */
import {
  baseName,
  escaped,
  inFolder,
  isScript,
  notAnOption,
  type ReportedTest,
  type Words,
  withoutFile,
  withoutOwn,
  withoutParameters,
} from './reported.ts';

/** jest-junit gives this class to a file that cannot be loaded, and the file as the test. */
const NOT_LOADED = 'Test suite failed to run';

export function jest(test: ReportedTest): Words {
  const { name, filepath, function: own } = test;
  if (own === '') return null;
  if (name === `${NOT_LOADED}.${own}`) return ['npx', 'jest', '--runTestsByPath', notAnOption(own)];
  const { file, title } = titleWithin(test);
  return ['npx', 'jest', ...jestFile(file ?? filepath), `--testNamePattern=${titles(title)}$`];
}

/** Of a file on the CI's machine, the name is left: a pattern for the paths of files. */
function jestFile(path: string): string[] {
  const file = inFolder(path);
  if (file !== null) return ['--runTestsByPath', notAnOption(file)];
  const base = baseName(path);
  return base === null ? [] : [`/${escaped(base)}$`];
}

export function vitest(test: ReportedTest): Words {
  const { name, filepath, function: own } = test;
  if (own === '') return null;
  const around = withoutOwn(name, own);
  const isNotLoaded = around === own && isScript(own);
  const { file, title } = titleWithin(test);
  const path = file ?? inFolder(filepath) ?? scriptOf(around) ?? baseName(filepath);
  return [
    ...['npx', 'vitest', 'run', ...(path === null ? [] : [notAnOption(path)])],
    ...(isNotLoaded ? [] : [`--testNamePattern=${titles(title)}$`]),
  ];
}

/** Its JUnit report has the file as the class of a test. */
const scriptOf = (around: string | null): string | null =>
  around !== null && isScript(around) ? inFolder(around) : null;

/** Allure names a test `package:file#titles`, and its own name is the last of the titles only. */
function titleWithin({ name, function: own }: ReportedTest): { file: string | null; title: string } {
  const plain = name.endsWith(own) ? name : (withoutParameters(name)?.name ?? name);
  const [, path, title] = /^(?:[^:#]*:)?([^#]+)#(.*)$/s.exec(plain) ?? [];
  return path !== undefined && title?.endsWith(own) && isScript(path)
    ? { file: inFolder(path), title }
    : { file: null, title: own };
}

/** Reports join titles with ` > `, and these runners match them joined with a space. */
const titles = (own: string): string => own.split(' > ').map(escaped).join(' (> )?');

/**
 * Its JUnit report has all titles as the name of a test and the last one as its class, its xUnit report all but the last as the
 * class. So what is around may be there or not.
 */
export function mocha(test: ReportedTest): Words {
  const { name, filepath, function: own } = test;
  if (isOfCypress(filepath)) return cypress(test);
  // A hook is no test, so it cannot be chosen.
  if (own === '' || /"(?:before|after) (?:all|each)" hook/.test(own)) return null;
  const around = withoutOwn(withoutFile(name, filepath), own);
  const file = inFolder(filepath);
  const before = around === null ? '(^| )' : `^(${escaped(around)} )?`;
  return ['npx', 'mocha', ...(file === null ? [] : [notAnOption(file)]), `--grep=${before}${escaped(own)}$`];
}

/** Its reports are written by those of Mocha. */
const isOfCypress = (path: string): boolean => /\.cy\.[cm]?[jt]sx?$|(?:^|\/)cypress\//.test(path.replaceAll('\\', '/'));

/** It cannot choose a test, only a file. */
export function cypress({ filepath }: ReportedTest): Words {
  const file = inFolder(filepath);
  return file === null ? null : ['npx', 'cypress', 'run', `--spec=${file}`];
}

/**
 * Its reports name a test `[project] › file › describe › title` (JSON), `file.describe › title` (JUnit), `project › file › …` (CTRF)
 * and `file › …[Project=project]` (Allure).
 */
export function playwright(test: ReportedTest): Words {
  const { name, function: own } = test;
  const plain = own !== '' && name.endsWith(own) ? { name, parameters: '' } : withoutParameters(name);
  if (own === '' || !plain?.name.endsWith(own)) return null;
  const [, bracketed, rest = ''] = /^(?:\[([^\]]*)\] › )?(.*)$/s.exec(plain.name) ?? [];
  const within = splitAtFile(rest, own);
  const file = within && inFolder(within.file);
  if (!within || file === null) return null;
  const [, parameter] = /(?:^|, )Project=([^,]*)/.exec(plain.parameters) ?? [];
  const project = bracketed ?? parameter ?? within.project ?? test.project;
  return [
    ...['npx', 'playwright', 'test', notAnOption(escaped(file))],
    ...(project ? [`--project=${project}`] : []),
    // Tags follow the title.
    `--grep=${within.titles.map(escaped).join(' (› )?')}( @|$)`,
  ];
}

function splitAtFile(text: string, own: string): { project?: string; file: string; titles: string[] } | null {
  const before = withoutOwn(text, own);
  if (before !== null && isScript(before) && !before.includes(' › ')) return { file: before, titles: own.split(' › ') };
  const parts = text.split(' › ');
  const at = parts.findIndex(isScript);
  const [file, ...titles] = parts.slice(at);
  if (at < 0 || at > 1 || file === undefined || titles.length === 0) return null;
  return { ...(at === 1 && { project: parts[0] ?? '' }), file, titles };
}

/** It matches titles joined with a space. */
export function bun({ filepath, function: own }: ReportedTest): Words {
  const file = inFolder(filepath);
  if (own === '' || own === '(unnamed)') return null;
  return ['bun', 'test', ...(file === null ? [] : [`./${file}`]), `--test-name-pattern=${escaped(own)}$`];
}
