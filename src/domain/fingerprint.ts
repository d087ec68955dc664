/**
 * Fingerprint of a failure: the part of an exception's message that stays the same when the same thing fails again.
 *
 * Parts that differ from run to run become placeholders, numbered by first appearance, so that equal values stay equal
 * ("expected <n1> got <n1>" is not "expected <n1> got <n2>"). Codes (HTTP status, errno, exit code, SQLSTATE) and
 * quoted identifiers are kept: they say what went wrong. docs/judgements.md lists what is replaced and what is kept.
 */

/**
 * Part of every failure_id: a new version makes new groups, and `rebuild` regroups history. Raise it with every change
 * to what {@link normaliseMessage} returns. Version 2: colours, tokens, e-mail addresses, more dates, quoted
 * identifiers that contain a UUID, file names below temporary folders, error codes.
 */
export const FINGERPRINT_VERSION = 2;

/** Only this much of a longer message counts: the rest is a dump that no two runs share. */
const MESSAGE_LENGTH_MAX = 8_000;

const ESCAPE = String.fromCharCode(27);
/** Jest and Playwright colour values when they believe they are writing to a terminal. */
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;]{0,20}[A-Za-z]`, 'g');

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}';

/** Replaced in this order. Every pattern is linear in the length of the message. */
const PARTS: readonly { name: string; pattern: RegExp }[] = [
  { name: 'token', pattern: /\beyJ[\w-]{10,}(?:\.[\w-]+){1,2}/g },
  { name: 'token', pattern: /\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g },
  { name: 'uuid', pattern: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi },
  { name: 'email', pattern: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g },
  {
    name: 'time',
    pattern:
      /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?(?![\w-])/g,
  },
  {
    name: 'time',
    pattern: new RegExp(
      `\\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? )?(?:${MONTH} \\d{1,2},?|\\d{1,2} ${MONTH})(?: \\d{4})?(?: \\d{2}:\\d{2}:\\d{2})?(?: (?:GMT|UTC|[+-]\\d{4}))?(?: \\d{4})?\\b`,
      'g',
    ),
  },
  { name: 'time', pattern: /\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b/g },
  { name: 'address', pattern: /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g },
  { name: 'address', pattern: /\[(?=[0-9a-f]{0,4}:[0-9a-f]{0,4}:)[0-9a-f:]{2,39}\](?::\d{1,5})?/gi },
  // Bare IPv6, as Node prints it with its port.
  { name: 'address', pattern: /(?<![\w:])::1:\d{1,5}\b/g },
  { name: 'hex', pattern: /\b0x[0-9a-f]+\b/gi },
  // java.lang.Object.toString: the identity hash.
  { name: 'hex', pattern: /(?<=\w)@[0-9a-f]{5,16}\b/g },
  { name: 'hex', pattern: /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/gi },
  // Workers of pytest-xdist.
  { name: 'worker', pattern: /\bgw\d{1,4}\b/g },
];

const TEMPORARY =
  /(?<![\w.])(?:\/(?:private\/)?(?:tmp|temp|var\/tmp|var\/folders)|[A-Za-z]:\\(?:Temp|Windows\\Temp|Users\\[^\\\s'"]{1,60}\\AppData\\Local\\Temp))(?:[\\/][^\s'"`,;:()[\]<>]*)?/g;
/** A file name chosen by a person, below a randomly named folder. */
const CHOSEN_NAME = /[\\/](?!tmp)([A-Za-z][A-Za-z_-]{0,100}(?:\.[A-Za-z]{1,10}){1,3})$/;

const NUMBER = /[+-]?(?<![\w.]|HTTP\/)\d+(?:[.,_]\d+)*(?:e[+-]?\d+)?(?=$|[^\w]|[a-zµ%]{1,3}\b)/gi;

/** Words right before a number that make it a code. */
const CODE =
  /(?:\b(?:errno|sqlstate|signal|(?:exit|error|status|response)[ _-]?(?:code|status)|exited with|status|code|response|HTTP(?:\/[\d.]{1,3})?)|(?:ORA|TNS|DB2|MSB|NU|CS|TS|ERR)-?|\bERROR)(?:\W{1,4}(?:is|was|of|code|status|got|expected|to be|with)){0,2}[\s:=([<'"]{0,4}$/i;
/** What follows a status that no such word precedes. */
const STATUS_PHRASE =
  /^ (?:OK|Created|Bad Request|Unauthori[sz]ed|Forbidden|Not Found|Method Not|Conflict|Gone|Unprocessable|Too Many|Internal Server|Bad Gateway|Service Unavailable|Gateway Time|Client Error|Server Error)/i;
const GOOD_STATUS = /(?<![\w.,-])(?:20[0-46]|30[1-478])(?![\w,.-]\d|\w)/;
const BAD_STATUS = /(?<![\w.,-])(?:40\d|41[0-8]|42[2-9]|431|451|50[0-8])(?![\w,.-]\d|\w)/;

/**
 * The message with everything that differs from run to run replaced, and white space collapsed.
 *
 * @example normaliseMessage('connect ECONNREFUSED 127.0.0.1:5432') // 'connect ECONNREFUSED <address1>'
 */
export function normaliseMessage(message: string): string {
  const placeholder = placeholders();
  let text = message.slice(0, MESSAGE_LENGTH_MAX).replace(COLOURS, '');
  for (const { name, pattern } of PARTS) text = text.replace(pattern, (value) => placeholder(name, value));
  text = text.replace(TEMPORARY, (value) => withoutTemporary(value, placeholder));
  const areStatusesCompared = GOOD_STATUS.test(text) && BAD_STATUS.test(text);
  text = outsideQuotedIdentifiers(text, (part) =>
    part.replace(NUMBER, (value: string, offset: number, whole: string) =>
      isCode(value, whole.slice(Math.max(0, offset - 40), offset), whole.slice(offset + value.length)) ||
      (areStatusesCompared && isStatus(value))
        ? value
        : placeholder('n', value),
    ),
  );
  return text.replace(/\s+/g, ' ').trim();
}

/** Gives equal values of one kind the same placeholder, numbered by first appearance. */
function placeholders(): (name: string, value: string) => string {
  const seen = new Map<string, string>();
  const counts = new Map<string, number>();
  return (name, value) => {
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

function withoutTemporary(path: string, placeholder: (name: string, value: string) => string): string {
  const name = CHOSEN_NAME.exec(path)?.[1];
  if (name === undefined) return placeholder('path', path);
  return `${placeholder('path', path.slice(0, -name.length - 1))}/${name}`;
}

const isStatus = (value: string): boolean => /^[1-5]\d\d$/.test(value);

/** 404 and 500, errno 13 and 111, ORA-00001 and ORA-00942 are different failures. */
function isCode(value: string, before: string, after: string): boolean {
  if (!/^-?\d{1,5}$/.test(value)) return false;
  return CODE.test(before) || (isStatus(value) && STATUS_PHRASE.test(after.slice(0, 24)));
}

const QUOTED_IDENTIFIER = /(['"`])([A-Za-z_$][\w$.-]{0,100})\1/g;

/** Applies `change` to the text between quoted identifiers: `'user-1'` and `'user-2'` are different names. */
function outsideQuotedIdentifiers(text: string, change: (part: string) => string): string {
  let result = '';
  let from = 0;
  for (const match of text.matchAll(QUOTED_IDENTIFIER)) {
    result += change(text.slice(from, match.index)) + match[0];
    from = match.index + match[0].length;
  }
  return result + change(text.slice(from));
}
