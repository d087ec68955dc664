/**
 * Ordinary reads beside ten clients that search with patterns made to be slow, give up after a second, and begin again.
 *
 * `bun tests/support/hostile-searches.ts <address> <admin key>` measures any running service.
 */
import { until } from './patience.ts';

const HOSTILE = 10;
const ORDINARY = 4;
const ABANDONED_MS = 1_000;

export interface Measured {
  /** Times of ordinary reads in milliseconds. */
  p50: number;
  p99: number;
  slowest: number;
  reads: number;
  /** Statuses of the hostile searches; 0 for those that were abandoned. */
  hostile: Record<number, number>;
}

/** The attack: few tests, many patterns with thousands of wildcards. Its address is too long. */
export const asFound = Array.from({ length: 250 }, (_, i) => `${'*a'.repeat(1_500)}${i}`);
/** The first of them that fit into an address. */
export const asFits = asFound.slice(0, 80);
/** The most expensive search that is allowed: all patterns that there may be, with all wildcards, almost matching. */
export const asAllowed = Array.from({ length: 255 }, (_, i) => `${'*a'.repeat(38)}*${i}x`);

export class HostileSearches {
  constructor(
    private readonly origin: string,
    private readonly token: string,
  ) {}

  #fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.origin}/v1/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/xml' },
    });
  }

  /** Uploads tests, and returns when they can be searched. */
  async fill(owner: string, names: readonly string[]): Promise<void> {
    const cases = names.map((name) => `<testcase name="${name}" time="0.1"/>`);
    const query = 'pipeline_name=CI&job_name=unit&run_id=1&branch=main&commit=c1';
    const path = `ci/${owner}/repositories/shop/junit?${query}`;
    const body = `<testsuites><testsuite name="s">${cases.join('')}</testsuite></testsuites>`;
    const response = await this.#fetch(path, { method: 'POST', body });
    if (response.status !== 202) throw new Error(`the upload was answered with ${response.status}`);
    const last = encodeURIComponent(`*${names.at(-1)}`);
    await until(
      async () => {
        const found = await this.#fetch(`ci/${owner}/repositories/shop/search/tests?test_name=${last}`);
        return (await found.json()) as { size: number };
      },
      ({ size }) => size > 0,
      100,
    );
  }

  async measure(owner: string, patterns: readonly string[], readers: readonly string[], ms: number): Promise<Measured> {
    const ids = await Promise.all(readers.map(async (reader) => [reader, await this.#testIds(reader)] as const));
    const end = performance.now() + ms;
    const times: number[] = [];
    const hostile: Record<number, number> = {};
    const attack = async (client: number): Promise<void> => {
      for (let i = 0; performance.now() < end; i++) {
        const startedAt = performance.now();
        const search = new URLSearchParams(
          patterns.map((pattern): [string, string] => ['test_name', `${pattern}${client}.${i}`]),
        );
        const signal = AbortSignal.timeout(ABANDONED_MS);
        const status = await this.#fetch(`ci/${owner}/repositories/shop/search/tests?${search}`, { signal }).then(
          (response) => response.status,
          () => 0,
        );
        hostile[status] = (hostile[status] ?? 0) + 1;
        await Bun.sleep(Math.max(0, ABANDONED_MS - (performance.now() - startedAt)));
      }
    };
    const read = async (client: number): Promise<void> => {
      for (let i = client; performance.now() < end; i++) {
        const [reader, tests] = ids[i % ids.length] ?? ['', []];
        const base = `ci/${reader}/repositories/shop`;
        const test = `${base}/tests/${tests[i % tests.length]}`;
        const paths = [
          test,
          `${test}/stats/success_count`,
          `${test}/executions`,
          `${base}/search/tests?test_name=*${i}`,
        ];
        const startedAt = performance.now();
        const response = await this.#fetch(paths[i % paths.length] ?? '');
        await response.arrayBuffer();
        if (response.status !== 200) throw new Error(`an ordinary read was answered with ${response.status}`);
        times.push(performance.now() - startedAt);
        await Bun.sleep(20);
      }
    };
    const hostiles = patterns.length === 0 ? [] : Array.from({ length: HOSTILE }, (_, client) => attack(client));
    // The attack has begun.
    await Bun.sleep(500);
    await Promise.all([...Array.from({ length: ORDINARY }, (_, client) => read(client)), ...hostiles]);
    const sorted = times.sort((a, b) => a - b);
    const quantile = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
    return { p50: quantile(0.5), p99: quantile(0.99), slowest: quantile(1), reads: sorted.length, hostile };
  }

  async #testIds(owner: string): Promise<string[]> {
    const response = await this.#fetch(`ci/${owner}/repositories/shop/search/tests?test_name=*&per_page=100`);
    const { tests } = (await response.json()) as { tests: { test_id: string }[] };
    return tests.map(({ test_id }) => test_id);
  }
}

/** Names in which the hostile patterns find a beginning everywhere. */
export const hostileNames = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `banana ${'ab a'.repeat(18)} ${i}`);
export const ordinaryNames = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `cart adds item ${i}`);

if (import.meta.main) {
  const [origin = '', token = '', tests = '24', kind = 'found', seconds = '20'] = process.argv.slice(2);
  const searches = new HostileSearches(origin, token);
  await searches.fill('greedy', hostileNames(Number(tests)));
  await searches.fill('modest', ordinaryNames(300));
  const patterns = kind === 'found' ? asFound : asAllowed;
  console.log('others', await searches.measure('greedy', patterns, ['modest'], Number(seconds) * 1_000));
}
