/** The repositories that a credential may read. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { formatMoment } from '../domain/moment.ts';
import type { Grant } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { forbidden } from '../http/problems.ts';
import { overviewOf, type RepositoryOverview } from '../postgres/repository-overview.ts';
import * as common from './common.ts';

const count = (description: string, example: number) => z.int().meta({ description, example });
const response = z.object({
  repositories: z.array(
    z
      .object({
        owner: z.string().meta({ example: 'acme' }),
        repository: z.string().meta({ example: 'shop' }),
        default_branch: z.string().nullable().meta({ description: 'Null if it is not known yet', example: 'main' }),
        created_at: common.dateTimeOut.meta({ description: 'When something was first stored for it' }),
        tests: count('Tests that ever ran on the default branch', 1_204),
        flaky_tests: count('Of these, flaky in one of their pipelines and CI jobs, and broken in none', 12),
        broken_tests: count('Of these, broken in one of their pipelines and CI jobs', 3),
        quarantined_tests: count('Tests with a quarantine, on whatever branch', 4),
        recovered_tests: count('Of these, with one that could be removed', 1),
      })
      .meta({ id: 'RepositorySummary' }),
  ),
});
export type RepositoryList = z.output<typeof response>;

const toJson = (found: RepositoryOverview): RepositoryList['repositories'][number] => ({
  owner: found.owner,
  repository: found.name,
  default_branch: found.default_branch,
  created_at: formatMoment(found.created_ms),
  tests: found.tests,
  flaky_tests: found.flaky,
  broken_tests: found.broken,
  quarantined_tests: found.quarantined,
  recovered_tests: found.recovered,
});

/** Null: every one. */
const namesOf = ({ owner, repositories }: Grant): { owner: string | null; names: readonly string[] | null } => ({
  owner: owner?.toLowerCase() ?? null,
  names: repositories?.map((name) => name.toLowerCase()) ?? null,
});

export const mountRepositories = (app: AnyElysia, http: Http, { db }: common.InsightsDeps): void =>
  mount(app, http, 'GET', '/v1/repositories', {
    operationId: 'listRepositories',
    tag: common.TAG,
    summary: 'List the repositories that the credential may read',
    description:
      'With the health of their tests now; those with the most broken and flaky tests first. A token of the repository host has no list: ask for a repository by its name.',
    access: 'credential',
    responses: { 200: { description: 'The repositories.', schema: response } },
    handle: async ({ credential }) => {
      if (!credential?.grant)
        throw forbidden('A token of the repository host has no list of repositories. Send an application key.');
      const found = await overviewOf(db, namesOf(credential.grant));
      return { body: { repositories: found.map(toJson) } };
    },
  });
