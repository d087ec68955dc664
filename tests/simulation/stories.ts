/**
 * `bun run simulate:stories`: small stories as people tell them when they try the service, and what the rules say of their
 * tests, as a table. Other tests run beside them in each run and pass.
 */
import { isSurelyHealthy, verdictOf } from '../../src/domain/belief.ts';
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { quantile } from '../bench/quantile.ts';
import { randomFrom } from '../support/random.ts';
import { judge, type Told, type ToldRun } from '../support/told-history.ts';

const BEGUN = Date.UTC(2026, 0, 5);
const TEST = 't0';
const BESIDE = 300;
/** What has not come by then is told as that. */
const TOLD_MAX = 150;
const MINUTE_MS = HOUR_MS / 60;
const SEEDS = Array.from({ length: 25 }, (_, i) => i + 1);

/** Tells runs of one CI job after the other. */
class Story {
  readonly runs: ToldRun[] = [];
  at = BEGUN;

  /** @param beside how many tests pass in each run besides those that are told */
  constructor(
    readonly beside = BESIDE,
    readonly job = 'unit',
  ) {}

  /** A run, of the next commit if none is named. `after`: until the next run. */
  run(results: Told | ReadonlyMap<string, Told>, { after = 6 * HOUR_MS, commit = `c${this.runs.length}` } = {}): this {
    const tests = typeof results === 'string' ? new Map([[TEST, results]]) : results;
    this.runs.push({ at: this.at, job: this.job, commit, tests, executions: tests.size + this.beside });
    this.at += after;
    return this;
  }

  times(count: number, tell: (story: this, i: number) => void): this {
    for (let i = 0; i < count; i++) tell(this, i);
    return this;
  }

  belief(test = TEST) {
    return judge(this.runs).belief(test, this.job);
  }

  health(test = TEST): Health {
    return verdictOf(this.belief(test)).status;
  }

  /** How often something must be told until it holds; infinite for more than {@link TOLD_MAX}. */
  until(holds: (story: this) => boolean, tell: (story: this, i: number) => void): number {
    for (let i = 0; i < TOLD_MAX; i++) {
      if (holds(this)) return i;
      tell(this, i);
    }
    return Number.POSITIVE_INFINITY;
  }
}

const row = (story: string, said: string): void => void process.stdout.write(`| ${story} | ${said} |\n`);
const isSaid = (health: Health) => (story: Story) => story.health() === health;
const all = (names: readonly string[], result: Told) => new Map(names.map((name) => [name, result] as const));
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `t${i}`);
const shown = (count: number): string => (Number.isFinite(count) ? String(count) : `more than ${TOLD_MAX}`);
const middleAndMost = (counts: readonly number[], unit: string): string =>
  `${shown(quantile(counts, 0.5))} ${unit} (median), ${[0.9, 1].map((q) => shown(quantile(counts, q))).join(' and ')} in the worst tenth and the worst of ${counts.length} draws`;

process.stdout.write('| story | what the rules say |\n|---|---|\n');

/** Fails, and passes when the commit runs again ten minutes later. */
function failAndRerun(story: Story, i: number, tests: readonly string[] = [TEST]): void {
  const commit = `bad${i}`;
  story.run(all(tests, 'failed'), { commit, after: 10 * MINUTE_MS });
  story.run(all(tests, 'passed'), { commit, after: 2 * DAY_MS });
}
for (const passes of [3, 12, 50, 300]) {
  const alone = new Story(0).times(passes, (story) => story.run('passed'));
  row(
    `the only test of its job passes ${passes} times, then fails and passes when the commit runs again`,
    `commits until it is flaky: ${shown(alone.until(isSaid('flaky'), (story, i) => failAndRerun(story, i)))}`,
  );
}
const five = new Story(0)
  .times(30, (story) => story.run(all(names(5), 'passed')))
  .times(12, (story, i) => failAndRerun(story, i, names(5)));
row(
  'all five tests of a job fail and pass when the commit runs again, 12 times',
  `${names(5).filter((name) => five.health(name) === 'healthy').length} of 5 stay healthy`,
);

