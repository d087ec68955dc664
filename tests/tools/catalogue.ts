/** Every tool whose reports can be made here, in the order of docs/executions.md. */
import { go, gotestsum } from './go.ts';
import { cucumberJvm, surefire, testng } from './java.ts';
import { bats, bun, cucumber, jest, mocha, node, playwright, tape, vitest } from './javascript.ts';
import { pytest } from './pytest.ts';
import { behave, ctest, robot, unittest } from './python-others.ts';
import type { Tool } from './tool.ts';

export const TOOLS: readonly Tool[] = [
  pytest,
  unittest,
  behave,
  robot,
  surefire,
  testng,
  cucumberJvm,
  jest,
  vitest,
  mocha,
  bun,
  node,
  playwright,
  cucumber,
  tape,
  bats,
  go,
  gotestsum,
  ctest,
];
