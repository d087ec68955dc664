/**
 * Text from outside (names and messages of tests, paths, answers of the service) on its way to a log, a summary or an
 * annotation. CI runners execute what they read in a log, terminals obey control characters, and pages make links of
 * addresses. Here such text becomes one line that only looks like what it is. Pure, and linear in the text.
 */
import { cutMiddle } from './told-text.ts';

/**
 * Where a runner finds its commands: `##[group]` of GitHub and Azure, `##vso[` and `##teamcity[` anywhere in a line;
 * marks that fold the log of GitLab and Travis.
 */
const ANYWHERE = /#(?=#)|section_(?=(?:start|end):)|travis_(?=(?:fold|time):)/g;
/** At the beginning of a line, for GitHub also after blanks: `::error::`, and the groups of Buildkite. */
const AT_START = /^(\s*)(?:(:)(?=:)|(-)(?=--)|(\+)(?=\+\+)|(~)(?=~~)|(\^)(?=\^\^))/;
const BREAKS = /[\n\r\v\f\u0085\u2028\u2029]/;
/** Control characters, halves of characters, and marks without a width: they turn, hide or join what is around them. */
const UNSEEN = /(?![\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** One line for any log and terminal, which starts no command wherever it stands. */
export function inLog(text: string): string {
  const line = text
    .replace(/[\s\u0085]+/g, (blanks) => (BREAKS.test(blanks) ? ' ' : blanks))
    .replace(UNSEEN, '?')
    .replace(ANYWHERE, (mark) => `${mark} `);
  return line.replace(AT_START, '$1$2$3$4$5$6 ');
}

/** Several lines, each as {@link inLog}. */
export const linesInLog = (text: string): string => text.split('\n').map(inLog).join('\n');

/**
 * Text in a page of Markdown: no HTML, block, table cell, link, mention, nor a reference to an issue. Pages look for the
 * latter in the text as it is shown, so an element without a meaning parts it.
 */
export const inMarkdown = (text: string): string =>
  inLog(text)
    // A code block, or a list.
    .replace(/^\s+/, '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*_{}[\]()+!|~$-]/g, (mark) => `&#${mark.charCodeAt(0)};`)
    // After the escapes, which hold a "#" as well.
    .replace(/@/g, '&#64;<wbr>')
    .replace(/(?<!&)#/g, '&#35;<wbr>')
    .replace(/:(?=\/)/g, '&#58;<wbr>')
    .replace(/^(\d+)\./, '$1&#46;')
    .replace(/\b(www)\./gi, '$1&#46;<wbr>')
    // References of GitLab to merge requests, snippets, labels, epics, milestones; to issues of trackers.
    .replace(/&(?:amp|#33|#36|#126|#91);(?=[\w"&])/g, '$&<wbr>')
    .replace(/%(?=[\w"&])/g, '&#37;<wbr>')
    .replace(/\b(g[hl])&#45;(?=\d)/gi, '$1<wbr>&#45;');

/**
 * Text as code in a page of Markdown: nothing within is a mention, a reference, a link or HTML. Longer text is cut in its
 * middle.
 */
export function inCode(text: string, codePointsMax: number): string {
  const line = cutMiddle(inLog(text).trim(), codePointsMax).trim();
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const mark = '`'.repeat(longest + 1);
  // The page takes one blank off each side.
  const pad = /^`|`$|^$/.test(line) ? ' ' : '';
  return `${mark}${pad}${line}${pad}${mark}`;
}

/** The message of a command to GitHub: each part on its own line. */
export const inGithubMessage = (parts: readonly string[]): string => escaped(parts.map(inLog).join('\n'));

/** A property of a command to GitHub, such as the title of an annotation. */
export const inGithubProperty = (text: string): string =>
  escaped(inLog(text)).replace(/:/g, '%3A').replace(/,/g, '%2C');

/** Escapes that the runner undoes. */
const escaped = (text: string): string => text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');

/** JSON in which no text holds a command, nor anything that a terminal obeys. Parsed, it is the same value. */
export const jsonInLog = (value: unknown): string =>
  (JSON.stringify(value, null, 2) ?? 'null')
    .replace(/#(?=#)|(?<=section|travis)_/g, (mark) => unicode(mark))
    .replace(/(?!\n|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, (character) =>
      unicode(character),
    );

const unicode = (character: string): string =>
  [...Array(character.length).keys()]
    .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`)
    .join('');
