/** The first line of the comment, which no page shows: whose comment it is, and what was written below. */
import { createHash } from 'node:crypto';
import type { RepositoryName } from '../../domain/repository-path.ts';

/**
 * How a host hides a line: in a comment of HTML, or, where pages show HTML as text (Bitbucket), as the definition of a link
 * that nothing uses.
 */
export type MarkerStyle = 'html' | 'definition';

const STYLES: Readonly<Record<MarkerStyle, (text: string) => string>> = {
  html: (text) => `<!-- ${text} -->\n`,
  definition: (text) => `[//]: # (${text})\n\n`,
};
const MARKER = /(?:<!-- |\[\/\/\]: # \()ci-insights:comment ([0-9a-f]{16}) ([0-9a-f]{32})(?: -->|\))\n*/;

/** The same for all jobs of a repository. */
export const markerKey = ({ owner, name }: RepositoryName): string =>
  hashOf(`${owner}/${name}`.toLowerCase()).slice(0, 16);

export const withMarker = (key: string, text: string, style: MarkerStyle = 'html'): string =>
  `${STYLES[style](`ci-insights:comment ${key} ${hashOf(plain(text))}`)}${plain(text)}`;

/** Whether it may be the comment of some repository. */
export const isMarked = (body: string): boolean => MARKER.test(plain(body));

/** Undefined for a comment without the marker, or with that of another repository. */
export function readMarked(key: string, body: string): { text: string; isEdited: boolean } | undefined {
  const whole = plain(body);
  const found = MARKER.exec(whole);
  if (!found || found[1] !== key) return undefined;
  const text = whole.slice(found.index + found[0].length);
  return { text, isEdited: found.index > 0 || hashOf(text) !== found[2] };
}

/** An editor that only opens and saves changes the ends of lines. */
export const plain = (text: string): string => text.replace(/\r\n?/g, '\n').trim();

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
