/** Tools about failures: those of a commit or pull request, their causes, and what they cost. */
import { z } from 'zod';
import { PULL_REQUEST_NUMBER_MAX } from '../domain/limits.ts';
import { searchForLike } from '../domain/message-search.ts';
import { RED_REASONS } from '../domain/red-run-reason.ts';
import type { Rest } from './rest.ts';
import { answerOf, defineTool, listOf, pageInputs, pageOf, placeOf, repositoryInput } from './tool.ts';

const claimsSchema = z.looseObject({ commit: z.string(), claims: z.array(z.unknown()) });
/** Claims in one answer of the operation, which has no pages. */
const CLAIMS_MAX = 100;
const LOG_LENGTH_MAX = 100_000;
const FILES_MAX = 3_000;

const whatFailed = defineTool({
  name: 'what_failed',
  title: 'Say what failed on a commit or pull request, and whether the change caused it',
  description:
    'For each test that failed on a commit (or on the newest commit of a pull request): how likely the change caused it (probability), what explains it otherwise, what speaks for and against that, and if that is not enough to say (verdict unknown), which reruns would decide (needs). Ask this before you call a failure flaky. Give base_commit and changed_files if you know them: they make the answer surer.',
  input: {
    repository: repositoryInput,
    commit: z.string().min(1).max(1_000).optional().describe('The whole SHA of the commit. Give this or pull_request.'),
    pull_request: z.int().min(1).max(PULL_REQUEST_NUMBER_MAX).optional().describe('The number of the pull request.'),
    base_commit: z.string().min(1).max(1_000).optional().describe('The merge base of the change.'),
    changed_files: z
      .array(z.string().min(1).max(1_000))
      .max(FILES_MAX)
      .optional()
      .describe('Paths of the files that the change touches, from the root of the repository.'),
    tests: z.array(z.string().min(1).max(10_000)).max(100).optional().describe('Only tests of these whole names.'),
    log: z.string().max(LOG_LENGTH_MAX).optional().describe('Only tests that this excerpt of a log names.'),
    cursor: z
      .string()
      .regex(/^\d{1,3}$/)
      .optional()
      .describe('next_cursor of the answer before, for the next page.'),
    limit: pageInputs.limit,
  },
  kind: 'read',
  run: async ({ repository, tests, cursor = '0', limit, ...question }, asking) => {
    const { path, page } = placeOf(repository, asking);
    const asked = { ...question, test_names: tests, limit: CLAIMS_MAX };
    const { body } = await asking.rest.post(`${path}/claims`, asked);
    const { claims, ...told } = claimsSchema.parse(body);
    const begin = Number(cursor);
    return listOf({
      items: claims.slice(begin, begin + limit),
      nextCursor: (shown) => (begin + shown < claims.length ? String(begin + shown) : undefined),
      list: 'claims',
      own: { page: page('commits', told.commit) },
      told,
    });
  },
});

/** A search has to find all of its words, and a pasted message may have some that the stored one has not. */
const WORDS_TRIED = [8, 4, 2] as const;

/** The search with the most words of a text that finds a cause; the one with the fewest if none does. */
async function searchThatFinds(rest: Rest, path: string, text: string): Promise<string> {
  let search = '';
  for (const words of WORDS_TRIED) {
    search = searchForLike(text, words);
    if (search === '') return search;
    const { body } = await rest.get(`${path}/causes`, { q: search, per_page: 1 });
    if (body.size !== 0) return search;
  }
  return search;
}

const findCauses = defineTool({
  name: 'find_causes',
  title: 'Find what failures have in common',
  description:
    'With cause_id: one cause across tests, with its newest failure, its tests and legs, and between which commits it began. With text: causes whose message is like this one, to find similar failures; paste the message of the failure. With neither: the newest causes.',
  input: {
    repository: repositoryInput,
    cause_id: z.guid().optional().describe('A cause_id of another answer.'),
    text: z.string().max(5_000).optional().describe('The message of a failure, or words of it.'),
    ...pageInputs,
  },
  kind: 'read',
  run: async ({ repository, cause_id: causeId, text, cursor, limit }, asking) => {
    const { path, page } = placeOf(repository, asking);
    if (causeId !== undefined) {
      const { body } = await asking.rest.get(`${path}/causes/${causeId}`);
      return answerOf({ page: page('causes', causeId) }, body);
    }
    const q = text === undefined ? undefined : await searchThatFinds(asking.rest, path, text);
    if (q === '') return 'The text has no word that says something. Give the message of a failure.';
    return pageOf(
      {
        rest: asking.rest,
        path: `${path}/causes`,
        query: { q, cursor, per_page: limit },
        list: 'causes',
        own: { page: page('causes') },
      },
      (body) => ({ searched_for: q, ...body }),
    );
  },
});

const cost = defineTool({
  name: 'cost',
  title: 'Say what red runs cost',
  description:
    'Red runs, reruns, minutes of rerunning, hours that authors waited, and innocent departures from the merge queue, shared out among tests or owners, the most first. By default the last 28 days, and what flaky and broken tests are to blame for.',
  input: {
    repository: repositoryInput,
    by: z.enum(['test', 'owner']).default('test'),
    reason: z.enum(RED_REASONS).optional().describe('Only runs that were red for this reason.'),
    ...pageInputs,
  },
  kind: 'read',
  run: ({ repository, by, reason, cursor, limit }, asking) => {
    const { path, page } = placeOf(repository, asking);
    return pageOf({
      rest: asking.rest,
      path: `${path}/cost`,
      query: { by, reason, cursor, per_page: limit },
      list: by === 'owner' ? 'owners' : 'tests',
      own: { page: page('cost') },
    });
  },
});

export const FAILURE_TOOLS = [whatFailed, findCauses, cost];
