/**
 * A slice of a real history through the service: queue, evaluation and what can be read at the end of each day. It needs
 * the file that `bun run replay` reads; without it, nothing is tested.
 */
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { DAY_MS } from '../../src/domain/time.ts';
import { readRealHistory } from '../simulation/real-history.ts';
import { ServiceRules } from '../simulation/service-rules.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { uniqueRepository } from '../support/stores.ts';
import { healthsOf } from '../support/verdicts.ts';

const FILE = resolve(import.meta.dir, '../../../shared/datasets/dask-distributed-2022-2024.tsv.gz');
const DAYS = 45;

const isThere = existsSync(FILE);
if (!isThere) console.warn(`skipped: there is no ${FILE}`);
const ingest = setUpIngest();

test.skipIf(!isThere)(
  'at the end of each day, the service says what the rules say',
  async () => {
    const history = await readRealHistory(FILE);
    const first = Math.floor((history.runs[0]?.at ?? 0) / DAY_MS);
    // Whole days, so that no run changes its day.
    const shift = (Math.floor(TEST_NOW / DAY_MS) - 1 - DAYS - first) * DAY_MS;
    const repository = uniqueRepository();
    const rules = new ServiceRules({ isSameMomentBefore: false });
    const days = Map.groupBy(history.runs, (run) => Math.floor(run.at / DAY_MS) - first);
    const said = new Set<string>();
    for (let day = 0; day < DAYS; day++) {
      const runs = (days.get(day) ?? []).map((run) => ({ ...run, at: run.at + shift }));
      if (runs.length === 0) continue;
      await ingest.driver.ingest(
        ...runs.map(({ id, commit, at, identities, troubles, job }) =>
          makeJob({
            repository,
            receivedAt: ingest.stores.clock.now(),
            source: `${id}/${job}`,
            run: { run_id: id, commit, job_name: `suite ${job}` },
            executions: Array.from(identities, (identity) => {
              const trouble = troubles.get(identity);
              const failures = trouble ? [{ type: null, message: trouble.message }] : [];
              const name = history.identities[identity]?.test ?? '';
              return { name, key: name, status: trouble ? ('failed' as const) : ('passed' as const), at, failures };
            }),
          }),
        ),
      );
      for (const run of runs) rules.takeIn(run);
      rules.settle((first + day + 1) * DAY_MS + shift);
      const wanted = new Map<string, string[]>();
      for (const identity of new Set(
        history.runs.filter((run) => run.at < (first + day + 1) * DAY_MS).flatMap((run) => Array.from(run.identities)),
      )) {
        const { test: name = '' } = history.identities[identity] ?? {};
        wanted.set(name, [...(wanted.get(name) ?? []), rules.health(identity)].sort());
      }
      const stored = await healthsOf(ingest.stores, repository);
      const read = Object.fromEntries(Object.entries(stored).map(([name, healths]) => [name, healths.toSorted()]));
      expect({ day, healths: read }).toEqual({ day, healths: Object.fromEntries(wanted) });
      for (const healths of wanted.values()) for (const health of healths) said.add(health);
    }
    expect(said).toEqual(new Set(['healthy', 'flaky', 'broken']));
    await ingest.driver.verify();
  },
  240_000,
);
