/** The queue page at `/admin/queues`, for admin keys of every owner: it shows the jobs of all owners. */
import type { Queue } from 'bullmq';
import type { AnyElysia } from 'elysia';
import { isOperator } from '../../http/auth.ts';
import { requestIdOf } from '../../http/edge.ts';
import { type Http, problemFor } from '../../http/operation.ts';
import { HttpProblem } from '../../http/problems.ts';
import { pageHeaders } from '../../http/security-headers.ts';
import { sessionTokenOf } from '../../http/session-cookie.ts';
import { startRequest } from '../../observability/requests.ts';
import type { KeyStore } from '../../postgres/keys.ts';
import { createBoard } from './board.ts';

const PATH = '/admin/queues';

/** The page sets inline styles. */
const HEADERS = pageHeaders(
  "script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; manifest-src 'self'",
);

/** Makes browsers ask for a name and a password. */
const notAdmin = new HttpProblem(
  401,
  'Unauthorized',
  'Sign in at /app with an admin key of every owner, or send one, as the password (with any name) or as "Authorization: Bearer <key>". `ci-insights keys create --every-owner --scope admin` creates one.',
  { 'www-authenticate': 'Basic realm="ci-insights queues", charset="UTF-8"' },
);

export function mountBoard(app: AnyElysia, http: Http, keys: KeyStore, queues: readonly Queue[]): void {
  const base = http.publicUrl === undefined ? '' : new URL(http.publicUrl).pathname.replace(/\/$/, '');
  const board = createBoard(queues, `${base}${PATH}/`);

  /** By the header if there is one, else by the session of a browser. */
  const isFromOperator = async (request: Request): Promise<boolean> => {
    const header = request.headers.get('authorization');
    if (header === null) {
      const session = sessionTokenOf(request, http.publicUrl);
      const credential = session === undefined ? undefined : await http.sessions?.find(session);
      return credential !== undefined && isOperator(credential);
    }
    const token = tokenOf(header);
    const grant = token === undefined ? undefined : await keys.authenticate(token);
    return grant !== undefined && isOperator({ grant });
  };

  const answer = async (request: Request): Promise<Response> => {
    if (!(await isFromOperator(request))) throw notAdmin;
    const url = new URL(request.url);
    const path = url.pathname.slice(PATH.length);
    // The page's scripts use relative addresses.
    const response = await board.answer(path === '' ? '/' : path, url.searchParams);
    for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value);
    return response;
  };

  const serve = (request: Request): Promise<Response> => {
    const requestId = requestIdOf(request);
    const finish = startRequest(http.log, { route: `${PATH}/*`, operation: 'getQueues', request, requestId });
    return answer(request)
      .catch((error) => problemFor(error, http.log, requestId))
      .then(finish);
  };
  for (const path of [PATH, `${PATH}/`, `${PATH}/*`])
    app.get(path, (context) => serve(context.request as Request), { detail: { hide: true } });
}

/** The key: a Bearer token, or the password of Basic authentication. */
function tokenOf(header: string): string | undefined {
  const [, scheme, value = ''] = /^(bearer|basic) +(\S+) *$/i.exec(header) ?? [];
  if (scheme === undefined) return undefined;
  if (scheme.toLowerCase() === 'bearer') return value;
  const pair = Buffer.from(value, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  return colon < 0 ? undefined : pair.slice(colon + 1);
}
