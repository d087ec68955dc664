/** The comment on a pull request: whatever tests, branches and owners are called, it is text there, and it has a bound. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { CLAIM_VERDICTS } from '../../src/domain/change-claim.ts';
import { COMMIT_VERDICTS } from '../../src/domain/commit-verdict.ts';
import {
  COMMENT_LENGTH_MAX,
  type CommentedCommit,
  type CommentedFailure,
  commentText,
} from '../../src/domain/pull-comment.ts';
import { readMarked, withMarker } from '../../src/hosts/writes/marker.ts';

const PARTS = [
  ...':#-+~^ \t\n\r\v\f[]()|*_`<>@!&;.%,"\\/$a1é🙂',
  ...['\u2028', '\u0085', '\u00a0', '\u001b[', '\u202e', '\u200b', '\ud800', '```', '~~~', '-->', '<!--', '&#64;'],
  ...['@acme/team', '@all', '#12', '!12', '~bug', '%12', '&12', '$12', 'GH-1', 'GL-2', '\n/close', '\n\n/assign @ada'],
  ...['https://evil.example', 'www.evil.example', 'me@evil.example', '[a](javascript:1)', '<img src=x onerror=1>'],
  ...['<details>', '</code>', '![a](https://evil.example/a.png)', '<!-- ci-insights:comment 0123456789abcdef -->'],
];
const foreign = fc.array(fc.constantFrom(...PARTS), { maxLength: 12 }).map((parts) => parts.join(''));
const OWN = 'https://ci.example/app/acme/shop';
const url = foreign.map((text) => `${OWN}/tests/${encodeURIComponent(text.toWellFormed())}`);
const failure = fc.record<CommentedFailure>({
  testName: foreign,
  jobName: foreign,
  verdict: fc.constantFrom(...COMMIT_VERDICTS),
  claim: fc.record({
    verdict: fc.constantFrom(...CLAIM_VERDICTS),
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
    for: fc.array(foreign, { maxLength: 4 }),
    against: fc.array(foreign, { maxLength: 4 }),
    needs: fc.option(foreign),
  }),
  owners: fc.array(foreign, { maxLength: 3 }),
  message: fc.option(foreign),
  cause: fc.option(fc.record({ id: foreign, url })),
  url,
});
const commit = fc.record<CommentedCommit>({
  commit: foreign,
  url,
  summary: foreign,
  failures: fc.array(failure, { maxLength: 8 }),
  total: fc.nat(500),
  fewerTests: fc.nat(2),
});

const ELEMENTS = new Set(['h3', 'p', 'strong', 'em', 'ul', 'li', 'a', 'code', 'wbr']);
/** What hosts make links or mentions of, between two elements. */
const REFERENCE = /@\w|#\d|(?:^|[\s(\0])(?:[!$~%]|&amp;)[\w"]|\bG[HL]-\d|\bwww\.\w|:\/\//i;

test('it holds its own elements and links, no mention, no reference, and no command', () => {
  fc.assert(
    fc.property(commit, (told) => {
      const text = commentText(told);
      const html = Bun.markdown.html(text, { autolinks: true });
      const found = [...html.matchAll(/<([a-z]\w*)/g)].map(([, tag = '']) => tag);
      expect(found.filter((tag) => !ELEMENTS.has(tag))).toEqual([]);
      for (const [, href = ''] of html.matchAll(/href="([^"]*)"/g)) expect(href).toStartWith(OWN);
      const plain = html.replace(/<code>.*?<\/code>/gs, '<code></code>').replace(/href="[^"]*"/g, '');
      expect(REFERENCE.exec(plain.replace(/<[^>]*>/g, '\0'))).toBeNull();
      // Quick actions of GitLab.
      expect(text.split(/[\n\r\u2028\u2029]/).filter((line) => /^\s*\//.test(line))).toEqual([]);
    }),
  );
});

test('it is never longer than hosts take, and says how many failures it leaves out', () => {
  const long = fc.constantFrom('@', '&', '`', '\ud83d\ude42', 'a').map((sign) => sign.repeat(50_000));
  fc.assert(
    fc.property(long, fc.integer({ min: 1, max: 100 }), (name, count) => {
      const one: CommentedFailure = {
        testName: name,
        jobName: name,
        verdict: 'new',
        claim: { verdict: 'unknown', probability: 0.5, for: [name, name], against: [name], needs: name },
        owners: [name],
        message: null,
        cause: null,
        url: `${OWN}/tests/1`,
      };
      const failures = Array.from({ length: count }, (_, i) => ({ ...one, testName: `${i}${name}` }));
      const text = commentText({
        commit: 'c',
        url: OWN,
        summary: 'Probably your change.',
        failures,
        total: 500,
        fewerTests: 0,
      });
      expect(text.length).toBeLessThanOrEqual(COMMENT_LENGTH_MAX);
      expect(text).toMatch(/\[\d+ more failures\]\(/);
    }),
    { numRuns: 20 },
  );
});

test('what was written is read back, whatever it says, and any change by a person shows', () => {
  const key = '0123456789abcdef';
  fc.assert(
    fc.property(foreign, foreign, fc.constantFrom('html', 'definition'), (text, more, style) => {
      const body = withMarker(key, text, style);
      expect(readMarked(key, body)?.isEdited).toBe(false);
      expect(readMarked(key, body.replaceAll('\n', '\r\n'))?.isEdited).toBe(false);
      expect(readMarked(key, `${body}x${more}`)?.isEdited).toBe(true);
      expect(readMarked('fedcba9876543210', body)).toBeUndefined();
    }),
  );
});
