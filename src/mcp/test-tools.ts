/** Tools about tests: search, one test with its reasons, how far it is from healthy, and what changed lately. */
import { z } from 'zod';
import { TURNS } from '../domain/health-transitions.ts';
import { HEALTHS } from '../domain/status.ts';
import { answerOf, defineTool, pageInputs, pageOf, placeOf, repositoryInput, testInput } from './tool.ts';

const searchTests = defineTool({
  name: 'search_tests',
  title: 'Search tests',
  description:
    'Tests of the default branch by name, health or owner, with how often they failed in the last 30 days. Use it to find the test_id of a name, or what is flaky or broken.',
  input: {
    repository: repositoryInput,
    name: z.string().max(1_000).default('*').describe('The whole name, or a pattern with * and ?, such as *checkout*.'),
    health: z.enum(HEALTHS).optional().describe('Only tests of this health.'),
    owner: z.string().max(200).optional().describe('Only tests of this owner, such as @acme/checkout.'),
    ...pageInputs,
  },
  kind: 'read',
  run: ({ repository, name, health, owner, cursor, limit }, asking) => {
    const { path, page } = placeOf(repository, asking);
    const query = { test_name: name, health_status: health, owner, cursor, per_page: limit };
    return pageOf({
      rest: asking.rest,
      path: `${path}/search/tests`,
      query,
      list: 'tests',
      own: { page: page('tests') },
    });
  },
});

const reasonsSchema = z.object({ identities: z.array(z.record(z.string(), z.unknown())) });
/** What the rules made of each failure, and of its run: hundreds, of which the others are the ones that decided. */
const TOO_MANY = ['failures', 'troubled_runs'];

const reasonsOf = (explanation: unknown): Record<string, unknown>[] =>
  reasonsSchema
    .parse(explanation)
    .identities.map((identity) =>
      Object.fromEntries(Object.entries(identity).filter(([key]) => !TOO_MANY.includes(key))),
    );

const getTest = defineTool({
  name: 'get_test',
  title: 'Explain a test',
  description:
    'One test with its reasons: health, since when and by which rule, the executions that show it, on which axes it fails, and the messages with which it fails. "Flaky" here always has executions of the same code that show it.',
  input: { repository: repositoryInput, test: testInput },
  kind: 'read',
  run: async ({ repository, test }, asking) => {
    const { path, page, testId } = placeOf(repository, asking);
    const id = testId(test);
    const [details, explanation, groups] = await Promise.all(
      ['', '/explanation', '/failures'].map((below) => asking.rest.get(`${path}/tests/${id}${below}`)),
    );
    const told = {
      ...details?.body,
      fails_with: explanation?.body.fails_with,
      reasons: reasonsOf(explanation?.body),
      failure_groups: groups?.body.failures,
    };
    return answerOf({ page: page('tests', id) }, told);
  },
});

const getRecovery = defineTool({
  name: 'get_recovery',
  title: 'Say how far a test is from healthy',
  description:
    'After a fix: how many clean passes on the default branch the test still needs until it is healthy with this confidence, in which legs, and which commit probably fixed it.',
  input: {
    repository: repositoryInput,
    test: testInput,
    confidence: z
      .number()
      .min(0.5)
      .max(0.99)
      .optional()
      .describe('Defaults to what the recovery of quarantines asks for.'),
  },
  kind: 'read',
  run: async ({ repository, test, confidence }, asking) => {
    const { path, page, testId } = placeOf(repository, asking);
    const id = testId(test);
    const { body } = await asking.rest.get(`${path}/tests/${id}/recovery`, { confidence });
    return answerOf({ page: page('tests', id) }, body);
  },
});

const recentChanges = defineTool({
  name: 'recent_changes',
  title: 'List recent changes of health',
  description:
    'Tests that turned broken or flaky, recovered or were fixed, newest first, with the commit that began it.',
  input: {
    repository: repositoryInput,
    turn: z.enum(TURNS).optional().describe('Only changes of this kind.'),
    since: z.iso.datetime({ offset: true }).optional().describe('Defaults to 7 days ago.'),
    ...pageInputs,
  },
  kind: 'read',
  run: ({ repository, turn, since, cursor, limit }, asking) => {
    const { path, page } = placeOf(repository, asking);
    const query = { turn, start: since, cursor, per_page: limit };
    return pageOf({
      rest: asking.rest,
      path: `${path}/health-transitions`,
      query,
      list: 'transitions',
      own: { page: page() },
    });
  },
});

export const TEST_TOOLS = [searchTests, getTest, getRecovery, recentChanges];