for (const perDay of [1, 4, 25]) {
  const after = DAY_MS / perDay;
  const story = new Story().times(60, (one) => one.run('passed', { after }));
  const failures = story.until(isSaid('broken'), (one) => one.run('failed', { after }));
  story.times(5 * perDay - failures, (one) => one.run('failed', { after }));
  const passes = story.until(isSaid('healthy'), (one) => one.run('passed', { after }));
  const more = story.until(
    (one) => isSurelyHealthy(one.belief()),
    (one) => one.run('passed', { after }),
  );
  row(
    `broken by a commit for five days; runs a day: ${perDay}; then fixed`,
    `failures until it is broken: ${shown(failures)}; passes until it is healthy: ${shown(passes)}, and surely: ${shown(passes + more)}`,
  );
}

const fresh = [1, 2, 4, 8].map((count) => {
  const { status, probability } = verdictOf(new Story().times(count, (story) => story.run('failed')).belief());
  return `${status} ${probability.toFixed(2)}`;
});
row('a new test that only fails, after 1, 2, 4 and 8 runs', fresh.join(', '));

const days = SEEDS.map((seed) => {
  const random = randomFrom(seed);
  return new Story()
    .times(30, (story) => story.run('passed', { after: DAY_MS }))
    .until(isSaid('flaky'), (story) => story.run(random() < 0.5 ? 'failed' : 'passed', { after: DAY_MS }));
});
row('begins to fail every other time, one run a day, never run again', `flaky after ${middleAndMost(days, 'days')}`);

for (const beside of [BESIDE, 0]) {
  const story = new Story(beside).times(20, (one) => one.run('passed'));
  const retries = story.until(isSaid('flaky'), (one) => one.run('retried').times(6, (two) => two.run('passed')));
  row(
    `passes on the second attempt in every seventh run, ${beside === 0 ? 'alone in its job' : `beside ${beside} tests`}`,
    `retries until it is flaky: ${shown(retries)}`,
  );
}

const shard = names(20);
const shardStory = new Story(380).times(40, (story) => story.run(all(shard, 'passed'))).run(all(shard, 'failed'));
row(
  'one shard of twenty dies, 20 of 400 tests fail',
  `${shard.filter((name) => shardStory.health(name) === 'healthy').length} of 20 stay healthy`,
);
const random = randomFrom(5);
const slow = names(300);
const slowStory = new Story(0).times(40, (story) => story.run(all(slow, 'passed')));
slowStory.times(6, (story) =>
  story.run(new Map(slow.map((name) => [name, random() < 0.03 ? 'failed' : 'passed'])), { after: HOUR_MS }),
);
row(
  'a slow day on which 3% of 300 tests time out in each of six runs',
  `${slow.filter((name) => slowStory.health(name) === 'healthy').length} of 300 stay healthy`,
);

for (const count of [30, 100, 300, 450])
  for (const perDay of [15, 4]) {
    const after = DAY_MS / perDay;
    const broken = names(count);
    const story = new Story(500 - count).times(60, (one) => one.run(all(broken, 'passed'), { after }));
    const runs = story.until(
      (one) => {
        const { belief } = judge(one.runs);
        return broken.every((name) => verdictOf(belief(name, one.job)).status === 'broken');
      },
      (one) => one.run(all(broken, 'failed'), { after }),
    );
    row(`a commit breaks ${count} of 500 tests; runs a day: ${perDay}`, `runs until all are broken: ${shown(runs)}`);
  }

for (const rate of [0.5, 0.2]) {
  const passes = SEEDS.map((seed) => {
    const draw = randomFrom(seed);
    return new Story()
      .times(20, (story) => story.run('passed'))
      .times(40, (story) => story.run(draw() < rate ? 'failed' : 'passed'))
      .until(isSaid('healthy'), (story) => story.run('passed'));
  });
  row(
    `flaky at ${100 * rate}% for ten days, four runs a day, then fixed`,
    `healthy after ${middleAndMost(passes, 'passes')}`,
  );
}
