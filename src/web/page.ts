/** The page that loads the web application. It contains neither scripts nor styles, so its policy allows none. */
import type { Manifest } from './files.ts';

/** By which React Aria knows that its rule for what can be pressed is there: else it adds an element that the policy refuses. */
const STYLE_ID = 'react-aria-pressable-style';

/** What the page may load and ask: the policy of its answer. */
export const PAGE_SOURCES = "script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'";

/**
 * @param base the path of the service's public address, without a trailing slash
 * @param manifest undefined: the application is not built
 * @param provider the host of the identity provider; undefined: there is none
 */
export function pageOf(base: string, manifest: Manifest | undefined, provider?: string): string {
  const asset = (file: string): string => `${base}/assets/${file}`;
  const head = manifest
    ? `<link rel="icon" type="image/svg+xml" href="${asset(manifest.icon)}">
<link rel="stylesheet" href="${asset(manifest.style)}" id="${STYLE_ID}">
${manifest.preload.map((file) => `<link rel="modulepreload" href="${asset(file)}">`).join('\n')}
<script type="module" src="${asset(manifest.script)}"></script>`
    : '';
  const body = manifest
    ? '<div id="app"></div>\n<noscript>This page needs JavaScript. The API is described at /docs.</noscript>'
    : `<h1>ci-insights</h1>
<p>The service is running, but its web application is not built. Run <code>npm run setup</code> and start it again.</p>
<p>The API works: <a href="${base}/docs">all operations</a>.</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="ci-insights-base" content="${base}">${provider ? `\n<meta name="ci-insights-provider" content="${provider}">` : ''}
<title>ci-insights</title>
${head}
</head>
<body>
${body}
</body>
</html>
`;
}
