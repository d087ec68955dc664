/**
 * bull-board behind one function from a path to a response. The package's own adapter for Elysia does not fit: it has
 * no access check, installs an error handler for the whole app, and renders its page with ejs. Only reads are offered:
 * a browser sends the key with requests of any page, and a removed job is a lost upload.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type {
  AppControllerRoute,
  AppViewRoute,
  BullBoardQueues,
  ControllerHandlerReturnType,
  IServerAdapter,
  UIConfig,
} from '@bull-board/api/typings/app';
import type { Queue } from 'bullmq';
import { StoreUnavailable } from '../../errors.ts';
import { HttpProblem, notFound } from '../../http/problems.ts';
import { summaryOf } from './summary.ts';

/** A day: file names change with their content. */
const ASSET_HEADERS = { 'cache-control': 'public, max-age=86400' };
const POLL_SECONDS = 5;

/**
 * Runs before the page's own scripts. Browsers refuse to fetch relative to an address with a name and a password, and the
 * page would say "Loading" for ever. They remember both, so it opens again without them, and the key leaves the history.
 */
const ADDRESS_SCRIPT = `try {
  new Request('static');
} catch {
  location.replace(location.origin + location.pathname + location.search);
}
`;

/** Collects what bull-board would give to a web framework. */
class Collected implements IServerAdapter {
  queues: BullBoardQueues = new Map();
  viewsPath = '';
  staticPath = '';
  entry: AppViewRoute | undefined;
  api: AppControllerRoute[] = [];
  uiConfig: UIConfig = {};
  onError: ((error: Error) => ControllerHandlerReturnType) | undefined;

  setQueues(queues: BullBoardQueues): this {
    this.queues = queues;
    return this;
  }
  setViewsPath(path: string): this {
    this.viewsPath = path;
    return this;
  }
  setStaticPath(_route: string, path: string): this {
    this.staticPath = path;
    return this;
  }
  setEntryRoute(route: AppViewRoute): this {
    this.entry = route;
    return this;
  }
  setErrorHandler(handler: (error: Error) => ControllerHandlerReturnType): this {
    this.onError = handler;
    return this;
  }
  setApiRoutes(routes: AppControllerRoute[]): this {
    this.api = routes;
    return this;
  }
  setUIConfig(config: UIConfig): this {
    this.uiConfig = config;
    return this;
  }
}

export interface Board {
  /** @param path below the board's address, with a leading slash. Throws an {@link HttpProblem} if there is nothing. */
  answer(path: string, query: URLSearchParams): Promise<Response>;
}

/** @param basePath the board's path as browsers see it, with a trailing slash */
export function createBoard(queues: readonly Queue[], basePath: string): Board {
  const collected = new Collected();
  const adapters = queues.map((queue) => {
    const adapter = new BullMQAdapter(queue, { readOnlyMode: true });
    adapter.setFormatter('data', summaryOf);
    return adapter;
  });
  createBullBoard({
    queues: adapters,
    serverAdapter: collected,
    options: {
      uiBasePath: dirname(fileURLToPath(import.meta.resolve('@bull-board/ui/package.json'))),
      uiConfig: {
        boardTitle: 'ci-insights queues',
        hideDocsLink: true,
        pollingInterval: { forceInterval: POLL_SECONDS },
        // It would list all clients of Redis at every poll.
        showWorkers: false,
      },
    },
  });
  const reads = collected.api.filter(({ method }) => [method].flat().includes('get'));
  const page = pageOf(collected, basePath);
  const isPage = [collected.entry?.route ?? []].flat().map(patternOf);
  return {
    answer: async (path, query) => {
      if (path === '/address.js')
        return new Response(ADDRESS_SCRIPT, { headers: { 'content-type': 'text/javascript; charset=utf-8' } });
      if (path.startsWith('/static/')) return asset(collected.staticPath, path.slice('/static/'.length));
      for (const route of reads)
        for (const pattern of [route.route].flat().map(patternOf)) {
          const params = pattern(path);
          if (params) return answerOf(route, collected, params, query);
        }
      if (isPage.some((matches) => matches(path))) return page();
      throw notFound('The queue page has nothing at this address.');
    },
  };
}

/** Matches paths like `/queue/:name` and returns the decoded parameters; undefined if the path does not match. */
function patternOf(route: string): (path: string) => Record<string, string> | undefined {
  const names = [...route.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
  const pattern = new RegExp(`^${route.replace(/:\w+/g, '([^/]+)')}$`);
  return (path) => {
    const match = pattern.exec(path);
    if (!match) return undefined;
    try {
      return Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(match[i + 1] ?? '')]));
    } catch {
      return undefined;
    }
  };
}

async function answerOf(
  route: AppControllerRoute,
  { queues, uiConfig, onError }: Collected,
  params: Record<string, string>,
  query: URLSearchParams,
): Promise<Response> {
  const request = { queues, uiConfig, params, query: Object.fromEntries(query), body: {}, headers: {} };
  try {
    const { status = 200, body } = await route.handler(request);
    return Response.json(body, { status });
  } catch (error) {
    // bull-board's errors have a status; all others come from the queue's store.
    if (error instanceof Error && 'statusCode' in error && onError) {
      const { status = 500, body } = onError(error);
      return Response.json(body, { status });
    }
    throw new StoreUnavailable('queue', error);
  }
}

/** The page, without what it would load from other servers. */
function pageOf({ viewsPath, entry, uiConfig }: Collected, basePath: string): () => Response {
  const view = entry?.handler({ basePath, uiConfig });
  const template = readFileSync(join(viewsPath, view?.name ?? 'index.ejs'), 'utf8');
  const html = template
    .replace(/<%[-=]\s*(\w+)\s*%>/g, (_, name: string) => view?.params[name] ?? '')
    .replace(/<link\b[^>]*href="https?:[^>]*>/g, '')
    .replace('</head>', '<script src="address.js"></script></head>');
  return () => new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}

async function asset(folder: string, name: string): Promise<Response> {
  const path = normalize(join(folder, name));
  const file = Bun.file(path);
  if (!path.startsWith(folder + sep) || !(await file.exists()))
    throw new HttpProblem(404, 'Not found', 'There is no such file.');
  return new Response(file, { headers: ASSET_HEADERS });
}
