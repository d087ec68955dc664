/** Prints what depends on time in the rules, the parsers and the commands. tests/faults/time-zones.test.ts runs it in several zones. */
import { parseExpiry, parseTime } from '../../src/client/parse.ts';
import { formatMoment, parseMoment } from '../../src/domain/moment.ts';
import { isRetained, oldestRetainedMonth } from '../../src/domain/retention.ts';
import { bucketStarts, bucketWidth } from '../../src/domain/window.ts';
import { parseTimestamp } from '../../src/formats/time.ts';

const DAY = 86_400_000;
/** Clocks go forward and back in New York and on Lord Howe Island, a day is left out on Samoa, and leap days. */
const MOMENTS = [
  '2026-03-08T06:59:59.999Z',
  '2026-03-08T07:00:00Z',
  '2026-11-01T05:30:00Z',
  '2026-11-01T06:30:00Z',
  '2026-04-04T15:00:00Z',
  '2011-12-30T10:00:00Z',
  '2028-02-28T23:59:59Z',
  '2028-02-29T00:00:00Z',
  '2028-02-29T23:59:59.999Z',
  '2028-03-01T00:00:00Z',
  '2100-02-28T23:59:59Z',
].map((text) => Date.parse(text));
/** Without a zone, as some reports write them. */
const WRITTEN = ['2026-03-08T02:30:00', '2026-11-01 01:30:00', '2028-02-29T12:00:00', 'Sun, 01 Nov 2026 05:30:00 GMT'];

console.log(
  JSON.stringify({
    moments: MOMENTS.map((at) => parseMoment(formatMoment(at))),
    dates: ['2028-02-29T00:00Z', '2027-02-29T00:00Z', '2100-02-29T00:00Z'].map((text) => parseMoment(text) ?? 'none'),
    reports: WRITTEN.map(parseTimestamp),
    expiries: ['2099-03-08T02:30', '2099-11-01', '2096-02-29T00:00:00Z'].map((text) => parseExpiry(text, 0)),
    times: parseTime('2026-11-01T01:30:00-05:00'),
    buckets: MOMENTS.map((at) => {
      const window = { start: at - DAY, end: at + DAY };
      return bucketStarts(window, bucketWidth(window));
    }),
    retained: MOMENTS.flatMap((now) =>
      MOMENTS.map((at) => [isRetained(at, now, 90), isRetained(at, now, 1), oldestRetainedMonth(now, 90)]),
    ),
  }),
);
