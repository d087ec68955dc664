/**
 * The checks of one repository on a host on this machine: check runs as GitHub's REST API keeps them, and statuses of commits as
 * GitLab, Gitea and both kinds of Bitbucket do. It refuses what they refuse: more than 50 annotations at once, titles that are too long, tokens of others.
 */
import { z } from 'zod';
import { HOST_TOKEN, SELF } from './pull-host.ts';

const annotationSchema = z.object({
  path: z.string().min(1),
  start_line: z.int().min(1),
  end_line: z.int().min(1),
  annotation_level: z.enum(['notice', 'warning', 'failure']),
  title: z.string().max(255),
  message: z.string().min(1).max(65_536),
});
const bodySchema = z.object({
  name: z.string().optional(),
  head_sha: z.string().length(40).optional(),
  external_id: z.string(),
  details_url: z.url().optional(),
  status: z.literal('completed'),
  conclusion: z.enum(['success', 'failure', 'neutral']),
  output: z.object({
    title: z.string().max(255),
    summary: z.string().max(65_535),
    annotations: z.array(annotationSchema).max(50).default([]),
  }),
});
type Annotation = z.infer<typeof annotationSchema>;

export interface StoredCheck extends z.infer<typeof bodySchema> {
  id: number;
  app: string;
  annotations: Annotation[];
}

const statusSchema = z.object({
  state: z.enum(['success', 'failed']),
  name: z.string(),
  description: z.string().max(255),
  target_url: z.string().max(255).optional(),
  pipeline_id: z.string().optional(),
});
interface StoredStatus extends z.infer<typeof statusSchema> {
  id: number;
  sha: string;
}

type Trouble = (request: Request, url: URL) => Response | undefined | Promise<Response | undefined>;

/** Of Gitea, which adds each to those before. */
const giteaSchema = z.object({
  state: z.enum(['success', 'failure', 'error', 'pending', 'warning']),
  context: z.string(),
  description: z.string().max(255),
  target_url: z.string(),
});
/** Of Bitbucket, which keeps one of each key. */
const buildSchema = z.object({
  key: z.string().max(40),
  name: z.string(),
  state: z.enum(['SUCCESSFUL', 'FAILED', 'INPROGRESS']),
  description: z.string().max(255),
  url: z.url().max(450),
});

const PER_PAGE_DEFAULT = 30;

export class ChecksHost {
  checks: StoredCheck[] = [];
  statuses: StoredStatus[] = [];
  /** By commit, the newest last. */
  giteaStatuses: (z.infer<typeof giteaSchema> & { sha: string; id: number })[] = [];
  builds: (z.infer<typeof buildSchema> & { sha: string })[] = [];
  /** Method and path of each request that changes something. */
  readonly changes: string[] = [];
  trouble: Trouble = () => undefined;
  #nextId = 1;
  readonly #server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#serve(request) });

  get origin(): string {
    return this.#server.url.origin;
  }

  stop = (): Promise<void> => this.#server.stop(true);

  /** As an App creates one. */
  add(app: string, body: z.input<typeof bodySchema>): StoredCheck {
    const parsed = bodySchema.parse(body);
    const check = { ...parsed, id: this.#nextId++, app, annotations: parsed.output.annotations };
    this.checks.push(check);
    return check;
  }

  async #serve(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const isChange = request.method !== 'GET' && !url.pathname.endsWith('graphql');
    const scheme = url.pathname.startsWith('/api/v1/') ? 'token' : 'Bearer';
    if (request.headers.get('authorization') !== `${scheme} ${HOST_TOKEN}`)
      return Response.json({ message: 'Bad credentials' }, { status: 401 });
    if (isChange) this.changes.push(`${request.method} ${url.pathname}`);
    const answer = await this.trouble(request, url);
    if (answer) return answer;
    if (url.pathname.endsWith('/graphql')) return Response.json({ data: { viewer: { login: SELF } } });
    if (url.pathname.startsWith('/api/v1/')) return this.#giteaStatus(request, url);
    if (/^\/(?:2\.0|rest)\//.test(url.pathname)) return this.#build(request, url);
    if (url.pathname.includes('/statuses')) return this.#status(request, url);
    const id = Number(/\/check-runs\/(\d+)/.exec(url.pathname)?.[1]);
    if (url.pathname.endsWith('/annotations'))
      return page(url, this.checks.find((check) => check.id === id)?.annotations ?? []);
    if (request.method === 'GET') return this.#list(url);
    const body = bodySchema.safeParse(await request.json());
    if (!body.success) return Response.json({ message: 'Invalid request.' }, { status: 422 });
    if (request.method === 'POST') return Response.json(shown(this.add(SELF, body.data)), { status: 201 });
    const check = this.checks.find((one) => one.id === id);
    if (check?.app !== SELF) return Response.json({ message: 'Not Found' }, { status: 404 });
    check.annotations.push(...body.data.output.annotations);
    Object.assign(check, body.data);
    return Response.json(shown(check));
  }

  #list(url: URL): Response {
    const sha = /\/commits\/([^/]+)\/check-runs$/.exec(url.pathname)?.[1];
    const found = this.checks.filter((check) => check.head_sha === sha).reverse();
    return page(url, found.map(shown), (runs) => ({ total_count: found.length, check_runs: runs }));
  }

