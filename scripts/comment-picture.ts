/**
 * The comment on a pull request as a host shows it, as a picture for the docs: of a service such as the demo's, with the text
 * that `gate --comment` writes.
 *
 * CI_INSIGHTS_URL=http://127.0.0.1:3000 CI_INSIGHTS_TOKEN=cii_… bun scripts/comment-picture.ts acme/shop 691
 */
import { resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { z } from 'zod';
import { commitState } from '../src/client/pull-request/commit-state.ts';
import { Repository } from '../src/client/repository.ts';
import { Service } from '../src/client/service.ts';
import { commentText } from '../src/domain/pull-comment.ts';

const FILE = resolve(import.meta.dir, '../docs/screenshots/comment.png');
const TOTAL_MS = 60_000;
const pullSchema = z.object({ commits: z.array(z.object({ commit_sha: z.string(), failed: z.number() })) });

/** What GitHub does to a comment, as far as it shows. */
const STYLE = `
  body { margin: 0; padding: 24px; background: #fff; color: #1f2328; font: 14px/1.5 'Segoe UI', Helvetica, Arial, sans-serif; }
  article { border: 1px solid #d1d9e0; border-radius: 6px; }
  header { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0; color: #59636e; }
  header b { color: #1f2328; }
  header span { border: 1px solid #d1d9e0; border-radius: 2em; padding: 0 6px; font-size: 12px; }
  div { padding: 16px; }
  h3 { font-size: 1.25em; line-height: 1.25; margin: 0 0 16px; }
  p, ul { margin: 0 0 16px; }
  ul { padding-left: 2em; }
  li + li { margin-top: .25em; }
  a { color: #0969da; }
  code { padding: .2em .4em; background: #818b981f; border-radius: 6px; font: 85% ui-monospace, Menlo, Consolas, monospace; }
  code { overflow-wrap: anywhere; }
  div > :last-child { margin-bottom: 0; }
`;

const [path = 'acme/shop', number = ''] = process.argv.slice(2);
const [owner = '', name = ''] = path.split('/');
const url = process.env.CI_INSIGHTS_URL ?? 'http://127.0.0.1:3000';
const service = new Service({ url, token: process.env.CI_INSIGHTS_TOKEN ?? '' }, { totalMs: TOTAL_MS });
const repository = new Repository(service, owner, name);
const { commits } = await repository.ask(`pulls/${number}`, pullSchema);
const commit = commits.find(({ failed }) => failed > 0)?.commit_sha;
const state = commit === undefined ? null : await commitState(repository, commit);
if (state === null) {
  console.error(`Nothing failed on pull request ${number} of ${path}.`);
  process.exit(1);
}
const html = Bun.markdown.html(commentText(state), { autolinks: true });
const executablePath = Bun.which('chromium') ?? Bun.which('google-chrome') ?? '';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 860, height: 400 } });
await page.setContent(`<!doctype html><meta charset="utf-8"><style>${STYLE}</style>
  <article><header><b>acme-ci</b> <span>bot</span> commented now</header><div>${html}</div></article>`);
await page.screenshot({ path: FILE, fullPage: true });
await browser.close();
