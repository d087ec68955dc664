/** The made-up repositories of the demo: one that is large and has every trouble, and two smaller ones of other teams. */
import type { WorldOptions } from './world.ts';

export interface LivelyRepository {
  owner: string;
  name: string;
  world: WorldOptions;
  /** Its CI jobs; each has its share of the tests. */
  jobs: readonly string[];
  /** The parts of the product that its tests are about. */
  areas: readonly string[];
  tool: { framework: string; framework_version: string; language: string };
  /** Where the tests of a subject are. */
  fileOf(area: string, subject: string): string;
}

/** The last days are working days: the world begins on a Monday. */
const DAYS = 89;

export const SHOP: LivelyRepository = {
  owner: 'acme',
  name: 'shop',
  world: {
    name: 'shop',
    seed: 7,
    days: DAYS,
    tests: 120,
    jobs: 4,
    mergesPerDay: 4,
    pullRequestRunsPerDay: 8,
    rerunShare: 0.5,
    pullRequestRerunShare: 0.3,
    isRetriedByRunner: true,
    flakyShare: 0.08,
    oneInAHundredShare: 0,
    breaksPerWeek: 1.5,
    incidentsPerWeek: 0.4,
  },
  jobs: ['unit', 'integration', 'e2e', 'api'],
  areas: ['cart', 'checkout', 'catalog', 'search', 'payments', 'accounts', 'shipping', 'inventory'],
  tool: { framework: 'vitest', framework_version: '4.1.2', language: 'typescript' },
  fileOf: (area, subject) => `src/${area}/${subject}.test.ts`,
};

const BILLING: LivelyRepository = {
  owner: 'acme',
  name: 'billing',
  world: { ...SHOP.world, name: 'billing', seed: 11, tests: 24, jobs: 2, mergesPerDay: 1.5, pullRequestRunsPerDay: 2 },
  jobs: ['tests', 'contracts'],
  areas: ['ledger', 'invoices', 'taxes'],
  tool: { framework: 'pytest', framework_version: '8.4.1', language: 'python' },
  fileOf: (area, subject) => `tests/${area}/test_${subject}.py`,
};

/** Hardly anything is wrong with it. */
const WAREHOUSE: LivelyRepository = {
  owner: 'globex',
  name: 'warehouse',
  world: {
    ...SHOP.world,
    name: 'warehouse',
    seed: 3,
    tests: 16,
    jobs: 1,
    mergesPerDay: 1,
    pullRequestRunsPerDay: 1,
    flakyShare: 0,
    breaksPerWeek: 0,
    incidentsPerWeek: 0,
  },
  jobs: ['verify'],
  areas: ['racks', 'orders'],
  tool: { framework: 'junit', framework_version: '5.13.0', language: 'java' },
  fileOf: (area, subject) => `src/test/java/com/globex/${area}/${subject}Test.java`,
};

export const LIVELY_REPOSITORIES: readonly LivelyRepository[] = [SHOP, BILLING, WAREHOUSE];
