/** Cucumber and its like choose scenarios by a pattern for their names. Pure. */
import { escaped, inFolder, notAnOption, type ReportedTest, type Words } from './reported.ts';

/** All rows of an outline, which share a name. */
export function scenario(program: readonly string[], { filepath, function: own }: ReportedTest): Words {
  if (own === '') return null;
  const file = inFolder(filepath);
  const only = file?.endsWith('.feature') ? [notAnOption(file)] : [];
  return [...program, ...only, `--name=^${escaped(own)}$`];
}

/** On the JVM, scenarios are run by Maven or Gradle, and no report says by which. */
export function cucumber(test: ReportedTest): Words {
  if (test.language === 'javascript') return scenario(['npx', 'cucumber-js'], test);
  return test.language === 'ruby' ? scenario(['bundle', 'exec', 'cucumber'], test) : null;
}
