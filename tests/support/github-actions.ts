/** A server that answers as GitHub's REST API does about Actions and pull requests, from a made-up past. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { FakeHistory, json, moment, notFound, paged, partOf, redirect } from './fake-history.ts';
import type { PastReport } from './past.ts';
import { zipOf } from './zip.ts';

interface FakeArtifact {
  id: number;
  name: string;
  createdAt: number;
  zip: Uint8Array;
  isExpired?: boolean;
}

interface FakeRun {
  id: number;
  attempt: number;
  event: string;
  branch: string;
  commit: string;
  pull: number | undefined;
  createdAt: number;
  jobs: Record<string, unknown>[];
  artifacts: FakeArtifact[];
}

const WORKFLOW = `name: CI
on: [push, pull_request]
jobs:
  unit:
    name: Unit tests (\${{ matrix.os }})
    strategy:
      matrix:
        os: [linux, windows]
    runs-on: \${{ matrix.os }}
    steps: []
`;

export class FakeGithub extends FakeHistory {
  readonly runs: FakeRun[] = [];
  readonly logs = new Map<number, string>();
  /** Where artifacts and logs lie: another machine. */
  readonly #store: ReturnType<typeof Bun.serve>;
  #ids = 1_000_000;

  constructor(
    private readonly path: string,
    reports: readonly PastReport[],
  ) {
    super();
    const byRun = Map.groupBy(reports, ({ run }) => run.run_id);
    for (const [id, own] of byRun) this.runs.push(this.#runOf(Number(id), own));
    this.#store = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.answer(request) });
  }

  get #storeUrl(): string {
    return `http://127.0.0.1:${this.#store.port}`;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.#store.stop(true);
  }

  #runOf(id: number, reports: readonly PastReport[]): FakeRun {
    const [first] = reports;
    const run: FakeRun = {
      id,
      attempt: 1,
      event: first?.run.pull_request === undefined ? 'push' : 'pull_request',
      branch: String(first?.run.branch),
      commit: String(first?.run.commit),
      pull: first?.run.pull_request === undefined ? undefined : Number(first.run.pull_request),
      createdAt: Math.min(...reports.map(({ arrivedAt }) => arrivedAt)) - 10 * MINUTE_MS,
      jobs: [],
      artifacts: [],
    };
    for (const { file, body, arrivedAt, run: of } of reports) {
      const { os } = of.axes as { os: string };
      const attempt = Number(of.run_attempt);
      run.attempt = Math.max(run.attempt, attempt);
      run.jobs.push({
        id: this.#ids++,
        name: `Unit tests (${os})`,
        run_attempt: attempt,
        conclusion: body.includes('<failure') ? 'failure' : 'success',
        started_at: moment(arrivedAt - 6 * MINUTE_MS),
        completed_at: moment(arrivedAt),
        labels: [`${os}-latest`],
        runner_name: 'runner 1',
        html_url: `https://github.com/${this.path}/actions/runs/${id}/job/${this.#ids}`,
      });
      const name = `junit-${os}`;
      const content = Buffer.from(body);
      const zip = zipOf([
        { name: 'target/reports/unit.xml', content },
        { name: 'target/site/index.html', content: Buffer.from('<html/>') },
        { name: file.replace(/.*\//, '').replace('.xml', '.txt'), content: Buffer.from('Dear diary') },
      ]);
      run.artifacts.push({ id: this.#ids++, name, createdAt: arrivedAt - 1_000, zip });
    }
    return run;
  }

  protected usual(request: Request, url: URL): Response {
    // Where GitHub Enterprise has its API.
    const pathname = url.pathname.replace(/^\/api\/v3\//, '/');
    if (pathname.startsWith('/blob/')) return this.#blob(request, pathname);
    if (request.headers.get('authorization') !== 'Bearer gh-token')
      return Response.json({ message: 'Bad credentials' }, { status: 401 });
    const base = `/repos/${this.path}`;
    const rest = pathname.slice(base.length);
    if (!pathname.startsWith(base)) return notFound();
    if (rest === '') return json({ full_name: this.path, default_branch: 'main' });
    if (rest === '/pulls') return paged(url, this.#pulls());
    if (rest.startsWith('/contents/')) return new Response(WORKFLOW);
    if (rest === '/actions/runs') return this.#listRuns(url);
    const [, of = '', id = '', part = ''] = /^\/actions\/(runs|artifacts|jobs)\/(\d+)\/(\w+)$/.exec(rest) ?? [];
    const run = this.runs.find((one) => one.id === Number(id));
    if (of === 'runs' && run && part === 'jobs') return paged(url, run.jobs, 'jobs');
    if (of === 'runs' && run && part === 'artifacts')
      return paged(
        url,
        run.artifacts.map((one) => this.#artifactOf(one)),
        'artifacts',
      );
    if (of === 'artifacts') return redirect(`${this.#storeUrl}/blob/artifact/${id}`);
    if (of === 'jobs' && this.logs.has(Number(id))) return redirect(`${this.#storeUrl}/blob/log/${id}`);
    return notFound();
  }

  #pulls(): unknown[] {
    const byNumber = new Map(this.runs.flatMap((run) => (run.pull === undefined ? [] : [[run.pull, run] as const])));
    return [...byNumber]
      .map(([number, run]) => ({
        number,
        id: 9_000 + number,
        title: `Change ${number}`,
        user: { id: 5, login: 'octocat' },
        base: { ref: 'main' },
        head: { ref: run.branch, sha: run.commit, label: `acme:${run.branch}`, repo: { full_name: this.path } },
        // For an open one, it is a commit that GitHub only tries.
        merged_at: number % 2 === 1 ? moment(run.createdAt + HOUR_MS) : null,
        merge_commit_sha: String(number).padStart(40, 'f'),
        updated_at: moment(run.createdAt + HOUR_MS),
      }))
      .sort((one, other) => (one.updated_at < other.updated_at ? 1 : -1));
  }

  #listRuns(url: URL): Response {
    const [from = '', to = ''] = (url.searchParams.get('created') ?? '').split('..');
    const found = this.runs
      .filter(({ createdAt }) => moment(createdAt) >= from && moment(createdAt) <= to)
      .sort((one, other) => other.createdAt - one.createdAt);
    return paged(
      url,
      found.map((run) => ({
        id: run.id,
        name: 'CI',
        path: '.github/workflows/ci.yml',
        run_attempt: run.attempt,
        event: run.event,
        head_branch: run.branch,
        head_sha: run.commit,
        created_at: moment(run.createdAt),
        head_repository: { full_name: this.path },
        pull_requests: run.pull === undefined ? [] : [{ number: run.pull, base: { ref: 'main' } }],
      })),
      'workflow_runs',
    );
  }

  #artifactOf({ id, name, createdAt, zip, isExpired = false }: FakeArtifact): unknown {
    return {
      id,
      name,
      size_in_bytes: zip.length,
      expired: isExpired,
      created_at: moment(createdAt),
      expires_at: moment(createdAt + 90 * DAY_MS),
      archive_download_url: `${this.url}/repos/${this.path}/actions/artifacts/${id}/zip`,
    };
  }

  /** A store that is not GitHub: it is told no token. */
  #blob(request: Request, pathname: string): Response {
    if (request.headers.has('authorization')) return new Response('two credentials', { status: 400 });
    const id = Number(pathname.slice(pathname.lastIndexOf('/') + 1));
    if (pathname.startsWith('/blob/log/')) return new Response(this.logs.get(id));
    const bytes = this.runs.flatMap(({ artifacts }) => artifacts).find((one) => one.id === id)?.zip ?? new Uint8Array();
    return partOf(bytes, request);
  }
}
