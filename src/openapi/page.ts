/**
 * The document at `/docs/json` and its page at `/docs`. The page works without internet: Swagger UI comes from the package
 * `swagger-ui-dist` through this server, and its online validator is off.
 */

import { fileURLToPath } from 'node:url';
import { openapi } from '@elysiajs/openapi';
import { Elysia } from 'elysia';
import packageJson from '../../package.json' with { type: 'json' };
import type { Http } from '../http/operation.ts';
import { describeOperations } from './document.ts';

const ASSETS = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
} as const;
/** A day: the file changes with the package only. */
const ASSET_MAX_AGE_S = 86_400;

export const TAGS = [
  { name: 'CI test insights', description: 'Search of tests, details, statistics, failures and executions.' },
  { name: 'CI quarantine', description: 'Tests whose failures do not count, and until when.' },
  { name: 'Event log', description: 'What happened on pull requests, to quarantines and to settings.' },
  { name: 'Ingestion', description: 'Uploads of test results. Beyond the specification of the interface.' },
  { name: 'Webhooks', description: 'Deliveries of the repository host. Beyond the specification of the interface.' },
  { name: 'Not offered', description: 'What clients ask for and go on without. Beyond the specification.' },
  { name: 'Service', description: 'The key in use and the health of the service. Beyond the specification.' },
];

/** Build it last: it describes what is mounted. */
export function docsPlugin(http: Http) {
  // Under a public address with a path, the page must ask for its parts below that path.
  const base = http.publicUrl === undefined ? '' : new URL(http.publicUrl).pathname.replace(/\/$/, '');
  const { paths, components } = describeOperations(http.operations);
  const plugin = new Elysia({ name: 'docs' });
  for (const [file, type] of Object.entries(ASSETS)) {
    const headers = { 'content-type': type, 'cache-control': `public, max-age=${ASSET_MAX_AGE_S}` };
    const path = fileURLToPath(import.meta.resolve(`swagger-ui-dist/${file}`));
    plugin.get(`/docs/assets/${file}`, () => new Response(Bun.file(path), { headers }), { detail: { hide: true } });
  }
  const options = {
    url: `${base}/docs/json`,
    cdn: `${base}/docs/assets/swagger-ui-bundle.js`,
    theme: `${base}/docs/assets/swagger-ui.css`,
    // Otherwise the page sends the document's address to validator.swagger.io.
    validatorUrl: null,
  };
  return plugin.use(
    openapi({
      path: '/docs',
      specPath: '/docs/json',
      provider: 'swagger-ui',
      swagger: options as object,
      documentation: {
        info: {
          title: 'ci-insights',
          version: packageJson.version,
          description:
            'CI test insights of a repository: which tests there are, how they do, why they fail. Times are UTC; errors are application/problem+json.',
        },
        tags: TAGS,
        servers: [{ url: http.publicUrl ?? '/', description: 'This service' }],
        paths: paths as never,
        components: components as never,
      },
    }),
  );
}
