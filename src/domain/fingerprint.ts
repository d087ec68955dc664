/**
 * Fingerprint of a failure: the part of an exception's message that stays the same when the same thing fails again.
 *
 * Parts that differ from run to run become placeholders. Values that a message may compare are numbered by first
 * appearance, so that equal values stay equal ("expected <n1> got <n1>" is not "expected <n1> got <n2>"). Codes (HTTP
 * status, errno, exit code, SQLSTATE) and quoted identifiers are kept: they say what went wrong. docs/judgements.md
 * lists what is replaced and what is kept.
 */
import {
  CHECKED_OUT,
  CHOSEN_NAME,
  INSTALLED,
  isRandomWord,
  NUMBER,
  PARTS,
  type PartName,
  POINTER,
  TEMPORARY,
  WORD,
} from './message-parts.ts';

/**
 * Part of every failure_id: a new version makes new groups, and history is regrouped. Raise it with every change to
 * what {@link normaliseMessage} returns, from the first release on.
 */
export const FINGERPRINT_VERSION = 1;

/** Only this much of a longer message counts: the rest is a dump that no two runs share. */
const MESSAGE_LENGTH_MAX = 8_000;
/**
 * Messages say what they compare at their beginning. Further on, in logs and stack traces, that two numbers are equal
 * is a coincidence.
 */
const COMPARED_LENGTH = 200;

const ESCAPE = String.fromCharCode(27);
/** Jest and Playwright colour values when they believe they are writing to a terminal. */
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;]{0,20}[A-Za-z]`, 'g');

/** Words right before a number that make it a code. */
const CODE =
  /(?:\b(?:errno|sqlstate|signal|winerror|os error|hresult|ntstatus|fatal exception|(?:exit|error|status|response)[ _-]?(?:code|status)|exited with|status|code|response|HTTP(?:\/[\d.]{1,3})?)|(?:ORA|TNS|DB2|MSB|NU|CS|TS|ERR)-?|\bERROR)(?:\W{1,4}(?:is|was|of|code|status|got|expected|to be|with)){0,2}[\s:=([<'"]{0,4}$/i;
/** Phrases that follow a status without such a word before it. */
const STATUS_PHRASE =
  /^ (?:OK|Created|Bad Request|Unauthori[sz]ed|Forbidden|Not Found|Method Not|Conflict|Gone|Unprocessable|Too Many|Internal Server|Bad Gateway|Service Unavailable|Gateway Time|Client Error|Server Error)/i;
const GOOD_STATUS = /(?<![\w.,-]|line )(?:20[0-46]|30[1-478])(?![\w,.-]\d|\w)/;
const BAD_STATUS = /(?<![\w.,-]|line )(?:40\d|41[0-8]|42[2-9]|431|451|50[0-8])(?![\w,.-]\d|\w)/;

/**
 * The message with everything that differs from run to run replaced, and white space collapsed.
 *
 * @example normaliseMessage('connect ECONNREFUSED 127.0.0.1:5432') // 'connect ECONNREFUSED <address1>'
 */
export function normaliseMessage(message: string): string {
  const placeholder = placeholders();
  let text = message.slice(0, MESSAGE_LENGTH_MAX).replace(COLOURS, '');
  text = text.replace(POINTER, (value: string, offset: number, whole: string) =>
    CODE.test(before(whole, offset)) ? value : placeholder('hex', value, offset),
  );
  text = text
    .replace(TEMPORARY, (value: string, offset: number) => withoutTemporary(value, placeholder, offset))
    .replace(INSTALLED, (_, rest: string) => `<installed>/${withSlashes(rest)}`)
    .replace(CHECKED_OUT, (_, _repository: string, rest: string) => `<checkout>/${withSlashes(rest)}`);
  for (const { name, pattern } of PARTS)
    text = text.replace(pattern, (value: string, offset: number) => placeholder(name, value, offset));
  text = text.replace(WORD, (value: string, offset: number) =>
    isRandomWord(value) ? placeholder('random', value, offset) : value,
  );
  const areStatusesCompared = GOOD_STATUS.test(text) && BAD_STATUS.test(text);
  const number = (value: string, offset: number, whole: string, from: number): string =>
    isCode(value, before(whole, offset), whole.slice(offset + value.length)) ||
    (areStatusesCompared && isStatus(value) && !before(whole, offset).endsWith('line '))
      ? value
      : placeholder('n', value, from + offset);
  text = aroundQuotedIdentifiers(
    text,
    (part, from) =>
      part.replace(NUMBER, (value: string, offset: number, whole: string) => number(value, offset, whole, from)),
    (identifier, preceding, from) => withoutNumberAtEnd(identifier, preceding, from, placeholder),
  );
  return text.replace(/\s+/g, ' ').trim();
}

/** So much of a message is its brief fingerprint. */
const BRIEF_LENGTH = 200;

/**
 * Stands for the fingerprint of a message when there is no time for one: its beginning, without numbers. It takes a
 * hundredth of the time, and recognises fewer failures as the same.
 */
export const briefFingerprint = (message: string): string =>
  message.slice(0, BRIEF_LENGTH).toWellFormed().replace(/\d+/g, '<n>').replace(/\s+/g, ' ').trim();

type Placeholder = (name: PartName, value: string, offset: number) => string;

/**
 * Gives equal values of one kind the same placeholder, numbered by first appearance, near the beginning of the message.
 * Moments and made-up names are never compared, and only some of them happen to be equal.
 */
function placeholders(): Placeholder {
  const seen = new Map<string, string>();
  const counts = new Map<string, number>();
  return (name, value, offset) => {
    if (name === 'time' || offset > COMPARED_LENGTH) return `<${name}>`;
    const key = `${name}\0${value}`;
    const known = seen.get(key);
    if (known) return known;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const made = `<${name}${count}>`;
    seen.set(key, made);
    return made;
  };
}

const before = (whole: string, offset: number): string => whole.slice(Math.max(0, offset - 40), offset);

const withSlashes = (path: string): string => path.replace(/[\\/]+/g, '/');

function withoutTemporary(path: string, placeholder: Placeholder, offset: number): string {
  const name = CHOSEN_NAME.exec(path)?.[1];
  if (name === undefined) return placeholder('path', path, offset);
  return `${placeholder('path', path.slice(0, -name.length - 1), offset)}/${name}`;
}

const isStatus = (value: string): boolean => /^[1-5]\d\d$/.test(value);

/** 404 and 500, errno 13 and 111, ORA-00001 and ORA-00942 are different failures. */
function isCode(value: string, preceding: string, after: string): boolean {
  if (!/^-?\d{1,5}$/.test(value)) return false;
  return CODE.test(preceding) || (isStatus(value) && STATUS_PHRASE.test(after.slice(0, 24)));
}

const QUOTED_IDENTIFIER = /(['"`])([A-Za-z_$][\w$.-]{0,100})\1/g;

