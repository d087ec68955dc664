/**
 * The command that runs one test alone, as its runner spells it, from what the report says of the test. Pure;
 * docs/reproduce.md has the table. What the report does not say is not guessed: then there is no command.
 */
import { bazel, cargo, catch2, ctest, dotnet, go, gradle, maven, nextest } from './reproduce/compiled.ts';
import { bun, cypress, jest, mocha, playwright, vitest } from './reproduce/javascript.ts';
import { behave, pytest, robot, unittest } from './reproduce/python.ts';
import type { ReportedTest, Words } from './reproduce/reported.ts';
import { minitest, phpunit, rspec } from './reproduce/ruby-php.ts';
import { cucumber } from './reproduce/scenario.ts';
import { shellCommand } from './shell-words.ts';

/** A line for a POSIX shell, to be run where the CI job ran the tests; null if it cannot be known. */
export function reproduceCommand(test: ReportedTest): string | null {
  const words = RUNNERS.get(runnerOf(test.framework))?.(test);
  return words ? shellCommand(words) : null;
}

/** Reporters that are written for one runner name it with its version, or as its package is called. */
function runnerOf(framework: string): string {
  const name = framework.toLowerCase();
  const known = /^(?:xunit|nunit|mstest|rspec|cypress)(?=[\s.]|$)/.exec(name)?.[0];
  return known ?? name;
}

const RUNNERS: ReadonlyMap<string, (test: ReportedTest) => Words> = new Map([
  ['pytest', pytest],
  ['unittest', unittest],
  ['behave', behave],
  ['robot', robot],
  ['jest', jest],
  ['vitest', vitest],
  ['mocha', mocha],
  ['cypress', cypress],
  ['playwright', playwright],
  ['bun', bun],
  ['cucumber', cucumber],
  ['cucumberjs', (test) => cucumber({ ...test, language: 'javascript' })],
  ['go test', go],
  ['gotest', go],
  ['nextest', nextest],
  ['cargo test', cargo],
  ['catch2', catch2],
  ['ctest', ctest],
  ['bazel', bazel],
  ['rspec', rspec],
  ['minitest', minitest],
  ['phpunit', phpunit],
  ['surefire', maven],
  ['gradle', gradle],
  ['xunit', (test) => dotnet(test)],
  ['mstest', (test) => dotnet(test)],
  ['nunit', (test) => dotnet(test, { hasRows: true })],
]);
