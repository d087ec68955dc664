/** Tools about quarantines: list, add, release. The last two need the scope `ci`, as the operations do. */
import { z } from 'zod';
import { answerOf, defineTool, pageInputs, pageOf, placeOf, repositoryInput } from './tool.ts';

const listQuarantines = defineTool({
  name: 'list_quarantines',
  title: 'List quarantined tests',
  description: 'Tests whose failures do not count now, with reason, owner, ticket and end, and whether they recovered.',
  input: {
    repository: repositoryInput,
    test_id: z.guid().optional().describe('Only quarantines of this test.'),
    ...pageInputs,
  },
  kind: 'read',
  run: ({ repository, test_id: testId, cursor, limit }, asking) => {
    const { path, page } = placeOf(repository, asking);
    return pageOf({
      rest: asking.rest,
      path: `${path}/quarantines`,
      query: { narrowed: 'include', test_id: testId, cursor, per_page: limit },
      list: 'quarantined_tests',
      own: { page: page('quarantines') },
    });
  },
});

const quarantineTest = defineTool({
  name: 'quarantine_test',
  title: 'Quarantine a test',
  description:
    'Makes failures of a test not count. Only for a test that is proven flaky (get_test), never for a failure that the change may have caused, and only if the person whom you work for wants it. Give an end and a ticket. Needs a key with the scope ci or admin.',
  input: {
    repository: repositoryInput,
    test_name: z.string().min(1).max(10_000).describe('The whole name of the test, without the marks ⟦ and ⟧.'),
    reason: z.string().min(1).max(1_000).describe('Why, with the evidence: people read it later.'),
    branch: z.string().max(1_000).optional().describe('Only on this branch or pattern; by default on every one.'),
    expires_at: z.iso.datetime({ offset: true }).optional().describe('When it ends automatically.'),
    owner: z.string().max(200).optional().describe('Who will repair the test.'),
    ticket_url: z.url().max(2_000).optional().describe('Where the repair is tracked.'),
  },
  kind: 'write',
  run: async ({ repository, ...terms }, asking) => {
    const { path, page } = placeOf(repository, asking);
    const { body } = await asking.rest.post(`${path}/quarantines`, terms);
    return answerOf({ page: page('quarantines') }, { quarantined: true, ...body });
  },
});

const releaseQuarantine = defineTool({
  name: 'release_quarantine',
  title: 'Release a quarantined test',
  description:
    'Ends a quarantine: failures of its test count again. Ask get_recovery first. Only if the person whom you work for wants it. Needs a key with the scope ci or admin.',
  input: {
    repository: repositoryInput,
    quarantine_id: z.guid().describe('The id of the quarantine, as list_quarantines gives it.'),
  },
  kind: 'remove',
  run: async ({ repository, quarantine_id: id }, asking) => {
    const { path, page } = placeOf(repository, asking);
    await asking.rest.delete(`${path}/quarantines/${id}`);
    return answerOf({ page: page('quarantines') }, { released: true, id });
  },
});

export const QUARANTINE_TOOLS = [listQuarantines, quarantineTest, releaseQuarantine];
