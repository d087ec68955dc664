/** Where tools are installed, in the versions of their projects: `node_modules/.cache`, the caches of Go and Maven, and a throw-away folder. */
import { delimiter, dirname, join } from 'node:path';
import { packagesFolder } from '../clients/support/packages.ts';
import { pythonEnvironment } from '../clients/support/python.ts';
import { machine } from '../clients/support/run.ts';
import { GO_SETTINGS, goProgram } from './go-program.ts';
import type { Installer } from './tool.ts';

const GOTESTSUM = 'gotest.tools/gotestsum@v1.13.0';
const NODE = `node-${process.platform}-${process.arch}`;
const PACKAGES = {
  '@cucumber/cucumber': '13.3.0',
  '@d2t/vitest-ctrf-json-reporter': '1.3.0',
  '@playwright/test': '1.65.1',
  'allure-playwright': '3.12.2',
  'allure-vitest': '3.12.2',
  bats: '1.13.0',
  jest: '30.5.2',
  'jest-ctrf-json-reporter': '0.0.11',
  'jest-junit': '17.0.0',
  // The last one with which mocha-junit-reporter works: it takes the one of this name.
  mocha: '11.8.0',
  'mocha-12': 'npm:mocha@12.0.3',
  'mocha-junit-reporter': '2.2.1',
  [NODE]: '24.21.0',
  'playwright-ctrf-json-reporter': '0.0.29',
  tape: '5.10.2',
  vitest: '4.1.10',
};

export interface Installed {
  /** Where a project must lie to find its packages; undefined: anywhere. */
  folder?: string;
  variables: Record<string, string | undefined>;
}

/** Whatever the machine sets for a CI provider is left out: tools write other reports for some. */
const withPath = (...folders: string[]): Record<string, string | undefined> => {
  const { PATH = '', ...rest } = machine();
  return { ...rest, PATH: [...folders, PATH].join(delimiter) };
};

/** Throws in CI, and returns undefined elsewhere, if it cannot be installed; the reason is printed. */
export const INSTALLERS: Readonly<Record<Installer, () => Promise<Installed | undefined>>> = {
  bun: async () => ({ variables: withPath(dirname(process.execPath)) }),

  python: async () => {
    const python = await pythonEnvironment('tools');
    return python && { variables: { ...withPath(python.bin), PYTHONDONTWRITEBYTECODE: '1' } };
  },

  npm: async () => {
    const folder = await packagesFolder(PACKAGES);
    if (folder === undefined) return undefined;
    const modules = join(folder, 'node_modules');
    return { folder, variables: withPath(join(modules, NODE, 'bin'), join(modules, '.bin')) };
  },

  go: async () => {
    const [python, gotestsum] = await Promise.all([pythonEnvironment('tools'), goProgram(GOTESTSUM)]);
    if (!python || gotestsum === undefined) return undefined;
    return { variables: { ...withPath(python.bin, dirname(gotestsum)), ...GO_SETTINGS } };
  },

  maven: async () => {
    if (Bun.which('mvn') === null || Bun.which('javac') === null) return missing('Maven', 'mvn and javac are not here');
    return { variables: { ...withPath(), JAVA_HOME: process.env.JAVA_HOME } };
  },
};

function missing(name: string, reason: string): undefined {
  if (process.env.CI === 'true') throw new Error(`in CI no tool is skipped, but: ${reason}`);
  console.error(`skipped: reports of ${name}, because ${reason.trim().split('\n').at(-1)?.slice(0, 300)}`);
  return undefined;
}
