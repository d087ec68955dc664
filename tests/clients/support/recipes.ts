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

/** The first quotation below a heading, as it is without its marks. */
export function quotation(heading: string): string {
  const start = LINES.findIndex((line, i) => i > LINES.indexOf(heading) && line.startsWith('>'));
  const end = LINES.findIndex((line, i) => i > start && !line.startsWith('>'));
  if (!LINES.includes(heading) || start < 0) throw new Error(`docs/producers.md has no quotation below "${heading}"`);
  return LINES.slice(start, end)
    .map((line) => line.replace(/^> ?/, ''))
    .join('\n');
}
