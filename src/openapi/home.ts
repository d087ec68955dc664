/** What a browser gets at `/`: where to look. Clients of the API get 404 there, as at every address that is not theirs. */
import type { AnyElysia } from 'elysia';
import { requestIdOf } from '../http/edge.ts';
import type { Http } from '../http/operation.ts';
import { nothingHere, problemResponse } from '../http/problems.ts';
import { pageHeaders } from '../http/security-headers.ts';

const page = (base: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ci-insights</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 36rem; margin: 4rem auto; padding: 0 1rem }
</style>
</head>
<body>
<h1>ci-insights</h1>
<p>The service is running. It has an API:</p>
<ul>
<li><a href="${base}/docs">All operations</a>, to read and to try</li>
<li><a href="${base}/admin/queues">The queues</a>, with an admin key as the password</li>
<li><a href="${base}/healthz/ready">Whether the stores respond</a></li>
</ul>
</body>
</html>
`;

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  ...pageHeaders("style-src 'unsafe-inline'"),
  vary: 'accept',
};

export function mountHome(app: AnyElysia, http: Http): void {
  const html = page(http.publicUrl === undefined ? '' : new URL(http.publicUrl).pathname.replace(/\/$/, ''));
  const answer = (request: Request): Response =>
    (request.headers.get('accept') ?? '').includes('text/html')
      ? new Response(html, { headers: HEADERS })
      : problemResponse(nothingHere(), requestIdOf(request));
  app.get('/', (context) => answer(context.request as Request), { detail: { hide: true } });
}
