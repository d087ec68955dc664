import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Run } from '../../src/domain/columns.ts';
import { cutText, isLongerThan } from '../../src/domain/text.ts';
import { InvalidUpload, UploadTooLarge } from '../../src/formats/errors.ts';
import { junit } from '../../src/formats/junit/format.ts';
import type { ParsedExecution, ParsedRun, ParsedUpload } from '../../src/formats/upload.ts';
import { chunksOf } from '../../src/ingest/chunks.ts';
import { parseOtlp } from '../../src/ingest/otlp/map.ts';
import { parseReport } from '../../src/ingest/reports/parse.ts';
import { type TestRunsJob, testRunsSchema } from '../../src/queue/test-runs.ts';
import { otlpProtobuf } from '../support/otlp.ts';
import { RUN } from '../support/parsing.ts';

const REPOSITORY = { host: 'github.com', owner: 'acme', name: 'shop' };
const HEAD = { uploadId: '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a', repository: REPOSITORY, receivedAt: new Date(0) };

const anyText = fc.string({ unit: 'binary', maxLength: 50 }).map((text) => text.toWellFormed());
const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const failure = fc.record({
  attempt: fc.integer({ min: 1, max: 9 }),
  type: nullable(anyText),
  message: nullable(anyText),
  stacktrace: nullable(anyText),
});
const execution: fc.Arbitrary<ParsedExecution> = fc.record({
  source: fc.constantFrom('trace-1', 'trace-2', 'trace-3'),
  // Parsers refuse rows whose names hold anything else.
  key: anyText.map((text) => text.replaceAll('\0', '').toWellFormed()),
  name: anyText,
  status: fc.constantFrom('passed', 'failed', 'skipped'),
  durationSeconds: fc.double({ min: 0, max: 1e6, noNaN: true }),
  finishedAtMs: nullable(fc.integer({ min: 0, max: 2e12 })),
  filepath: nullable(anyText),
  function: nullable(anyText),
  isFlaky: fc.boolean(),
  isQuarantined: fc.boolean(),
  isRetried: fc.boolean(),
  failures: fc.array(failure, { maxLength: 3 }),
});
const parsedRun: fc.Arbitrary<ParsedRun> = fc.record({
  run: anyText.map((job_name) => ({ ...RUN, job_name })),
  executions: fc.array(execution, { maxLength: 40 }),
});
const upload: fc.Arbitrary<ParsedUpload> = fc.record({
  runs: fc.array(parsedRun, { maxLength: 4 }),
  rejections: fc.array(
    fc.record({ reason: anyText, count: fc.integer({ min: 1, max: 9 }), examples: fc.constant([]) }),
    { maxLength: 2 },
  ),
  warnings: fc.array(anyText, { maxLength: 2 }),
});

/** The executions that a job holds, each with its run. */
function rowsOf({
  run,
  sources,
  executions: columns,
  failures,
}: TestRunsJob): { run: Run; execution: ParsedExecution }[] {
  const rows = columns.name.map((name, i) => ({
    run,
    execution: {
      source: sources[columns.source[i] as number] as string,
      key: columns.key[i] as string,
      name,
      status: columns.status[i] as ParsedExecution['status'],
      durationSeconds: columns.duration_s[i] as number,
      finishedAtMs: columns.finished_at_ms[i] as number | null,
      filepath: columns.filepath[i] as string | null,
      function: columns.function[i] as string | null,
      isFlaky: columns.is_flaky[i] as boolean,
      isQuarantined: columns.is_quarantined[i] as boolean,
      isRetried: columns.is_retried[i] as boolean,
      failures: [] as ParsedExecution['failures'],
    },
  }));
  for (const [i, row] of failures.execution.entries())
    rows[row]?.execution.failures.push({
      attempt: failures.attempt[i] as number,
      type: failures.type[i] as string | null,
      message: failures.message[i] as string | null,
      stacktrace: failures.stacktrace[i] as string | null,
    });
  return rows;
}

describe('chunks', () => {
  test('lose nothing, keep the order, stay within their bounds, and are valid jobs', () => {
    fc.assert(
      fc.property(
        upload,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 100, max: 5_000 }),
        (parsed, executionsMax, textLengthMax) => {
          const jobs = chunksOf(parsed, HEAD, { executionsMax, textLengthMax });
          expect(jobs.flatMap(rowsOf)).toEqual(
            parsed.runs.flatMap(({ run, executions }) => executions.map((one) => ({ run, execution: one }))),
          );
          expect(jobs.map(({ chunk }) => chunk)).toEqual(jobs.map((_, index) => ({ index, count: jobs.length })));
          if (jobs.length > 0) {
            expect(jobs.flatMap(({ rejections }) => rejections)).toEqual(parsed.rejections);
            expect(jobs.flatMap(({ warnings }) => warnings)).toEqual(parsed.warnings);
          }
          for (const job of jobs) {
            expect(job.executions.name.length).toBeLessThanOrEqual(executionsMax);
            expect(testRunsSchema.safeParse(job).error).toBeUndefined();
          }
        },
      ),
    );
  });
  test('an upload without runs is no job; one whose runs are empty is one, for its receipt', () => {
    expect(chunksOf({ runs: [], rejections: [], warnings: [] }, HEAD)).toEqual([]);
    const empty = { run: RUN, executions: [] };
    expect(chunksOf({ runs: [empty, empty], rejections: [], warnings: ['w'] }, HEAD)).toMatchObject([
      { chunk: { index: 0, count: 1 }, sources: [], warnings: ['w'] },
    ]);
  });
  test('12,000 executions are three jobs', () => {
    const [row] = fc.sample(execution, 1);
    const executions = Array.from({ length: 12_000 }, () => row as ParsedExecution);
    const jobs = chunksOf({ runs: [{ run: RUN, executions }], rejections: [], warnings: [] }, HEAD);
    expect(jobs.map((job) => job.executions.name.length)).toEqual([5_000, 5_000, 2_000]);
  });
});