  async #giteaStatus(request: Request, url: URL): Promise<Response> {
    const sha = /\/([0-9a-f]{40})(?:\/statuses)?$/.exec(url.pathname)?.[1] ?? '';
    const toJson = ({ state, ...one }: (typeof this.giteaStatuses)[number]) => ({ ...one, status: state });
    if (request.method === 'GET') return page(url, this.giteaStatuses.filter((one) => one.sha === sha).map(toJson));
    const body = giteaSchema.safeParse(await request.json());
    if (!body.success) return Response.json({ message: 'is invalid' }, { status: 422 });
    const status = { ...body.data, sha, id: this.#nextId++ };
    this.giteaStatuses.push(status);
    return Response.json(toJson(status), { status: 201 });
  }

  async #build(request: Request, url: URL): Promise<Response> {
    const [, sha = '', inPath] =
      /\/commits?\/([0-9a-f]{40})\/(?:statuses\/build|builds)(?:\/([\w-]+))?$/.exec(url.pathname) ?? [];
    if (request.method === 'GET') {
      const key = inPath ?? url.searchParams.get('key');
      const found = this.builds.find((one) => one.sha === sha && one.key === key);
      return found ? Response.json(found) : Response.json({ errors: [{ message: 'Not Found' }] }, { status: 404 });
    }
    const body = buildSchema.safeParse(await request.json());
    if (!body.success) return Response.json({ message: 'is invalid' }, { status: 400 });
    this.builds = [...this.builds.filter((one) => one.sha !== sha || one.key !== body.data.key), { ...body.data, sha }];
    return url.pathname.startsWith('/2.0/')
      ? Response.json(body.data, { status: 201 })
      : new Response(null, { status: 204 });
  }

  async #status(request: Request, url: URL): Promise<Response> {
    const sha =
      url.pathname
        .replace('/repository/commits', '')
        .replace(/\/statuses$/, '')
        .split('/')
        .at(-1) ?? '';
    const toJson = ({ state, ...one }: StoredStatus) => ({ ...one, status: state });
    if (request.method === 'GET') return page(url, this.statuses.filter((one) => one.sha === sha).map(toJson));
    const body = statusSchema.safeParse(await request.json());
    if (!body.success) return Response.json({ message: 'is invalid' }, { status: 400 });
    this.statuses = this.statuses.filter((one) => one.sha !== sha || one.name !== body.data.name);
    const status = { ...body.data, sha, id: this.#nextId++ };
    this.statuses.push(status);
    return Response.json(toJson(status), { status: 201 });
  }
}

function page<T>(url: URL, all: readonly T[], wrapped: (items: T[]) => unknown = (items) => items): Response {
  const size = Number(url.searchParams.get('per_page') ?? PER_PAGE_DEFAULT);
  const number = Number(url.searchParams.get('page') ?? 1);
  const hasNext = number * size < all.length;
  const items = all.slice((number - 1) * size, number * size);
  url.searchParams.set('page', String(number + 1));
  return Response.json(wrapped(items), hasNext ? { headers: { link: `<${url}>; rel="next"` } } : {});
}

const shown = ({ id, app, external_id, conclusion, annotations }: StoredCheck) => ({
  id,
  external_id,
  conclusion,
  app: { slug: app.replace('[bot]', '') },
  output: { annotations_count: annotations.length },
});
