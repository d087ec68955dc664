/** Tools about failures: those of a commit or pull request, their causes, and what they cost. */
import { z } from 'zod';
import { COMMIT_VERDICTS } from '../domain/commit-verdict.ts';
import { searchForLike } from '../domain/message-search.ts';
import { RED_REASONS } from '../domain/red-run-reason.ts';
import type { Rest } from './rest.ts';
import { answerOf, defineTool, pageInputs, pageOf, placeOf, repositoryInput } from './tool.ts';

const commitsSchema = z.object({ commits: z.array(z.object({ commit_sha: z.string() })).min(1) });

/** The commit of a pull request that ran last. */
async function newestCommitOf(rest: Rest, path: string, number: number): Promise<string> {
  const { body } = await rest.get(`${path}/pulls/${number}`);
  return commitsSchema.parse(body).commits[0]?.commit_sha ?? '';
}

const whatFailed = defineTool({
  name: 'what_failed',
  title: 'Say what failed on a commit or pull request, and whose fault it is',
  description:
    'Each test that failed on a commit (or on the newest commit of a pull request) with a verdict: new (probably the change), known_flaky, broken (on the default branch already), infrastructure or quarantined, with the evidence. Ask this before you call a failure flaky. A known_flaky verdict without passes on this commit does not prove that the change is innocent.',
  input: {
    repository: repositoryInput,
    commit: z.string().min(1).max(200).optional().describe('The whole SHA of the commit. Give this or pull_request.'),
    pull_request: z.int().min(1).max(2_147_483_647).optional().describe('The number of the pull request.'),
    verdict: z.enum(COMMIT_VERDICTS).optional().describe('Only failures with this verdict.'),
    ...pageInputs,
  },
  kind: 'read',
  run: async ({ repository, commit: named, pull_request: number, verdict, cursor, limit }, asking) => {
    const { path, page } = placeOf(repository, asking);
    if ((named === undefined) === (number === undefined)) return 'Give either commit or pull_request.';
    const commit = named ?? (await newestCommitOf(asking.rest, path, number ?? 0));
    const query = { verdict, cursor, per_page: limit };
    return pageOf(
      {
        rest: asking.rest,
        path: `${path}/commits/${encodeURIComponent(commit)}/failures`,
        query,
        list: 'failures',
        own: { page: page('commits', commit) },
      },
      (body) => ({ commit, ...body }),
    );
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
