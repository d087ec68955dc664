/** Pull requests of GitHub, and what a run tested: runs of forks do not name theirs. */
import { z } from 'zod';
import { type HostHistory, mergeIn } from '../host.ts';
import type { ImportedPullRequest } from '../item.ts';
import type { Subject } from '../past-job.ts';
import type { Run } from './api.ts';

const pullSchema = z.object({
  number: z.number(),
  id: z.number(),
  title: z.string(),
  user: z.object({ id: z.number(), login: z.string() }).nullish(),
  base: z.object({ ref: z.string() }),
  head: z.object({
    ref: z.string(),
    sha: z.string(),
    label: z.string().nullish(),
    repo: z.object({ full_name: z.string() }).nullish(),
  }),
  merged_at: z.string().nullish(),
  merge_commit_sha: z.string().nullish(),
  updated_at: z.string(),
});
type Pull = z.infer<typeof pullSchema>;

const TITLE_LENGTH_MAX = 256;
/** A pull request is open for a while before it is updated for the last time. */
const PULLS_MAX = 100_000;

/** Events of a branch: what their run tested is the head of the branch. */
const OF_A_BRANCH: ReadonlySet<string> = new Set([
  'push',
  'schedule',
  'workflow_dispatch',
  'repository_dispatch',
  'dynamic',
]);

export class GithubPulls {
  readonly #byCommit = new Map<string, Pull>();
  readonly #byHead = new Map<string, Pull>();

  constructor(private readonly history: Pick<HostHistory, 'client' | 'path' | 'since' | 'until'>) {}

  /** The requests that were updated since the beginning of the import's time. */
  async *read(): AsyncGenerator<ImportedPullRequest> {
    const { client, path, since } = this.history;
    const address = `/repos/${path}/pulls?state=all&sort=updated&direction=desc&per_page=100`;
    let count = 0;
    for await (const pulls of client.pages(address, z.array(pullSchema))) {
      for (const pull of pulls) {
        if (Date.parse(pull.updated_at) < since || ++count > PULLS_MAX) return;
        this.#byCommit.set(pull.head.sha, pull);
        const head = headOf(pull.head.repo?.full_name, pull.head.ref);
        // The newest of a branch was updated last.
        if (!this.#byHead.has(head)) this.#byHead.set(head, pull);
        yield { ...importedOf(pull, path), ...mergeIn(this.history, pull.merged_at) };
      }
    }
  }

  /** What the run tested, as the job itself would have said it (src/client/ci-github.ts). */
  subjectOf(run: Run, defaultBranch: string): Subject | { reason: string } {
    const branch = run.head_branch ?? undefined;
    const isFork = run.head_repository?.full_name.toLowerCase() !== this.history.path.toLowerCase();
    if (run.event === 'merge_group') return { branch, pullRequest: undefined, baseRef: queueOf(branch), defaultBranch };
    if (run.event.startsWith('pull_request')) return this.#ofPull(run, defaultBranch);
    if (OF_A_BRANCH.has(run.event) && !isFork)
      return { branch, pullRequest: undefined, baseRef: undefined, defaultBranch };
    return { reason: `runs of the event ${run.event} do not say what they tested` };
  }

  #ofPull(run: Run, defaultBranch: string): Subject {
    const [named] = run.pull_requests ?? [];
    const found =
      this.#byCommit.get(run.head_sha) ??
      this.#byHead.get(headOf(run.head_repository?.full_name, run.head_branch ?? ''));
    return {
      branch: run.head_branch ?? undefined,
      pullRequest: named?.number ?? found?.number,
      // Without a base, a fork's branch `main` would be taken for the default branch.
      baseRef: named?.base?.ref ?? found?.base.ref ?? defaultBranch,
      defaultBranch,
    };
  }
}

const headOf = (repository: string | undefined, branch: string): string => `${repository?.toLowerCase()}:${branch}`;

/** `gh-readonly-queue/main/pr-7-0123…` → `main` */
const queueOf = (branch: string | undefined): string | undefined =>
  /^gh-readonly-queue\/(.+)\/pr-\d+-[0-9a-f]+$/.exec(branch ?? '')?.[1];

function importedOf(pull: Pull, path: string): ImportedPullRequest {
  const isFork = pull.head.repo?.full_name.toLowerCase() !== path.toLowerCase();
  return {
    number: pull.number,
    id: pull.id,
    title: pull.title.slice(0, TITLE_LENGTH_MAX),
    author: pull.user ? { id: pull.user.id, login: pull.user.login } : null,
    base_ref: pull.base.ref,
    head_ref: isFork ? (pull.head.label ?? pull.head.ref) : pull.head.ref,
    head_commit: pull.head.sha,
    // Until it is merged, this names a commit that GitHub only tries.
    merge_commit: pull.merged_at ? (pull.merge_commit_sha ?? null) : null,
    updated_at: new Date(pull.updated_at).toISOString(),
  };
}
