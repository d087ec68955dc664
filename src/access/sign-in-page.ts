/** The page that tells a person why signing in did not work, and leads back. It runs nothing and loads nothing. */
import { hash } from 'node:crypto';
import { pageHeaders } from '../http/security-headers.ts';

const STYLE =
  'body{max-width:32rem;margin:20vh auto 0;padding:0 1rem;font:16px/1.5 system-ui,sans-serif}h1{font-size:1.25rem}';

const HEADERS = {
  ...pageHeaders(`style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`),
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
};

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/**
 * @param sentence what is wrong and what to do, as text
 * @param base the path of the service's public address, without a trailing slash
 */
export const refusalPage = (status: number, sentence: string, base: string): Response =>
  new Response(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not signed in · ci-insights</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>You are not signed in</h1>
<p>${escaped(sentence)}</p>
<p><a href="${escaped(base)}/app/sign-in">Back to the sign-in page</a></p>
</main>
</body>
</html>
`,
    { status, headers: HEADERS },
  );
