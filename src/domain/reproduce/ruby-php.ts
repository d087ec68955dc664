/** Runners of Ruby and PHP. Pure. */
import { escaped, inFolder, notAnOption, type ReportedTest, type Words, withoutOwn } from './reported.ts';

/** Its JUnit report has the whole description as a test's own name; Allure has it as the name, and its last part as the own name. */
export function rspec({ name, filepath, function: own }: ReportedTest): Words {
  if (own === '') return null;
  const file = inFolder(filepath);
  const description = name.endsWith(` ${own}`) ? name : own;
  return ['bundle', 'exec', 'rspec', ...(file === null ? [] : [notAnOption(file)]), `--example=${description}`];
}

/** By minitest-reporters, whose class is that of the test. */
export function minitest({ name, filepath, function: own }: ReportedTest): Words {
  const [file, className] = [inFolder(filepath), withoutOwn(name, own)];
  if (!file?.endsWith('.rb') || className === null || !/^[\w:]+$/.test(className)) return null;
  return ['bundle', 'exec', 'ruby', '-Ilib:test', notAnOption(file), `--name=${className}#${own}`];
}

/** A report has dots in place of the backslashes of a class; Allure has `Shop\CartTest::testAdds`. */
export function phpunit({ name, function: own }: ReportedTest): Words {
  const [, allureClass, method] = /^((?:\w+\\)*\w+)::(\w+)$/.exec(name) ?? [];
  const className = allureClass?.replaceAll('\\', '.') ?? withoutOwn(name, own);
  const test = method ?? own;
  if (className === null || !/^\w+(?: with data set .+)?$/s.test(test)) return null;
  const pattern = `^${className.split('.').map(escaped).join('\\\\')}::${escaped(test)}$`;
  return ['vendor/bin/phpunit', `--filter=/${pattern.replaceAll('/', '\\/')}/`];
}
