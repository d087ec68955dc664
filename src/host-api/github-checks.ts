/**
 * Check runs of GitHub: https://docs.github.com/en/rest/checks/runs. Only Apps may write them; the token of a job of GitHub
 * Actions is one. A check run cannot be deleted. Of two that jobs create at the same time, GitHub shows the newer one, so that
 * one is kept, and the older one says so.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { CheckAnnotation, CheckHost, CheckWritten, WantedCheck } from './check-host.ts';
import { askGraphql, type GithubRepository, githubApi, githubPath, nameOf } from './github-api.ts';
import type { HostApi } from './host-api.ts';

export interface GithubCommit extends GithubRepository {
  /** Its whole id. */
  commit: string;
  /** markerKey */
  key: string;
}

export const CHECK_NAME = 'ci-insights';
/** GitHub takes so many in a request. */
const ANNOTATIONS_AT_ONCE = 50;
/** Of all CI jobs together: no one reads more. */
const ANNOTATIONS_MAX = 500;
const PER_PAGE = 100;
const PAGES_MAX = 10;

const viewerSchema = z.object({ viewer: z.object({ login: z.string() }) });
const checkSchema = z.object({
  id: z.number(),
  external_id: z.string().nullish(),
  app: z.object({ slug: z.string().nullish() }).nullish(),
  output: z.object({ annotations_count: z.number().default(0) }),
});
type CheckRun = z.infer<typeof checkSchema>;
const checksSchema = z.object({ check_runs: z.array(checkSchema) });
const annotationsSchema = z.array(
  z.object({ path: z.string(), start_line: z.number(), title: z.string().nullish(), message: z.string().nullish() }),
);

export class GithubChecks implements CheckHost {
  readonly subject: string;
  readonly #api: HostApi;
  readonly #path: string;
  #viewer: string | undefined;

  constructor(private readonly place: GithubCommit) {
    this.subject = `the check of ${place.commit.slice(0, 12)}`;
    this.#path = githubPath(place);
    this.#api = githubApi(
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
      const json = { name: CHECK_NAME, head_sha: this.place.commit, ...bodyOf(wanted, state, first) };
      await this.#api.ask(`${this.#path}/check-runs`, z.unknown(), { method: 'POST', json });
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
      await askGraphql(this.#api, this.place, { query }, viewerSchema, 'who the token is')
    ).viewer.login;
    const own: CheckRun[] = [];
    for (let page = 1; page <= PAGES_MAX; page++) {
      const asked = `check_name=${CHECK_NAME}&filter=all&per_page=${PER_PAGE}&page=${page}`;
      const path = `${this.#path}/commits/${encodeURIComponent(this.place.commit)}/check-runs?${asked}`;
      const { body, hasNext } = await this.#api.askPage(path, checksSchema);
      own.push(
        ...body.check_runs.filter(
          ({ external_id: id, app }) =>
            id?.startsWith(`${this.place.key} `) && nameOf(app?.slug ?? undefined) === nameOf(this.#viewer),
        ),
      );
      if (!hasNext) break;
    }
    return own.sort((one, other) => other.id - one.id);
  }

  async #missing({ id, output }: CheckRun, annotations: readonly CheckAnnotation[]): Promise<CheckAnnotation[]> {
    const known = new Set<string>();
    if (annotations.length > 0 && output.annotations_count > 0)
      for (let page = 1; page <= PAGES_MAX; page++) {
        const path = `${this.#path}/check-runs/${id}/annotations?per_page=${PER_PAGE}&page=${page}`;
        const { body, hasNext } = await this.#api.askPage(path, annotationsSchema);
        for (const one of body) known.add(keyOf({ ...one, line: one.start_line }));
        if (!hasNext) break;
      }
    const room = Math.max(0, ANNOTATIONS_MAX - output.annotations_count);
    return annotations.filter((one) => !known.has(keyOf(one))).slice(0, room);
  }

  /** Annotations are added with each update, so one whose answer is lost is not simply sent again. */
  async #update({ id }: CheckRun, json: object): Promise<void> {
    const asked = { method: 'PATCH', json, isRepeatable: false } as const;
    await this.#api.ask(`${this.#path}/check-runs/${id}`, z.unknown(), asked);
  }

  async #setAside(check: CheckRun): Promise<void> {
    const state = `${this.place.key} aside`;
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
    return `${this.place.key} ${hash.digest('hex').slice(0, 32)}`;
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
