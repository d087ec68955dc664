/** The web application: its page at every address below `/app`, and its files below `/assets`. It asks the public API. */
import type { AnyElysia } from 'elysia';
import { requestIdOf } from '../http/edge.ts';
import type { Http } from '../http/operation.ts';
import { notFound, nothingHere, problemResponse } from '../http/problems.ts';
import { DATA_HEADERS, pageHeaders } from '../http/security-headers.ts';
import { readWebFiles } from './files.ts';
import { PAGE_SOURCES, pageOf } from './page.ts';

const HEADERS = {
  ...pageHeaders(PAGE_SOURCES),
  'content-type': 'text/html; charset=utf-8',
  // It names files that change with each version.
  'cache-control': 'no-cache',
};
const isWanted = (request: Request): boolean => (request.headers.get('accept') ?? '').includes('text/html');

/** @param issuer the address of the identity provider; undefined: people sign in with application keys only */
export function mountWeb(app: AnyElysia, http: Http, issuer?: string): void {
  const base = http.publicUrl === undefined ? '' : new URL(http.publicUrl).pathname.replace(/\/$/, '');
  const files = readWebFiles();
  const html = pageOf(base, files?.manifest, issuer && new URL(issuer).host);
  const page = (): Response => new Response(html, { status: files ? 200 : 503, headers: HEADERS });

  const home = (request: Request): Response =>
    isWanted(request)
      ? new Response(null, { status: 302, headers: { ...HEADERS, location: `${base}/app`, vary: 'accept' } })
      : problemResponse(nothingHere(), requestIdOf(request));
  const asset = (request: Request): Response => {
    const name = new URL(request.url).pathname.slice('/assets/'.length);
    const answer = files?.answer(name, request.headers.get('accept-encoding') ?? '');
    if (!answer)
      return problemResponse(
        notFound('There is no such file. It may belong to another version: reload the page.'),
        requestIdOf(request),
      );
    for (const [header, value] of Object.entries(DATA_HEADERS)) answer.headers.set(header, value);
    return answer;
  };

  const detail = { hide: true };
  app.get('/', (context) => home(context.request as Request), { detail });
  app.get('/app', page, { detail });
  app.get('/app/*', page, { detail });
  app.get('/assets/:file', (context) => asset(context.request as Request), { detail });
}
