/**
 * Check runs of GitHub: https://docs.github.com/en/rest/checks/runs. Only Apps may write them; the token of a job of GitHub
 * Actions is one. A check run cannot be deleted. Of two that jobs create at the same time, GitHub shows the newer one, so that
 * one is kept, and the older one says so.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { listNumbered } from '../api/pages.ts';
import type { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';
import {
  CHECK_NAME,
  type CheckAnnotation,
  type CheckHost,
  type CheckWritten,
  type WantedCheck,
} from '../writes/check-host.ts';
import { askGraphql, githubPath, githubRest, nameOf } from './rest.ts';

/** GitHub takes so many in a request. */
const ANNOTATIONS_AT_ONCE = 50;
/** Of all CI jobs together: no one reads more. */
const ANNOTATIONS_MAX = 500;
const PAGES_MAX = 10;

const viewerSchema = z.object({ viewer: z.object({ login: z.string() }) });
const checkSchema = z.object({
  id: z.number(),
  external_id: z.string().nullish(),
  app: z.object({ slug: z.string().nullish() }).nullish(),
  output: z.object({ annotations_count: z.number().default(0) }),
});
type CheckRun = z.infer<typeof checkSchema>;
const checksSchema = z.object({ check_runs: z.array(checkSchema) }).transform(({ check_runs: runs }) => runs);
const annotationsSchema = z.array(
  z.object({ path: z.string(), start_line: z.number(), title: z.string().nullish(), message: z.string().nullish() }),
);

export class GithubChecks implements CheckHost {
  readonly subject: string;
  readonly #rest: HostRest;
  readonly #path: string;
  #viewer: string | undefined;

  constructor(
    private readonly place: RemotePlace,
    private readonly commit: string,
    private readonly key: string,
  ) {
    this.subject = `the check of ${commit.slice(0, 12)}`;
    this.#path = githubPath(place.path);
    this.#rest = githubRest(
      place,
      'The job needs `permissions: checks: write`; only Apps may write checks, and jobs of forks get a token that only reads',
    );
  }

  async write(wanted: WantedCheck): Promise<CheckWritten> {
    const [newest, ...older] = await this.#own();
    for (const one of older) await this.#setAside(one);
    const state = this.#stateOf(wanted);
    if (!newest) {
      const first = wanted.annotations.slice(0, ANNOTATIONS_AT_ONCE);
      const json = { name: CHECK_NAME, head_sha: this.commit, ...bodyOf(wanted, state, first) };
      await this.#rest.ask(`${this.#path}/check-runs`, z.unknown(), { method: 'POST', json });
      // What did not fit is added when it looks again.
      return 'created';
    }
    const missing = await this.#missing(newest, wanted.annotations);
    if (newest.external_id === state && missing.length === 0) return 'unchanged';
    for (let at = 0; at === 0 || at < missing.length; at += ANNOTATIONS_AT_ONCE)
      await this.#update(newest, bodyOf(wanted, state, missing.slice(at, at + ANNOTATIONS_AT_ONCE)));
    return 'updated';
  }

  /** Its check runs on the commit, the newest first. Those of other Apps never count, whatever is in them. */
  async #own(): Promise<CheckRun[]> {
    const query = '{ viewer { login } }';
    this.#viewer ??= (
      await askGraphql(this.#rest, this.place, { query }, viewerSchema, 'who the token is')
    ).viewer.login;
    const self = nameOf(this.#viewer);
    const path = `${this.#path}/commits/${encodeURIComponent(this.commit)}/check-runs?check_name=${CHECK_NAME}&filter=all`;
    const { items } = await listNumbered(this.#rest, path, checksSchema, { pagesMax: PAGES_MAX });
    const own = items.filter(
      ({ external_id: id, app }) => id?.startsWith(`${this.key} `) && nameOf(app?.slug ?? undefined) === self,
    );
    return own.sort((one, other) => other.id - one.id);
  }

  async #missing({ id, output }: CheckRun, annotations: readonly CheckAnnotation[]): Promise<CheckAnnotation[]> {
    const known = new Set<string>();
    if (annotations.length > 0 && output.annotations_count > 0) {
      const path = `${this.#path}/check-runs/${id}/annotations`;
      const { items } = await listNumbered(this.#rest, path, annotationsSchema, { pagesMax: PAGES_MAX });
      for (const one of items) known.add(keyOf({ ...one, line: one.start_line }));
    }
    const room = Math.max(0, ANNOTATIONS_MAX - output.annotations_count);
    return annotations.filter((one) => !known.has(keyOf(one))).slice(0, room);
  }

  /** Annotations are added with each update, so one whose answer is lost is not simply sent again. */
  async #update({ id }: CheckRun, json: object): Promise<void> {
    const asked = { method: 'PATCH', json, isRepeatable: false } as const;
    await this.#rest.ask(`${this.#path}/check-runs/${id}`, z.unknown(), asked);
  }

  async #setAside(check: CheckRun): Promise<void> {
    const state = `${this.key} aside`;
    if (check.external_id === state) return;
    const output = {
      title: 'A newer check says it',
      summary: 'Two jobs wrote at the same time. The newer check counts.',
    };
    await this.#update(check, { external_id: state, status: 'completed', conclusion: 'neutral', output });
  }

  /** Stands in the check run, as GitHub may change how texts are spelled. */
  #stateOf({ conclusion, title, summary, url }: WantedCheck): string {
    const hash = createHash('sha256').update(JSON.stringify([conclusion, title, summary, url]));
    return `${this.key} ${hash.digest('hex').slice(0, 32)}`;
  }
}

const keyOf = ({
  path,
  line,
  title,
  message,
}: {
  path: string;
  line: number;
  title?: string | null | undefined;
  message?: string | null | undefined;
}): string => JSON.stringify([path, line, title, message]);

const bodyOf = (wanted: WantedCheck, state: string, annotations: readonly CheckAnnotation[]) => ({
  external_id: state,
  details_url: wanted.url,
  status: 'completed',
  conclusion: wanted.conclusion,
  output: {
    title: wanted.title,
    summary: wanted.summary,
    annotations: annotations.map(({ path, line, level, title, message }) => ({
      path,
      start_line: line,
      end_line: line,
      annotation_level: level,
      title,
      message,
    })),
  },
});
