/** A repository with a history: what is flaky and broken on its default branch, and what is quarantined. */
import { freshRepository, sharedService } from './service.ts';

export interface Row {
  name: string;
  /** The message of its failure; absent: it passed. */
  failure?: string;
}

export const pass = (name: string): Row => ({ name });
export const fail = (name: string, failure: string): Row => ({ name, failure });

const xml = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');

/** A JUnit report. Every test has the class `shop`. */
export const reportOf = (rows: readonly Row[]): string => `<testsuite name="shop" tests="${rows.length}">
${rows
  .map(({ name, failure }) => {
    const body =
      failure === undefined ? '' : `<failure type="AssertionError" message="${xml(failure)}">at shop.py:7</failure>`;
    return `<testcase classname="shop" name="${xml(name)}" file="tests/shop.py" time="0.1">${body}</testcase>`;
  })
  .join('\n')}
</testsuite>
`;

export const FLAKY = fail('pays', 'timed out');
export const BROKEN = fail('ships', 'no such file');
export const QUARANTINED = fail('rounds', 'expected 1, got 2');
export const NEW = fail('adds tax', 'expected 110.00, got 110.01');
export const MANY = Array.from({ length: 12 }, (_, i) => `browses ${i}`);

/** A repository of `acme` with that history on `main`. */
export async function shopWithHistory(): Promise<string> {
  const repository = freshRepository('shop');
  const service = await sharedService();
  const names = [...[FLAKY, BROKEN, QUARANTINED, NEW].map(({ name }) => name), ...MANY];
  /** All tests: beside those that pass, a failure says something about its test. */
  const suite = (failing?: Row) => names.map((name) => (name === failing?.name ? failing : pass(name)));
  const runs: [commit: string, attempt: string, rows: Row[]][] = [
    ['m1', '1', suite()],
    ['m2', '1', suite(FLAKY)],
    ['m2', '2', suite()],
    ['m3', '1', suite(FLAKY)],
    ['m3', '2', suite()],
    ['m4', '1', suite(BROKEN)],
    ['m5', '1', suite(BROKEN)],
  ];
  for (const [commit, attempt, rows] of runs) {
    const query = new URLSearchParams({
      pipeline_name: 'CI',
      job_name: 'unit',
      run_id: commit,
      run_attempt: attempt,
      commit,
      branch: 'main',
      default_branch: 'main',
    });
    const base = `/v1/ci/acme/repositories/${repository}`;
    const sent = await service.fetch(`${base}/junit?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/xml' },
      body: reportOf(rows),
    });
    const { id } = (await sent.json()) as { id: string };
    await service.until<{ status: string }>(`${base}/uploads/${id}`, ({ status }) => status === 'stored');
  }
  await service.quarantine(repository, `shop.${QUARANTINED.name}`);
  return repository;
}
