/**
 * What one failure says about its cause: its *signature*. It follows from the failure alone and never changes, so equal
 * failures always have the same one. docs/judgements.md has the rule, src/domain/causes.ts joins signatures.
 */
import { v5 as uuid5 } from 'uuid';
import { tellingWords } from './cause-words.ts';
import { normaliseMessage } from './fingerprint.ts';

/** Part of every id: a new version makes new causes. */
export const CAUSE_VERSION = 1;

/** With fewer telling words, a message is generic: unrelated tests fail with it, so it stays with its test. */
const TELLING_WORDS_MIN = 2;

export interface Signature {
  /** uuid5 of the type, the normalised message and, if it is generic, the test; in the namespace of the repository. */
  id: string;
  exceptionType: string;
  /** Normalised. */
  message: string;
  /** The test of a generic message; null if the message speaks for itself. */
  testId: string | null;
  /** The part that messages of one kind have in common; null if the message is generic. */
  skeleton: string | null;
  /** Words that say something, in lower case. */
  words: ReadonlySet<string>;
}

/** @param exceptionMessage as it was reported */
export const signatureOf = (
  repositoryId: string,
  testId: string,
  exceptionType: string,
  exceptionMessage: string,
): Signature => signatureOfNormalised(repositoryId, testId, exceptionType, normaliseMessage(exceptionMessage));

/** {@link signatureOf} of a message that is normalised already. */
export function signatureOfNormalised(
  repositoryId: string,
  testId: string,
  exceptionType: string,
  message: string,
): Signature {
  const words = tellingWords(exceptionType, message);
  const isGeneric = words.size < TELLING_WORDS_MIN;
  const key = ['signature', CAUSE_VERSION, exceptionType, message, ...(isGeneric ? [testId] : [])];
  return {
    id: uuid5(JSON.stringify(key), repositoryId),
    exceptionType,
    message,
    testId: isGeneric ? testId : null,
    skeleton: isGeneric ? null : `${exceptionType}\0${skeletonOf(message)}`,
    words,
  };
}

const SKELETON_LENGTH = 300;
/** Plain alternatives: with a back-reference, such a pattern takes a thousand times as long. */
const QUOTED = /'[^'\n]{1,200}'|"[^"\n]{1,200}"|`[^`\n]{1,200}`/g;
const URL = /[a-z]{2,10}:\/\/\S{1,200}/gi;
/** Words with a digit, a sign of paths and names, or a hump: names, and no words of a sentence. */
const NAME = /[\d_./\\@#=]|[a-z][A-Z]/;
const PIECES = /[^\s,;:()[\]{}<>]+/g;

/** The beginning of a message with all names replaced: what is left when the same fault names other things. */
export const skeletonOf = (message: string): string =>
  message
    .slice(0, SKELETON_LENGTH)
    .replace(QUOTED, '*')
    .replace(URL, '*')
    .replace(/<[a-z]{1,20}\d{0,6}>/g, '*')
    .replace(PIECES, (piece) => (NAME.test(piece) ? '*' : piece))
    .replace(/\*(?:\s*\*)+/g, '*');

const STACK_LENGTH_MAX = 8_000;
const LINE_LENGTH_MAX = 300;
/** The innermost ones tell two faults apart. */
const FRAMES_MAX = 3;
const FRAME_PATTERNS: readonly RegExp[] = [
  /^\s*File "(?<file>[^"]{1,200})", line \d+, in (?<name>[^\s]{1,100})/,
  /^\s*at (?:async )?(?<name>[^\s(]{1,150})(?: \[as [^\]]{1,50}\])? ?\((?<file>[^()]{1,200}?)(?::\d+){0,2}\)/,
  /^\s*at (?<name>[^\s(]{1,150})\([^)]{0,200}\) in (?<file>.{1,200}?):line \d+/,
  /^(?<file>[^\s:]{1,200}\.py):\d+: in (?<name>[\w<>]{1,100})/,
];
const FOREIGN =
  /node_modules|site-packages|dist-packages|node:|<frozen|<anonymous>|[\\/]lib[\\/]python\d|[\\/](?:go|rustc)[\\/]/;
const FOREIGN_NAME =
  /^(?:java|javax|jdk|sun|kotlin|scala|org\.(?:junit|testng|hamcrest|assertj|mockito|gradle|apache\.maven)|System|Microsoft|Xunit|NUnit)\./;
const TEST_FILE =
  /(?:^|[\\/])test_[^\\/]*$|[._-](?:test|spec)s?\.[a-z]{1,4}$|_test\.[a-z]{1,4}$|Tests?\.[a-z]{1,6}$|(?:^|[\\/])(?:conftest)\.py$/;
const TEST_NAME = /(?:^|\.)test[A-Z_\d]|(?:^|\.)(?:it|test|describe)$|<module>|<lambda>/;

/**
 * The innermost stack frames of the repository's own code that are no test function, as `function file`; at most three.
 * Lines are left out, because they move with every change.
 */
export function ownFrames(stacktrace: string): string[] {
  const lines = stacktrace.slice(0, STACK_LENGTH_MAX).split('\n');
  const frames: string[] = [];
  let isOutermostFirst = false;
  for (const line of lines) {
    const text = line.slice(0, LINE_LENGTH_MAX);
    const index = FRAME_PATTERNS.findIndex((pattern) => pattern.test(text));
    const { file = '', name = '' } = FRAME_PATTERNS[index]?.exec(text)?.groups ?? {};
    if (name === '') continue;
    if (index === 0 || index === 3) isOutermostFirst = true;
    if (FOREIGN.test(file) || FOREIGN_NAME.test(name) || TEST_FILE.test(file) || TEST_NAME.test(name)) continue;
    frames.push(`${name} ${baseName(file)}`);
  }
  return [...new Set(isOutermostFirst ? frames.reverse() : frames)].slice(0, FRAMES_MAX);
}

/** A file without its folders and lines: runners spell paths differently. */
function baseName(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(0, colon);
}
