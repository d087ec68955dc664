/** What rules of owners would do, before they are saved. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { OWNER_CHANGES_LISTED_MAX, type OwnersPreview } from '../domain/owner-preview.ts';
import { type OwnerRule, ownerRulesSchema } from '../domain/owner-rules.ts';
import { type Http, mount } from '../http/operation.ts';
import { previewOwnerRules } from '../postgres/owner-preview.ts';
import * as common from './common.ts';

const count = (description: string, example: number) => z.int().meta({ description, example });
const owners = (description: string, example: string[]) => z.array(z.string()).meta({ description, example });

const RULES_EXAMPLE = [{ file: '/src/cart/', owners: ['@acme/cart'] }];
const body = z.strictObject({
  test_owners: ownerRulesSchema.meta({
    description: 'All rules, as the settings would have them',
    example: RULES_EXAMPLE,
  }),
});

const response = z
  .object({
    tests: count('Tests with retained executions', 1_204),
    rules: z
      .array(
        z.object({
          matches: count('Tests that the rule matches; 0: it may be misspelt', 120),
          tests: count('Of these, those whose owners it says: no later rule matches them', 112),
        }),
      )
      .meta({ description: 'One for each rule, in their order' }),
    changed_tests: count('Tests that would have other owners than now', 8),
    changes: z
      .array(
        z.object({
          test_id: z.guid().meta({ example: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11' }),
          test_name: common.testNameOut,
          owners_before: owners('Now; empty: no owner', ['@acme/web']),
          owners_after: owners('By these rules; empty: no owner', ['@acme/cart']),
        }),
      )
      .max(OWNER_CHANGES_LISTED_MAX)
      .meta({ description: `Of these, the first ${OWNER_CHANGES_LISTED_MAX} by name` }),
  })
  .meta({ id: 'OwnersPreview' });
export type OwnersPreviewAnswer = z.output<typeof response>;

const answerOf = ({ tests, rules, changed, changes }: OwnersPreview): OwnersPreviewAnswer => ({
  tests,
  rules,
  changed_tests: changed,
  changes: changes.map(({ testId, name, before, after }) => ({
    test_id: testId,
    test_name: name,
    owners_before: [...before],
    owners_after: [...after],
  })),
});

const ofNothing = (rules: readonly OwnerRule[]): OwnersPreview => ({
  tests: 0,
  rules: rules.map(() => ({ matches: 0, tests: 0 })),
  changed: 0,
  changes: [],
});

export function mountOwnerPreview(app: AnyElysia, http: Http, { db, repositories }: common.InsightsDeps): void {
  mount(app, http, 'POST', '/v1/ci/:owner/repositories/:repository/owners/preview', {
    operationId: 'previewOwners',
    tag: common.TAG,
    summary: 'Preview rules of owners',
    description:
      'What the rules would do as `test_owners` of the settings: how many tests each of them matches, and which tests would have other owners. CODEOWNERS stays as it is. It only looks: nothing is saved. For those who may change the settings.',
    access: 'administer',
    params: common.shortPath,
    body,
    bodyExample: { test_owners: RULES_EXAMPLE },
    responses: { 200: { description: 'What the rules would do.', schema: response } },
    handle: async ({ params: path, body: { test_owners: rules } }) => {
      const repository = await repositories.find(path.owner, path.repository);
      return { body: answerOf(repository ? await previewOwnerRules(db, repository.id, rules) : ofNothing(rules)) };
    },
  });
}
