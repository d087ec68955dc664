/** The code blocks of docs/producers.md, so that the tests run what the page shows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './service.ts';

const LINES = readFileSync(join(ROOT, 'docs/producers.md'), 'utf8').split('\n');

/** The first block in a language below a heading. @example recipe('### Python', 'json') */
export function recipe(heading: string, language: string): string {
  const start = LINES.indexOf(`\`\`\`${language}`, LINES.indexOf(heading));
  const end = LINES.indexOf('```', start);
  if (!LINES.includes(heading) || start < 0) throw new Error(`docs/producers.md has no ${language} below "${heading}"`);
  return LINES.slice(start + 1, end).join('\n');
}