describe('cut texts', () => {
  const maybeBroken = fc.string({
    unit: fc.constantFrom('a', 'é', '🍎', '\ud800', '\udc00', '\0', '\uFFFD'),
    maxLength: 400,
  });
  test('fit, are well-formed, hold no NUL, begin as the text did, and are not cut twice', () => {
    fc.assert(
      fc.property(maybeBroken, fc.integer({ min: 64, max: 1_000 }), (text, bytesMax) => {
        const cut = cutText(text, bytesMax);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytesMax);
        expect(cut.isWellFormed()).toBe(true);
        expect(cut).not.toContain('\0');
        expect(cutText(cut, bytesMax)).toBe(cut);
        const clean = text.toWellFormed().replaceAll('\0', '\uFFFD');
        if (Buffer.byteLength(clean) <= bytesMax) expect(cut).toBe(clean);
        else expect(clean).toStartWith(cut.slice(0, cut.lastIndexOf('… [cut, ')));
      }),
    );
  });
  test('length is counted in code points, as iteration counts them', () => {
    fc.assert(
      fc.property(maybeBroken, (text) => {
        fc.pre(text !== '');
        const length = [...text].length;
        expect(isLongerThan(text, length)).toBe(false);
        expect(isLongerThan(text, length - 1)).toBe(true);
      }),
    );
  });
});

const xmlOf = (text: string): string => text.replace(/[&<>"'\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
/** Texts that XML 1.0 can write. */
const xmlText = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).map((text) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those that XML has no way to write
  text.toWellFormed().replace(/[\0-\x08\x0b\x0c\x0e-\x1f\uFFFE\uFFFF]/g, '.'),
);

describe('JUnit', () => {
  const parse = (xml: string) => parseReport(junit, Buffer.from(xml), { run: RUN, reportName: 'r' });

  test('any name comes back as it was, and every row has its own key', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(xmlText, { maxLength: 20 }), async (names) => {
        const cases = names.map((name) => `<testcase name="${xmlOf(name)}"/>`).join('');
        const { runs } = await parse(`<testsuite>${cases}</testsuite>`);
        const executions = runs.flatMap((run) => run.executions);
        expect(executions.map(({ name }) => name)).toEqual(names);
        expect(new Set(executions.map(({ key }) => key)).size).toBe(names.length);
      }),
    );
  });
  test('a report cut anywhere is refused with a sentence, or keeps exactly the tests that were whole', async () => {
    const cases = ['a', 'b', 'c'].map(
      (name) => `<testcase name="${name}"><failure message="m">text</failure></testcase>`,
    );
    const xml = `<?xml version="1.0"?><testsuites><testsuite name="s">${cases.join('')}</testsuite></testsuites>`;
    for (let length = 0; length < xml.length; length++) {
      const head = xml.slice(0, length);
      const parsed = await parse(head).catch((error: unknown) => error);
      if (parsed instanceof InvalidUpload) expect(head).not.toContain('<testsuites>');
      else {
        const { runs, warnings } = parsed as ParsedUpload;
        expect(runs.flatMap(({ executions }) => executions)).toHaveLength(head.split('</testcase>').length - 1);
        expect(warnings).toHaveLength(1);
      }
    }
  });
  test('any bytes are read or refused with a sentence, never a crash', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const body = Buffer.concat([Buffer.from('<testsuite><testcase name="'), bytes]);
        for (const input of [bytes, body])
          await parseReport(junit, input, { run: RUN, reportName: 'r' }).catch((error: unknown) =>
            expect(error).toBeInstanceOf(InvalidUpload),
          );
      }),
    );
  });
});

describe('OTLP', () => {
  test('any name and message come back as they were', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyText, async (name, message) => {
        const attributes = { 'test.case.result.status': 'failed', 'exception.message': message };
        const clean = `n${name.replaceAll('\0', '')}`;
        const { runs } = await parseOtlp(otlpProtobuf({ spans: [{ name: clean, attributes }] }), 'protobuf');
        const [run] = runs;
        expect(run?.executions[0]?.name).toBe(clean);
        expect(run?.executions[0]?.failures[0]?.message).toBe(message.replaceAll('\0', '\uFFFD') || null);
      }),
    );
  });
  test('any bytes, and any bytes in the place of good ones, are read or refused with a sentence, never a crash', async () => {
    const good = otlpProtobuf({ resource: { 'cicd.pipeline.name': 'CI' }, spans: [{ name: 'a' }, { name: 'b' }] });
    const broken = fc.tuple(fc.nat({ max: good.length - 1 }), fc.uint8Array({ maxLength: 20 })).map(([at, bytes]) => {
      const copy = Buffer.concat([good, Buffer.alloc(20)]);
      copy.set(bytes, at);
      return copy.subarray(0, good.length);
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.uint8Array({ maxLength: 200 }), broken),
        fc.constantFrom('protobuf', 'json'),
        async (bytes, encoding) => {
          const error = await parseOtlp(bytes, encoding).then(
            () => null,
            (thrown: unknown) => thrown,
          );
          expect(error === null || error instanceof InvalidUpload || error instanceof UploadTooLarge).toBe(true);
        },
      ),
    );
  });
});
