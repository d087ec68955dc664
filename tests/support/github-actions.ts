/** A server that answers as GitHub's REST API does about Actions and pull requests, from a made-up past. */
import { DAY_MS, MINUTE_MS } from '../../src/domain/time.ts';
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
const moment = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
const PER_PAGE_DEFAULT = 30;

export class FakeGithub {
  readonly runs: FakeRun[] = [];
  readonly logs = new Map<number, string>();
  /** Answers to the next requests whose path has a part, before the usual ones. */
  readonly trouble: { part: string; answer: () => Response }[] = [];
  readonly asked: { path: string; status: number; range: string | null }[] = [];
  readonly #server: ReturnType<typeof Bun.serve>;
  /** Where artifacts and logs lie: another machine. */
  readonly #store: ReturnType<typeof Bun.serve>;
  #ids = 1_000_000;

  constructor(
    private readonly path: string,
    reports: readonly PastReport[],
  ) {
    const byRun = Map.groupBy(reports, ({ run }) => run.run_id);
    for (const [id, own] of byRun) this.runs.push(this.#runOf(Number(id), own));
    const fetch = (request: Request) => this.#answer(request);
    this.#server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch });
    this.#store = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  get #storeUrl(): string {
    return `http://127.0.0.1:${this.#store.port}`;
  }

  /** How often a path with this part was asked for, and answered with this status. */
  count(part: string, status: number): number {
    return this.asked.filter((one) => one.path.includes(part) && one.status === status).length;
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
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

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const answer = this.#troubled(url) ?? this.#usual(request, url);
    const etag = answer.headers.get('etag');
    const isKnown = etag !== null && request.headers.get('if-none-match') === etag;
    const sent = isKnown ? new Response(null, { status: 304, headers: { etag } }) : answer;
    this.asked.push({ path: url.pathname + url.search, status: sent.status, range: request.headers.get('range') });
    return sent;
  }

  #troubled({ pathname }: URL): Response | undefined {
    const at = this.trouble.findIndex(({ part }) => pathname.includes(part));
    return at < 0 ? undefined : this.trouble.splice(at, 1)[0]?.answer();
  }

  #usual(request: Request, url: URL): Response {
    const { pathname } = url;
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
        merged_at: null,
        merge_commit_sha: null,
        updated_at: moment(run.createdAt),
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
    const from = /^bytes=(\d+)-$/.exec(request.headers.get('range') ?? '')?.[1];
    if (from === undefined) return new Response(Buffer.from(bytes));
    return new Response(Buffer.from(bytes.subarray(Number(from))), { status: 206 });
  }
}

const notFound = (): Response => Response.json({ message: 'Not Found' }, { status: 404 });
const redirect = (location: string): Response => new Response(null, { status: 302, headers: { location } });

function json(value: unknown, headers: Record<string, string> = {}): Response {
  const text = JSON.stringify(value);
  const etag = `"${Bun.hash(text).toString(16)}"`;
  return new Response(text, { headers: { 'content-type': 'application/json', etag, ...headers } });
}

function paged(url: URL, items: readonly unknown[], name?: string): Response {
  const page = Number(url.searchParams.get('page') ?? 1);
  const size = Number(url.searchParams.get('per_page') ?? PER_PAGE_DEFAULT);
  const own = items.slice((page - 1) * size, page * size);
  const next = new URL(url);
  next.searchParams.set('page', String(page + 1));
  const link = page * size < items.length ? { link: `<${next.href}>; rel="next"` } : {};
  return json(name === undefined ? own : { total_count: items.length, [name]: own }, link);
}
