/** A server that answers as GitLab's REST API does about pipelines and merge requests, from a made-up past. */
import { MINUTE_MS } from '../../src/domain/time.ts';
import { FakeHistory, json, moment, notFound, paged, partOf } from './fake-history.ts';
import type { PastReport } from './past.ts';
import { zipOf } from './zip.ts';

export interface FakeJob {
  id: number;
  name: string;
  status: string;
  finishedAt: number;
  /** Absent: only GitLab has read its report. */
  zip?: Uint8Array;
  statedSize?: number;
  log?: string;
  tests?: readonly Record<string, unknown>[];
}

export interface FakePipeline {
  id: number;
  ref: string;
  sha: string;
  source: string;
  createdAt: number;
  jobs: FakeJob[];
}

const TOKEN = 'glpat-of-the-test';
const PROJECT_ID = 7;

/** Every job has a matrix with one value; a merge request is tested as its merge result. */
export class FakeGitlab extends FakeHistory {
  readonly pipelines: FakePipeline[] = [];
  /** By commit. */
  readonly parents = new Map<string, string[]>();
  readonly requests: Record<string, unknown>[] = [];
  #ids = 5_000_000;

  constructor(
    private readonly path: string,
    reports: readonly PastReport[],
  ) {
    super();
    const byRun = Map.groupBy(reports, ({ run }) => run.run_id);
    for (const [id, own] of byRun) this.pipelines.push(this.#pipelineOf(Number(id), own));
  }

  #pipelineOf(id: number, reports: readonly PastReport[]): FakePipeline {
    const first = reports[0]?.run;
    const number = first?.pull_request === undefined ? undefined : Number(first.pull_request);
    const commit = String(first?.commit);
    const createdAt = Math.min(...reports.map(({ arrivedAt }) => arrivedAt)) - 10 * MINUTE_MS;
    const sha = number === undefined ? commit : `${commit.slice(0, 36)}beef`;
    if (number !== undefined) {
      this.parents.set(sha, ['0'.repeat(40), commit]);
      this.#request(number, String(first?.branch), commit, createdAt);
    }
    const jobs = reports.map(({ body, arrivedAt, run }): FakeJob => {
      const { os } = run.axes as { os: string };
      const zip = zipOf([
        { name: 'target/reports/unit.xml', content: Buffer.from(body) },
        { name: 'target/site/index.html', content: Buffer.from('<html/>') },
      ]);
      const status = body.includes('<failure') ? 'failed' : 'success';
      return { id: this.#ids++, name: `unit: [${os}]`, status, finishedAt: arrivedAt, zip };
    });
    const ref = number === undefined ? String(first?.branch) : `refs/merge-requests/${number}/merge`;
    return { id, ref, sha, source: number === undefined ? 'push' : 'merge_request_event', createdAt, jobs };
  }

  #request(number: number, branch: string, head: string, at: number): void {
    const known = this.requests.findIndex(({ iid }) => iid === number);
    if (known >= 0) this.requests.splice(known, 1);
    this.requests.unshift({
      id: 9_000 + number,
      iid: number,
      title: `Change ${number}`,
      state: 'merged',
      author: { id: 5, username: 'ann', name: 'Ann' },
      source_branch: branch,
      target_branch: 'main',
      source_project_id: PROJECT_ID,
      target_project_id: PROJECT_ID,
      sha: head,
      merge_commit_sha: null,
      squash_commit_sha: null,
      merged_at: moment(at),
      merge_user: { id: 6, username: 'bob', name: 'Bob' },
      updated_at: moment(at),
    });
  }

  protected usual(request: Request, url: URL): Response {
    const token = request.headers.get('private-token');
    if (token !== TOKEN) return Response.json({ message: '401 Unauthorized' }, { status: 401 });
    const base = `/projects/${encodeURIComponent(this.path)}`;
    // Where an own instance has its API.
    const pathname = url.pathname.replace(/^\/api\/v4\//, '/');
    if (!pathname.startsWith(base)) return notFound();
    const rest = pathname.slice(base.length);
    if (rest === '') return json({ id: PROJECT_ID, path_with_namespace: this.path, default_branch: 'main' });
    if (rest === '/merge_requests') return paged(url, this.requests);
    if (rest === '/pipelines') return this.#listPipelines(url);
    const [, commit] = /^\/repository\/commits\/(\w+)$/.exec(rest) ?? [];
    if (commit !== undefined)
      return this.parents.has(commit) ? json({ id: commit, parent_ids: this.parents.get(commit) }) : notFound();
    const [, of, id, part] = /^\/(pipelines|jobs)\/(\d+)\/(\w+)$/.exec(rest) ?? [];
    return of === 'pipelines' ? this.#ofPipeline(url, Number(id), part) : this.#ofJob(request, Number(id), part);
  }

  #listPipelines(url: URL): Response {
    const [after, before] = ['created_after', 'created_before'].map((name) => url.searchParams.get(name) ?? '');
    const source = url.searchParams.get('source');
    const found = this.pipelines
      .filter(({ createdAt }) => new Date(createdAt).toISOString() >= `${after}`)
      .filter(({ createdAt }) => new Date(createdAt).toISOString() <= `${before}`)
      .filter((one) => (source === null ? one.source !== 'parent_pipeline' : one.source === source))
      .sort((one, other) => other.id - one.id);
    return paged(
      url,
      found.map(({ id, ref, sha, source: by, createdAt }) => ({
        id,
        project_id: PROJECT_ID,
        name: null,
        status: 'success',
        ref,
        sha,
        source: by,
        created_at: moment(createdAt),
        updated_at: moment(createdAt + 60 * MINUTE_MS),
      })),
    );
  }

  #ofPipeline(url: URL, id: number, part: string | undefined): Response {
    const pipeline = this.pipelines.find((one) => one.id === id);
    if (!pipeline) return notFound();
    if (part === 'jobs')
      return paged(
        url,
        pipeline.jobs.map((job) => this.#jobOf(job)),
      );
    if (part !== 'test_report') return notFound();
    const suites = pipeline.jobs.filter(({ tests }) => tests).map(({ name, tests }) => ({ name, test_cases: tests }));
    return json({ total_count: suites.length, test_suites: suites });
  }

  #jobOf({ id, name, status, finishedAt, zip, statedSize, tests }: FakeJob): unknown {
    return {
      id,
      name,
      status,
      tag: false,
      started_at: moment(finishedAt - 6 * MINUTE_MS),
      finished_at: moment(finishedAt),
      web_url: `https://gitlab.com/${this.path}/-/jobs/${id}`,
      artifacts_file: zip && { filename: 'artifacts.zip', size: statedSize ?? zip.length },
      artifacts: [
        ...(zip ? [{ file_type: 'archive', size: zip.length, filename: 'artifacts.zip', file_format: 'zip' }] : []),
        ...(tests ? [{ file_type: 'junit', size: 100, filename: 'junit.xml.gz', file_format: 'gzip' }] : []),
        { file_type: 'trace', size: 1, filename: 'job.log', file_format: null },
      ],
      artifacts_expire_at: null,
      runner: { id: 3, description: 'runner of the team' },
    };
  }

  #ofJob(request: Request, id: number, part: string | undefined): Response {
    const job = this.pipelines.flatMap(({ jobs }) => jobs).find((one) => one.id === id);
    if (part === 'artifacts' && job?.zip) return partOf(job.zip, request);
    if (part === 'trace' && job?.log !== undefined) return new Response(job.log);
    return notFound();
  }
}
