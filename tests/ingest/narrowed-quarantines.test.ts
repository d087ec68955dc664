/** Automatic quarantines of a test that runs in the legs of a matrix, on real stores. */
import { expect, test } from 'bun:test';
import { axisScopeWords } from '../../src/domain/axes-in-words.ts';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { uniqueRepository } from '../support/stores.ts';
import { runOf } from '../support/verdicts.ts';

const ingest = setUpIngest();

const OTHERS = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`other ${i}`, 'passed' as const]));
const LEGS = ['linux', 'windows'].flatMap((os) => ['3.11', '3.12', '3.13'].map((python) => ({ os, python })));
type Leg = (typeof LEGS)[number];

/** Commit after commit in every leg, two in a day. */
class Matrix {
  readonly repository = uniqueRepository();
  readonly id = repositoryIdOf(this.repository.host, this.repository.owner, this.repository.name);
  #commits = 0;
  #at = TEST_NOW - 25 * DAY_MS;

  static async start(): Promise<Matrix> {
    const { stores } = ingest;
    const matrix = new Matrix();
    stores.clock.set(matrix.#at);
    const recorded = await stores.repositories.record(matrix.repository);
    await stores.repositories.set(recorded, { autoQuarantine: 'flaky+broken' }, 'ann');
    return matrix;
  }

  async commits(count: number, isFailed: (leg: Leg) => boolean): Promise<void> {
    const jobs = Array.from({ length: count }, () => {
      this.#at += 12 * HOUR_MS;
      const commit = ++this.#commits;
      return LEGS.map((leg, place) => {
        const at = this.#at + place * 60_000;
        const sums = isFailed(leg) ? ('failed' as const) : ('passed' as const);
        return runOf({
          repository: this.repository,
          runId: `${commit}-${place}`,
          run: { commit: `commit of ${commit}`, axes: leg },
          at,
          receivedAt: at,
          results: { ...OTHERS, sums },
          message: 'no sum',
        });
      });
    });
    ingest.stores.clock.set(this.#at + HOUR_MS);
    await ingest.driver.ingest(...jobs.flat());
  }

  async open() {
    const { quarantines } = await ingest.stores.quarantines.snapshot(this.id);
    return quarantines;
  }
}

const isWindows = ({ os }: Leg): boolean => os === 'windows';

test('a test that fails on one value of an axis only is quarantined for it, and says so', async () => {
  const matrix = await Matrix.start();
  await matrix.commits(6, () => false);
  await matrix.commits(8, isWindows);
  const [quarantine, ...others] = await matrix.open();
  expect(others).toEqual([]);
  expect(quarantine).toMatchObject({ source: 'auto', branch: null, jobName: null, axes: { os: ['windows'] } });
  expect(quarantine?.reason).toEndWith(' Fails only with os=windows.');
  await ingest.driver.verify();
});

test('one that fails in every leg is quarantined for every leg', async () => {
  const matrix = await Matrix.start();
  await matrix.commits(6, () => false);
  await matrix.commits(8, () => true);
  expect(await matrix.open()).toMatchObject([{ axes: null, pipelineName: null, jobName: null }]);
});

test('when it fails elsewhere too, a second quarantine covers that, unless a person has narrowed the first', async () => {
  const matrix = await Matrix.start();
  await matrix.commits(6, () => false);
  await matrix.commits(8, isWindows);
  expect(await matrix.open()).toHaveLength(1);
  await matrix.commits(10, () => true);
  const [first, second, ...others] = await matrix.open();
  expect(others).toEqual([]);
  expect(first?.axes).toEqual({ os: ['windows'] });
  expect(second).toMatchObject({ source: 'auto', axes: null });

  const decided = await Matrix.start();
  await decided.commits(6, () => false);
  await decided.commits(8, isWindows);
  const [made] = await decided.open();
  if (!made) throw new Error('nothing is quarantined');
  const axes = { os: ['windows'], python: ['3.13'] };
  await ingest.stores.quarantines.update(decided.id, made.id, { axes }, { name: 'ann', actor: null });
  await decided.commits(10, () => true);
  expect(await decided.open()).toMatchObject([{ id: made.id, axes }]);
});

test('results that come commit by commit: it is quarantined for every leg first, and narrowed once that is sure', async () => {
  const matrix = await Matrix.start();
  await matrix.commits(6, () => false);
  const scopes: (string | null)[] = [];
  for (let commit = 1; commit <= 10; commit++) {
    await matrix.commits(1, isWindows);
    scopes.push(...(await matrix.open()).map(({ axes }) => axes && axisScopeWords(axes)));
  }
  expect(scopes).toContain(null);
  const [quarantine, ...others] = await matrix.open();
  expect(others).toEqual([]);
  expect(quarantine).toMatchObject({ axes: { os: ['windows'] }, isScopeChosen: false });
  expect(quarantine?.reason).toEndWith(' Fails only with os=windows.');
  await ingest.driver.verify();
});
