/** Shared by all insights: their dependencies, paths and fields. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Clock } from '../clock.ts';
import { ACTIVE_DAYS } from '../domain/activity.ts';
import { attachmentSchema } from '../domain/attachments.ts';
import { axesSchema } from '../domain/axes.ts';
import type { CiIssuer } from '../domain/ci-claims.ts';
import type { CiRule } from '../domain/ci-rules.ts';
import { type HealthConfidence, LEVELS } from '../domain/health-confidence.ts';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { OWNERS_MAX } from '../domain/owner-rules.ts';
import type { ListsAtHost } from '../domain/repository-list.ts';
import { SERIES_DAYS } from '../domain/repository-stats.ts';
import type { FairQueue } from '../fair-queue.ts';
import { textsParameter } from '../http/parameters.ts';
import { owner, repository, uuid5 } from '../http/path.ts';
import { text } from '../http/text.ts';
import type { Database } from '../postgres/client.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import type { Repository, RepositoryStore } from '../postgres/repositories.ts';
import { type KnownTests, unknownTest } from './known-tests.ts';

export interface InsightsDeps {
  clock: Clock;
  clickhouse: ClickHouse;
  repositories: RepositoryStore;
  quarantines: QuarantineStore;
  db: Database;
  knownTests: KnownTests;
  /** The turns of searches by pattern. */
  searches: FairQueue;
  /** For which repositories the service keeps comments and checks at the host itself; without it, for none. */
  keptAtHost?: ListsAtHost | undefined;
  /** Whose identity tokens are exchanged for keys; undefined: no one's. */
  ciTokens?: { issuers: readonly CiIssuer[]; rules: readonly CiRule[] } | undefined;
}

export const TAG = 'CI test insights';

export const repositoryPath = z.object({ owner, repository_name: repository });
export const testPath = repositoryPath.extend({
  test_id: uuid5('Stable identifier of the test, as returned by the search.', '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'),
});

/** Paths of newer operations name the repository as the quarantines do. */
export const shortPath = z.object({ owner, repository });
export const commitPath = shortPath.extend({
  commit_sha: text(1, NAME_LENGTH_MAX).meta({
    description: 'The whole id of the commit, as the runs report it.',
    example: '1111111111111111111111111111111111111111',
  }),
});

export const namesParameter = (description: string, example: string[]) =>
  textsParameter(NAME_LENGTH_MAX, { description, example });

export const testNameOut = z.string().meta({ example: 'Cart > totals > sums [a, b] with 10% tax' });
export const pipelineNameOut = z.string().meta({ example: 'CI' });
export const jobNameOut = z.string().meta({ example: 'unit' });
export const axesOut = axesSchema.meta({
  description: 'What names the leg of the CI job; empty without axes',
  example: { os: 'linux', python: '3.13' },
});
export const attachmentsOut = z.array(attachmentSchema.extend({ name: z.string(), url: z.url() })).meta({
  description: 'Links to what was kept of the failed attempt: at most 8 of an execution, `https` only',
  example: [{ kind: 'screenshot', name: 'cart', url: 'https://artifacts.example.com/runs/1001/cart.png' }],
});
export const testIdOut = z.guid().meta({ example: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11' });
export const dateTimeOut = z.iso.datetime().meta({ example: '2026-11-21T09:30:00.000Z' });

export const lastFailureOut = () =>
  dateTimeOut.nullable().meta({
    description: 'When an attempt last failed, also one of an execution that passed in the end',
    example: '2026-11-20T17:03:11.000Z',
  });

const secondsOut = (description: string, example: number) =>
  z
    .number()
    .nullable()
    .meta({ description: `${description} in the days that durations are of; null if it did not pass then`, example });
/** How long a test takes, as {@link durationJson} gives it. */
export const durationFields = {
  median_seconds: secondsOut('Median of what passed', 1.2),
  p95_seconds: secondsOut('19 of 20 that passed took no longer', 2.1),
};
const US = 1_000_000;
export const durationJson = (durations: { medianUs: number; p95Us: number } | null) => ({
  median_seconds: durations && durations.medianUs / US,
  p95_seconds: durations && durations.p95Us / US,
});

export const failuresByDayOut = () =>
  z.array(z.int()).meta({
    description: `Failed executions on the default branch in the last ${SERIES_DAYS} UTC days, the current one last`,
    example: [0, 2, 0, 1, 0, 0, 0, 9, 14, 0, 1, 0, 3, 1],
  });

export const isActiveOut = () =>
  z.boolean().meta({
    description: `Whether it is worth an alarm: true if it is broken, or flaky and failed on its own, not only in a run that explains it, in the last ${ACTIVE_DAYS} UTC days`,
    example: true,
  });

export const ownersOut = () =>
  z
    .array(z.string())
    .max(OWNERS_MAX)
    .meta({
      description: `Who owns the test, by the settings of the repository or its CODEOWNERS: at most ${OWNERS_MAX}`,
      example: ['@acme/cart'],
    });

/** The command that runs a test alone. */
export const reproduceOut = z.string().nullable().meta({
  description:
    'The command that runs this test alone, for a POSIX shell, as its runner spells it (docs/reproduce.md); null if the default branch has not run it, or its report does not tell enough',
  example: "npx vitest run src/cart.test.ts '--testNamePattern=sums$'",
});

/** How sure a health is. */
export const confidenceFields = {
  health_confidence: z.enum(LEVELS).meta({
    description: 'How sure the health is, by its probability',
    example: 'high',
  }),
  health_probability: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .meta({ description: 'How likely the health is right; null if the test was not judged yet', example: 0.983 }),
  has_enough_runs: z.boolean().meta({
    description: 'False: healthy or broken is what is likeliest, but there are not enough runs to know',
    example: true,
  }),
};

export const confidenceJson = ({ confidence, probability, hasEnoughRuns }: HealthConfidence) => ({
  health_confidence: confidence,
  health_probability: probability,
  has_enough_runs: hasEnoughRuns,
});

/** The fields of a response that holds a page. */
export const pageFields = {
  size: z.int().meta({ description: 'Items in this page', example: 1 }),
  per_page: z.int().meta({ description: 'Items per page', example: 10 }),
};

/** The repository of a test. Throws the 404 of an unknown test: a repository without uploads has no tests. */
export async function repositoryOfTest(deps: InsightsDeps, ownerName: string, name: string): Promise<Repository> {
  const found = await deps.repositories.find(ownerName, name);
  if (!found) throw unknownTest();
  return found;
}
