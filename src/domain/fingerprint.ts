/**
 * Fingerprint v1 of a failure: what of an exception's message stays the same when the same thing fails again (design §7).
 *
 * Parts that differ from run to run become placeholders, numbered by first appearance, so that equal values stay equal
 * ("expected <n1> got <n1>" is not "expected <n1> got <n2>"). HTTP status codes and quoted identifiers stay as they are.
 */

/** Part of every failure_id: a new version makes new groups, and `rebuild` regroups history. */
export const FINGERPRINT_VERSION = 1;

/** Longer messages are looked at up to here: the rest is a dump that no two runs share. */
const MESSAGE_LENGTH_MAX = 8_000;

/** In order: what is found first is replaced first. Every pattern is linear in the message's length. */
const PARTS: readonly { name: string; pattern: RegExp }[] = [
  { name: 'uuid', pattern: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi },
  {
    name: 'time',
    pattern:
      /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?(?![\w-])/g,
  },
  { name: 'time', pattern: /\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b/g },
  { name: 'address', pattern: /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g },
  { name: 'address', pattern: /\[[0-9a-f:]{2,39}\](?::\d{1,5})?/gi },
  { name: 'hex', pattern: /\b0x[0-9a-f]+\b/gi },
  { name: 'hex', pattern: /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\b/gi },
  {
    name: 'path',
    pattern: /(?:\/(?:tmp|temp|var\/folders|private\/var|var\/tmp)|[A-Za-z]:\\(?:Temp|Windows\\Temp))[^\s'"`,;:)\]]*/g,
  },
];

const HTTP_STATUS = /\b(?:HTTP(?:\/[\d.]+)?|status(?:[ _-]?code)?|code|response)\b[^\d\n]{0,20}$/i;
const NUMBER = /[+-]?(?<![\w.])\d+(?:[.,_]\d+)*(?:e[+-]?\d+)?(?=$|[^\w]|[a-zµ%]{1,3}\b)/gi;

/** The message with everything that differs from run to run replaced; spaces folded. */
export function normaliseMessage(message: string): string {
  const seen = new Map<string, string>();
  const counts = new Map<string, number>();
  const placeholder = (name: string, value: string): string => {
    const key = `${name}\0${value}`;
    const known = seen.get(key);
    if (known) return known;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const made = `<${name}${count}>`;
    seen.set(key, made);
    return made;
  };

  let text = message.slice(0, MESSAGE_LENGTH_MAX);
  for (const { name, pattern } of PARTS)
    text = outsideQuotedIdentifiers(text, (part) => part.replace(pattern, (value) => placeholder(name, value)));
  text = outsideQuotedIdentifiers(text, (part) =>
    part.replace(NUMBER, (value: string, offset: number, whole: string) =>
      isHttpStatus(value, whole.slice(Math.max(0, offset - 40), offset)) ? value : placeholder('n', value),
    ),
  );
  return text.replace(/\s+/g, ' ').trim();
}

/** 100 to 599 where the words before it say that it is a status: 404 and 500 are different failures. */
function isHttpStatus(value: string, before: string): boolean {
  return /^[1-5]\d\d$/.test(value) && HTTP_STATUS.test(before);
}

const QUOTED_IDENTIFIER = /(['"`])([A-Za-z_$][\w$.-]{0,100})\1/g;

/** Applies `change` to what stands between quoted identifiers: `'user_1'` and `'user_2'` are different names. */
function outsideQuotedIdentifiers(text: string, change: (part: string) => string): string {
  let result = '';
  let from = 0;
  for (const match of text.matchAll(QUOTED_IDENTIFIER)) {
    result += change(text.slice(from, match.index)) + match[0];
    from = match.index + match[0].length;
  }
  return result + change(text.slice(from));
}
