/**
 * bull-board behind one function from a path to an answer. Only what reads is offered: a browser sends the key along whatever page
 * asks, and a job that is removed is an upload that is lost.
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

/** A day: names of files change with their content. */
const ASSET_HEADERS = { 'cache-control': 'public, max-age=86400' };
const POLL_SECONDS = 5;

/** What bull-board hands to the framework it thinks it runs in. */
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
  /** @param path Below the board's own address, beginning with a slash. Throws an {@link HttpProblem} where there is nothing. */
  answer(path: string, query: URLSearchParams): Promise<Response>;
}

/** @param basePath The board's address as browsers see it, ending with a slash. */
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
        // Would ask Redis for all of its clients at every poll.
        showWorkers: false,
      },
    },
  });
  const reads = collected.api.filter(({ method }) => [method].flat().includes('get'));
  const page = pageOf(collected, basePath);
  const isPage = [collected.entry?.route ?? []].flat().map(patternOf);
  return {
    answer: async (path, query) => {
      if (path.startsWith('/static/')) return asset(collected.staticPath, path.slice('/static/'.length));
      for (const route of reads)
        for (const pattern of [route.route].flat().map(patternOf)) {
          const params = pattern(path);
          if (params) return answerOf(route, collected, params, query);
        }
      if (isPage.some((matches) => matches(path))) return page();
      throw notFound('There is nothing at this address of the queues.');
    },
  };
}

/** Matches `/queue/:name` and gives the decoded parameters; undefined when it does not match. */
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
    // It knows its own by a status; everything else comes from the queue's store.
    if (error instanceof Error && 'statusCode' in error && onError) {
      const { status = 500, body } = onError(error);
      return Response.json(body, { status });
    }
    throw new StoreUnavailable('queue', error);
  }
}

/** The page without what it would fetch from elsewhere. */
function pageOf({ viewsPath, entry, uiConfig }: Collected, basePath: string): () => Response {
  const view = entry?.handler({ basePath, uiConfig });
  const template = readFileSync(join(viewsPath, view?.name ?? 'index.ejs'), 'utf8');
  const html = template
    .replace(/<%[-=]\s*(\w+)\s*%>/g, (_, name: string) => view?.params[name] ?? '')
    .replace(/<link\b[^>]*href="https?:[^>]*>/g, '');
  return () => new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}

async function asset(folder: string, name: string): Promise<Response> {
  const path = normalize(join(folder, name));
  const file = Bun.file(path);
  if (!path.startsWith(folder + sep) || !(await file.exists()))
    throw new HttpProblem(404, 'Not found', 'There is no such file.');
  return new Response(file, { headers: ASSET_HEADERS });
}
