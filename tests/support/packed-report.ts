/** A JUnit report as CI sends it, packed: `tests` tests from the number `from` on, of which one in `failureEvery` fails. */
export const packedReport = (tests: number, failureEvery: number, from = 0): Uint8Array<ArrayBuffer> =>
  Bun.gzipSync(
    `<testsuites><testsuite name="cart">${Array.from({ length: tests }, (_, nth) => from + nth)
      .map(
        (i) =>
          `<testcase classname="src/feature-${i % 97}/thing.test.ts" name="does thing ${i} of the cart" time="0.${i % 900}">${
            i % failureEvery === 7
              ? '<failure type="AssertionError" message="expected 1 to equal 2">at frame (src/thing.ts:1:1)</failure>'
              : ''
          }</testcase>`,
      )
      .join('')}</testsuite></testsuites>`,
  );