/** Changes the quoted identifiers of a text and what is between them, each with where it is in the text. */
function aroundQuotedIdentifiers(
  text: string,
  change: (part: string, from: number) => string,
  changeIdentifier: (identifier: string, preceding: string, from: number) => string,
): string {
  let result = '';
  let from = 0;
  for (const match of text.matchAll(QUOTED_IDENTIFIER)) {
    const [quoted, quote = '', identifier = ''] = match;
    result += change(text.slice(from, match.index), from);
    result += quote + changeIdentifier(identifier, before(text, match.index), match.index) + quote;
    from = match.index + quoted.length;
  }
  return result + change(text.slice(from), from);
}

/** A counter of the process at the end of a name: `Task-165721`. People count to ten, and name things `user-1`. */
const NUMBERED = /^(?<name>.*[A-Za-z$])(?:(?<separator>[-_.]+)(?<counter>\d{3,}(?:\.\d{1,9})?)|(?<serial>\d{6,}))$/;
/** Names before a number that has a meaning: codes in capitals, … */
const CAPITALS = /^[A-Z][A-Z0-9]{0,9}(?:[-_.][A-Z0-9]{1,10}){0,3}$/;
/** … algorithms and encodings, and words for a code. */
const MEANT =
  /(?:(?:^|[-_.])(?:sha\d?|aes|rsa|ecdsa|ed|hmac|utf|iso|cp|windows|latin|int|uint|float|rfc|http|status|errno|error|code|exit|signal|ora|cve)(?:[-_.]?\d{1,4})?)$/i;

function withoutNumberAtEnd(identifier: string, preceding: string, from: number, placeholder: Placeholder): string {
  const { name = '', separator = '', counter, serial } = NUMBERED.exec(identifier)?.groups ?? {};
  const number = counter ?? serial;
  if (number === undefined || CAPITALS.test(name) || MEANT.test(name) || CODE.test(preceding)) return identifier;
  return `${name}${separator}${placeholder('n', number, from)}`;
}
