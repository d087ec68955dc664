import { expect, test } from 'bun:test';
import fc from 'fast-check';
import sax from 'sax';
import { XmlFeed } from '../../src/formats/xml-feed.ts';
import { fixtureBytes } from '../support/parsing.ts';

/** The parts that a parser finds in a document, with joined texts, and how it ends. */
function told(pieces: readonly string[], isFed: boolean): unknown[] {
  const events: unknown[] = [];
  const parser = sax.parser(true, { position: true });
  const join = (kind: string) => (text: string) => {
    const last = events.at(-1);
    if (Array.isArray(last) && last[0] === kind) last[1] += text;
    else events.push([kind, text]);
  };
  parser.onopentag = ({ name, attributes }) => void events.push(['open', name, attributes, parser.line]);
  parser.ontext = join('text');
  parser.oncdata = join('cdata');
  parser.onclosetag = (name) => void events.push(['close', name, parser.line]);
  parser.onsgmldeclaration = (declaration) => void events.push(['declaration', declaration]);
  parser.ondoctype = (doctype) => void events.push(['doctype', doctype]);
  parser.onprocessinginstruction = (one) => void events.push(['instruction', one]);
  parser.onerror = (error) => {
    // Where it stands in the line is not counted through runs.
    events.push(['error', error.message.replace(/\nColumn: \d+/, '')]);
    throw error;
  };
  const feed = new XmlFeed(parser, () => {});
  try {
    for (const piece of pieces) {
      if (isFed) feed.write(piece);
      else parser.write(piece);
      parser.flush();
    }
    parser.close();
  } catch {}
  return events;
}

const cut = (text: string, lengths: readonly number[]): string[] => {
  const pieces: string[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const length = lengths[i % lengths.length] ?? text.length;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
};
const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 700 })), {
  minLength: 1,
  maxLength: 8,
});
const expectSame = (text: string, sizes: readonly number[]): void => {
  const pieces = cut(text, sizes);
  expect(told(pieces, true)).toEqual(told(pieces, false));
};

test('sax is told the same of any text of XML that is cut anywhere, whether it looks at all of it or not', () => {
  const token = fc.constantFrom(
    ...[
      '<a>',
      '</a>',
      '<b/>',
      '<a x="',
      "<a y='",
      '"',
      "'",
      '>',
      '/>',
      '<',
      '&amp;',
      '&lt;',
      '&#10;',
      '&',
      ';',
      '&no;',
    ],
    ...[
      '<![CDATA[',
      ']',
      ']]',
      ']]>',
      '<!--',
      '-',
      '--',
      '-->',
      '<?p i?>',
      '?>',
      '<!DOCTYPE a>',
      '<!DOCTYPE a [',
      '<!ELEMENT ',
      '<![CD',
      '=',
      ' ',
      '\n',
      'x',
    ],
    ...[
      'text',
      'line\nline',
      '\u00e4\ud83d\ude00',
      '\ud83d',
      '\0',
      'long '.repeat(80),
      '] '.repeat(150),
      '- '.repeat(150),
    ],
  );
  const inside = fc.array(token, { maxLength: 40 }).map((tokens) => tokens.join(''));
  const document = fc.tuple(
    fc.constantFrom('', '<a>', '<?xml version="1.0"?>\n<a>\n'),
    inside,
    fc.constantFrom('', '</a>', '</a>\n '),
  );
  fc.assert(
    fc.property(document, lengths, (parts, sizes) => expectSame(parts.join(''), sizes)),
    { numRuns: 3_000 },
  );
});

test('sax is told the same of reports, whole, cut, and with characters changed', async () => {
  const reports = await Promise.all(
    ['junit/pytest-9.2.xml', 'junit/surefire-reruns.xml', 'trx/vstest-mstest.trx'].map(async (file) =>
      Buffer.from(await fixtureBytes(file)).toString('utf8'),
    ),
  );
  const change = fc.record({
    report: fc.constantFrom(...reports),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    put: fc.constantFrom('', '<', '>', '"', '&', ']]>', '<![CDATA[', '<!--', '-->', '\n'),
    dropped: fc.integer({ min: 0, max: 30 }),
  });
  for (const report of reports) expectSame(report, [64 * 1024]);
  fc.assert(
    fc.property(change, lengths, ({ report, at, put, dropped }, sizes) => {
      const place = Math.floor(at * report.length);
      expectSame(report.slice(0, place) + put + report.slice(place + dropped), sizes);
    }),
    { numRuns: 200 },
  );
});
