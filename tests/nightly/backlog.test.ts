/** A backlog drains without help, in bounded memory, while others are answered; and the service says how long it will take. */
import { expect, test } from 'bun:test';
import { type BacklogFigures, backlog, memoryOverTime } from '../support/backlog.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';

const EXECUTIONS = 10;
const SECONDS_MAX = 300;
/** The metric is read every five seconds. A machine that is done with the backlog sooner than this gets a longer one. */
const SECONDS_MIN = 15;
const LONGER = 4;
/** A process that has just started grows until it is warm. What each waiting chunk kept would be ten times as much. */
const GROWTH_MEBIBYTES_MAX = 400;
/** On a busy machine; on a quiet one it is far less. */
const P50_MS_MAX = 200;
/** The rate changes while a short backlog drains, because the service grows warm. */
const ESTIMATE_FACTOR_MAX = 4;
const DOCTOR_SAYS = /jobs waiting, the oldest for \d+ s\. At the present rate they will be done in about/;

interface Backend {
  queue: string;
  isHere: boolean;
  start?: () => Promise<TestRedis>;
  /** Takes about 20 s on two cores. */
  chunks: number;
}

const BACKENDS: readonly Backend[] = [
  { queue: 'PostgreSQL', isHere: true, chunks: 5_000 },
  { queue: 'Redis', isHere: hasRedis, start: startRedis, chunks: 10_000 },
];

for (const { queue, isHere, start, chunks: least } of BACKENDS)
  test.skipIf(!isHere)(
    `chunks that wait in ${queue} are stored, each once, while others are answered and are told how long it takes`,
    async () => {
      const redis = await start?.();
      const drained = (chunks: number): Promise<BacklogFigures> =>
        backlog({ chunks, executions: EXECUTIONS, redisUrl: redis?.url, secondsMax: SECONDS_MAX });
      try {
        let chunks = least;
        let all = await drained(chunks);
        while (all.drainSeconds < SECONDS_MIN) {
          chunks *= LONGER;
          all = await drained(chunks);
        }
        const { samples, ...figures } = all;
        const [first = 0, , last = 0] = memoryOverTime(samples);
        console.log({ ...figures, memory: [first, last] });
        expect(figures.stored).toBe(chunks * EXECUTIONS);
        expect(last - first).toBeLessThan(GROWTH_MEBIBYTES_MAX);
        const { liveness, quarantines, reads } = figures;
        expect([liveness.failed, quarantines.failed, reads.failed]).toEqual([0, 0, 0]);
        expect(Math.max(liveness.p50, quarantines.p50, reads.p50)).toBeLessThan(P50_MS_MAX);
        const { readings, median } = figures.estimate;
        expect(readings).toBeGreaterThan(0);
        expect(median).toBeGreaterThan(1 / ESTIMATE_FACTOR_MAX);
        expect(median).toBeLessThan(ESTIMATE_FACTOR_MAX);
        expect(figures.doctor.map(({ said }) => said).join('\n')).toMatch(DOCTOR_SAYS);
      } finally {
        await redis?.stop();
      }
    },
    3 * (SECONDS_MAX + 60) * 1_000,
  );
