/**
 * The document at `/docs/json` and its page at `/docs`. The page works without internet access: this server delivers
 * Swagger UI from the package `swagger-ui-dist`, and the online validator is off.
 */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openapi } from '@elysiajs/openapi';
import { Elysia } from 'elysia';
import packageJson from '../../package.json' with { type: 'json' };
import type { Http } from '../http/operation.ts';
import { PackedText } from '../http/packed-text.ts';
import { DATA_HEADERS, pageHeaders } from '../http/security-headers.ts';
import { describeOperations } from './document.ts';

const ASSETS = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
} as const;
/** A day: the files change only with the package. */
const ASSET_MAX_AGE_S = 86_400;

const TAGS = [
  { name: 'CI test insights', description: 'Test search, details, statistics, failures and executions.' },
  { name: 'CI quarantine', description: 'Tests whose failures do not count.' },
  { name: 'Repositories', description: 'What the service does in each repository.' },
  { name: 'Event log', description: 'What happened to pull requests, quarantines and settings.' },
  { name: 'Ingestion', description: 'Uploads of test results.' },
  { name: 'Webhooks', description: 'Deliveries of the repository host.' },
  {
    name: 'Not offered',
    description: 'Features that clients ask for, that are not available here, and that they work without.',
  },
  { name: 'Service', description: 'The key in use and the health of the service.' },
];

type Documentation = NonNullable<NonNullable<Parameters<typeof openapi>[0]>['documentation']>;

/** Call it last: it describes what is mounted. */
export function docsPlugin(http: Http) {
  // If the public address has a path, the page must ask for its parts below that path.
  const base = http.publicUrl === undefined ? '' : new URL(http.publicUrl).pathname.replace(/\/$/, '');
  const { paths, components } = describeOperations(http.operations);
  const plugin = new Elysia({ name: 'docs' });
  for (const [file, type] of Object.entries(ASSETS)) {
    const headers = { ...DATA_HEADERS, 'content-type': type, 'cache-control': `public, max-age=${ASSET_MAX_AGE_S}` };
    const path = fileURLToPath(import.meta.resolve(`swagger-ui-dist/${file}`));
    plugin.get(`/docs/assets/${file}`, () => new Response(Bun.file(path), { headers }), { detail: { hide: true } });
  }
  const options = {
    url: `${base}/docs/json`,
    cdn: `${base}/docs/assets/swagger-ui-bundle.js`,
    theme: `${base}/docs/assets/swagger-ui.css`,
    // By default the page sends the document's address to validator.swagger.io.
    validatorUrl: 'none',
  };
  const rendered = new Elysia().use(
    openapi({
      path: '/docs',
      specPath: '/docs/json',
      provider: 'swagger-ui',
      swagger: options,
      documentation: {
        info: {
          title: 'ci-insights',
          version: packageJson.version,
          description:
            'CI test insights for repositories: which tests exist, how healthy they are, and why they fail. Times are UTC; errors are application/problem+json.',
        },
        tags: TAGS,
        servers: [{ url: http.publicUrl ?? '/', description: 'This service' }],
        paths,
        components,
        // The plugin's types are narrower than the plain JSON that describes operations.
      } as Documentation,
    }),
  );
  const render = async (path: string): Promise<string> =>
    (await rendered.handle(new Request(`http://localhost${path}`))).text();
  const page = once(async () => {
    const html = await render('/docs');
    const headers = { ...pageHeaders(sourcesOf(html, http.publicUrl)), 'content-type': 'text/html; charset=utf-8' };
    return { html, headers };
  });
  const document = once(
    async () => new PackedText(await render('/docs/json'), { ...DATA_HEADERS, 'content-type': 'application/json' }),
  );
  return plugin
    .get(
      '/docs',
      async () => {
        const { html, headers } = await page();
        return new Response(html, { headers });
      },
      { detail: { hide: true } },
    )
    .get('/docs/json', async ({ request }) => (await document()).answer(request), { detail: { hide: true } });
}

/** Swagger UI sets inline styles. Of scripts inside the page only those that it has now may run, named by their hash. */
function sourcesOf(html: string, publicUrl: string | undefined): string {
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${hashOf(script)}'`,
  );
  const api = publicUrl === undefined ? '' : ` ${new URL(publicUrl).origin}`;
  return `script-src 'self' ${scripts.join(' ')}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'${api}`;
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64');

/** Runs it at the first call only. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
