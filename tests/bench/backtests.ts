/** How long a backtest takes, from the request until its report can be read. */
import { z } from 'zod';
import { base } from './reads.ts';
import type { BenchService } from './service.ts';

const POLL_MS = 50;
const DAYS = 60;
const DAY_MS = 86_400_000;

const answer = z.object({ id: z.string(), status: z.enum(['running', 'finished', 'failed']) });

/** Time for one repository, in seconds. */
export async function measureBacktest(service: BenchService, repository: string, now: number): Promise<number> {
  const address = `${base(repository)}/backtests`;
  const started = performance.now();
  const policy = { auto_quarantine: 'flaky+broken', since: new Date(now - DAYS * DAY_MS).toISOString() };
  const headers = { 'content-type': 'application/json' };
  const asked = await service.request(address, { method: 'POST', headers, body: JSON.stringify(policy) });
  if (asked.status !== 202) throw new Error(`${address} answered ${asked.status}`);
  let { id, status } = answer.parse(await asked.json());
  while (status === 'running') {
    await Bun.sleep(POLL_MS);
    ({ id, status } = answer.parse(await (await service.request(`${address}/${id}`)).json()));
  }
  if (status === 'failed') throw new Error(`the backtest of ${repository} failed`);
  return (performance.now() - started) / 1_000;
}
