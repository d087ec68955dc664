import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { InvalidUpload, UploadTooLarge } from '../../src/formats/errors.ts';
import type { ReportFormat } from '../../src/formats/format.ts';
import { FORMATS } from '../../src/formats/formats.ts';
import { executionsOf } from '../support/parsing.ts';
import { keysOf, parse, refusalOf } from '../support/reports.ts';

/** A test that ran, as a test runner knows it. */
interface Ran {
  name: string;
  status: 'passed' | 'failed' | 'skipped';
  durationMs: number;
  message: string;
}

/** Without what XML cannot write, and without the blanks that formats trim from messages. */
const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .map((value) => `x${value.replace(/[\p{C}\p{Z}\uFFFE\uFFFF]/gu, '.')}x`);
const ran: fc.Arbitrary<Ran> = fc.record({
  name: text,
  status: fc.constantFrom('passed', 'failed', 'skipped'),
  durationMs: fc.integer({ min: 0, max: 100_000 }),
  message: text,
});

const STARTED_AT = Date.parse('2026-11-21T09:30:00Z');
const xmlOf = (value: string): string => value.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
const iso = (timeMs: number): string => new Date(timeMs).toISOString();

/** Each format as its runner would write these tests, and the names that they then have. */
const WRITERS: Record<string, { write(tests: readonly Ran[]): string; nameOf(name: string): string }> = {
  junit: {
    nameOf: (name) => `Cart.${name}`,
    write: (tests) => {
      const inside = { passed: '', skipped: '<skipped/>' };
      const cases = tests.map(({ name, status, durationMs, message }) => {
        const content = status === 'failed' ? `<failure message="${xmlOf(message)}"/>` : inside[status];
        return `<testcase classname="Cart" name="${xmlOf(name)}" time="${durationMs / 1000}">${content}</testcase>`;
      });
      return `<testsuite timestamp="${iso(STARTED_AT)}">${cases.join('')}</testsuite>`;
    },
  },
  playwright: {
    nameOf: (name) => `[web] › cart.spec.ts › ${name}`,
    write: (tests) => {
      const statuses = { passed: 'expected', failed: 'unexpected', skipped: 'skipped' };
      const specs = tests.map(({ name, status, durationMs, message }) => {
        const error = status === 'failed' ? { error: { message } } : {};
        const results = [{ status, duration: durationMs, startTime: iso(STARTED_AT), ...error }];
        return { title: name, tests: [{ projectName: 'web', status: statuses[status], results }] };
      });
      return JSON.stringify({ suites: [{ title: 'cart.spec.ts', specs }] }, null, tests.length % 3);
    },
  },
  'go-test': {
    nameOf: (name) => `example.com/cart.${name}`,
    write: (tests) => {
      const actions = { passed: 'pass', failed: 'fail', skipped: 'skip' };
      const event = (fields: object) =>
        `${JSON.stringify({ Time: iso(STARTED_AT), Package: 'example.com/cart', ...fields })}\n`;
      const events = tests.map(
        ({ name, status, durationMs, message }) =>
          event({ Action: 'run', Test: name }) +
          event({ Action: 'output', Test: name, Output: `    ${message}\n` }) +
          event({ Action: actions[status], Test: name, Elapsed: durationMs / 1000 }),
      );
      const isFailed = tests.some(({ status }) => status === 'failed');
      return events.join('') + event({ Action: isFailed ? 'fail' : 'pass' });
    },
  },
  trx: {
    nameOf: (name) => `Shop.Cart.${name}`,
    write: (tests) => {
      const outcomes = { passed: 'Passed', failed: 'Failed', skipped: 'NotExecuted' };
      const results = tests.map(({ name, status, durationMs, message }, i) => {
        const seconds = (durationMs / 1000).toFixed(7);
        return `<UnitTestResult testId="${i}" testName="${xmlOf(name)}" outcome="${outcomes[status]}" duration="00:00:${seconds}" startTime="${iso(STARTED_AT)}"><Output><ErrorInfo><Message>${xmlOf(message)}</Message></ErrorInfo></Output></UnitTestResult>`;
      });
      const definitions = tests.map((_, i) => `<UnitTest id="${i}"><TestMethod className="Shop.Cart"/></UnitTest>`);
      return `<TestRun><Results>${results.join('')}</Results><TestDefinitions>${definitions.join('')}</TestDefinitions></TestRun>`;
    },
  },
  robot: {
    nameOf: (name) => `Shop.Cart.${name}`,
    write: (tests) => {
      const words = { passed: 'PASS', failed: 'FAIL', skipped: 'SKIP' };
      const cases = tests.map(({ name, status, durationMs, message }) => {
        const ended = `status="${words[status]}" start="2026-11-21T09:30:00.000000" elapsed="${durationMs / 1000}"`;
        return `<test name="${xmlOf(name)}"><kw><status status="FAIL"/></kw><status ${ended}>${xmlOf(message)}</status></test>`;
      });
      return `<robot><suite name="Shop"><suite name="Cart">${cases.join('')}</suite></suite></robot>`;
    },
  },
  testng: {
    nameOf: (name) => `shop.Cart.${name}`,
    write: (tests) => {
      const words = { passed: 'PASS', failed: 'FAIL', skipped: 'SKIP' };
      const methods = tests.map(({ name, status, durationMs, message }) => {
        const exception = `<exception class="E"><message>\n${xmlOf(message)}\n</message></exception>`;
        return `<test-method name="${xmlOf(name)}" status="${words[status]}" started-at="2026-11-21T09:30:00 UTC" duration-ms="${durationMs}">${exception}</test-method>`;
      });
      return `<testng-results><suite name="s"><test name="t"><class name="shop.Cart">${methods.join('')}</class></test></suite></testng-results>`;
    },
  },
  ctrf: {
    nameOf: (name) => `cart.test.js › Cart › ${name}`,
    write: (tests) => {
      const listed = tests.map(({ name, status, durationMs, message }) => ({
        ...{ name, status, duration: durationMs, start: STARTED_AT, suite: ['cart.test.js', 'Cart'] },
        ...(status === 'failed' && { message }),
      }));
      return JSON.stringify({ results: { tool: { name: 'jest' }, tests: listed } }, null, tests.length % 3);
    },
  },
  allure: {
    nameOf: (name) => `shop.Cart#${name}`,
    write: (tests) => {
      const results = tests.map(({ name, status, durationMs, message }, i) => ({
        ...{ name, status, fullName: `shop.Cart#${name}`, historyId: `h${i}` },
        ...{ start: STARTED_AT, stop: STARTED_AT + durationMs, statusDetails: { message } },
      }));
      return JSON.stringify(results, null, tests.length % 3);
    },
  },
  bazel: {
    nameOf: (name) => `//cart:${name}`,
    write: (tests) => {
      const events = tests.flatMap(({ name, status, durationMs, message }) => {
        const target = { label: `//cart:${name}`, configuration: { id: 'a' } };
        const result = {
          status: status === 'failed' ? 'FAILED' : 'PASSED',
          statusDetails: message,
          testAttemptDurationMillis: String(durationMs),
        };
        return [
          { id: { testResult: { ...target, run: 1, shard: 1, attempt: 1 } }, testResult: result },
          { id: { testSummary: target }, testSummary: { shardCount: 1 } },
        ];
      });
      return [{ id: { started: {} } }, ...events, { id: { buildFinished: {} }, lastMessage: true }]
        .map((event) => `${JSON.stringify(event)}\n`)
        .join('');
    },
  },
  nunit: {
    nameOf: (name) => `Shop.Cart.${name}`,
    write: (tests) => {
      const results = { passed: 'Passed', failed: 'Failed', skipped: 'Skipped' };
      const cases = tests.map(({ name, status, durationMs, message }) => {
        const failure = status === 'failed' ? `<failure><message>${xmlOf(message)}</message></failure>` : '';
        return `<test-case name="${xmlOf(name)}" fullname="Shop.Cart.${xmlOf(name)}" classname="Shop.Cart" result="${results[status]}" duration="${durationMs / 1000}">${failure}</test-case>`;
      });
      return `<test-run total="${tests.length}"><test-suite>${cases.join('')}</test-suite></test-run>`;
    },
  },
  xunit: {
    nameOf: (name) => `Shop.Cart.${name}`,
    write: (tests) => {
      const results = { passed: 'Pass', failed: 'Fail', skipped: 'Skip' };
      const cases = tests.map(({ name, status, durationMs, message }) => {
        const failure = status === 'failed' ? `<failure><message>${xmlOf(message)}</message></failure>` : '';
        return `<test name="${xmlOf(name)}" type="Shop.Cart" result="${results[status]}" time="${durationMs / 1000}">${failure}</test>`;
      });
      return `<assemblies><assembly run-date="2026-11-21" run-time="09:30:00" total="${tests.length}"><collection>${cases.join('')}</collection></assembly></assemblies>`;
    },
  },
  tap: {
    nameOf: (name) => `Cart › ${name}`,
    write: (tests) => {
      const escaped = (name: string) => name.replace(/[#\\]/g, '\\$&');
      const points = tests.map(({ name, status, durationMs, message }, i) => {
        const ok = status === 'failed' ? 'not ok' : 'ok';
        const skip = status === 'skipped' ? ' # SKIP' : '';
        const block = `      ---\n      duration_ms: ${durationMs}\n      message: ${JSON.stringify(message)}\n      ...\n`;
        return `    ${ok} ${i + 1} - ${escaped(name)}${skip}\n${block}`;
      });
      if (tests.length === 0) return 'TAP version 14\n1..0 # SKIP\n';
      const ok = tests.some(({ status }) => status === 'failed') ? 'not ok' : 'ok';
      return `TAP version 14\n# Subtest: Cart\n${points.join('')}    1..${tests.length}\n${ok} 1 - Cart\n1..1\n`;
    },
  },
  cucumber: {
    nameOf: (name) => `Cart.${name}`,
    write: (tests) => {
      const at = (ms: number) => ({ seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1_000_000 });
      const scenarios = tests.map(({ name }, i) => ({ scenario: { id: `s${i}`, name, examples: [] } }));
      const messages = tests.flatMap(({ name, status, durationMs, message }, i) => {
        const failure = status === 'failed' ? { exception: { message } } : {};
        const testStepResult = { status: status.toUpperCase(), ...failure };
        return [
          { pickle: { id: `p${i}`, uri: 'cart.feature', name, astNodeIds: [`s${i}`], steps: [] } },
          { testCase: { id: `c${i}`, pickleId: `p${i}`, testSteps: [] } },
          { testCaseStarted: { id: `r${i}`, testCaseId: `c${i}`, attempt: 0, timestamp: at(STARTED_AT) } },
          { testStepFinished: { testCaseStartedId: `r${i}`, testStepId: 't', testStepResult } },
          { testCaseFinished: { testCaseStartedId: `r${i}`, timestamp: at(STARTED_AT + durationMs) } },
        ];
      });
      const feature = { name: 'Cart', children: scenarios };
      return [{ gherkinDocument: { uri: 'cart.feature', feature } }, ...messages, { testRunFinished: {} }]
        .map((message) => `${JSON.stringify(message)}\n`)
        .join('');
    },
  },
};

/** Go reports its packages too. */
const testsOf = async (format: ReportFormat, body: string | Uint8Array) =>
  executionsOf(await parse(format, body)).filter(({ function: name }) => name !== 'TestMain');

describe.each(FORMATS)('$name:', (format) => {
  const writer = WRITERS[format.name];
  if (!writer) throw new Error(`WRITERS has no ${format.name}`);

  test('any tests come back as they ran, in order, each with its own key', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(ran, { maxLength: 20, selector: ({ name }) => name }), async (tests) => {
        const body = writer.write(tests);
        const executions = await testsOf(format, body);
        expect(
          executions.map(({ name, status, durationSeconds, failures }) => ({
            name,
            status,
            durationMs: Math.round(durationSeconds * 1000),
            message: failures[0]?.message,
          })),
        ).toEqual(
          tests.map(({ name, status, durationMs, message }) => ({
            name: writer.nameOf(name),
            // Bazel does not write what did not run.
            status: format.name === 'bazel' && status === 'skipped' ? 'passed' : status,
            durationMs,
            message: status === 'failed' ? message : undefined,
          })),
        );
        const keys = keysOf(await parse(format, body));
        expect(new Set(keys).size).toBe(keys.length);
      }),
    );
  });

  test('a report that is cut anywhere is refused with a sentence, or keeps only tests that were whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(ran, { maxLength: 5, selector: ({ name }) => name }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (tests, share) => {
          const body = Buffer.from(writer.write(tests));
          const head = body.subarray(0, Math.floor(body.length * share));
          const refusal = await refusalOf(format, head);
          if (refusal !== null) expect(refusal).toBeInstanceOf(InvalidUpload);
          else {
            const kept = await testsOf(format, head);
            expect(await testsOf(format, body)).toEqual(expect.arrayContaining(kept));
          }
        },
      ),
    );
  });

  test('any bytes, and any bytes in the place of good ones, are read or refused with a sentence, never a crash', async () => {
    const good = Buffer.from(writer.write(fc.sample(ran, { numRuns: 4, seed: 7 })));
    const broken = fc.tuple(fc.nat({ max: good.length - 1 }), fc.uint8Array({ maxLength: 20 })).map(([at, bytes]) => {
      const copy = Buffer.concat([good, Buffer.alloc(20)]);
      copy.set(bytes, at);
      return copy.subarray(0, good.length);
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 200 }), broken), async (bytes) => {
        const refusal = await refusalOf(format, bytes);
        expect(refusal === null || refusal instanceof InvalidUpload || refusal instanceof UploadTooLarge).toBe(true);
      }),
    );
  });

  test('the example of the API document is a report', async () => {
    expect(await testsOf(format, format.example.text)).toMatchObject([{ status: 'passed' }]);
  });
});
