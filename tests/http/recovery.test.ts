/** How far a test is from being surely healthy, over REST: what it foretells comes true when the passes arrive. */
import { describe, expect, test } from 'bun:test';
import { repositoryIdOf, testIdOf } from '../../src/domain/identity.ts';
import type { Explanation } from '../../src/explain/explanation-schema.ts';
import type { Recovery } from '../../src/explain/recovery-schema.ts';
import { at, beside, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights();
const EVERY_HOURS = 3;
const LINUX = { os: 'linux' };
const WINDOWS = { os: 'windows' };

/** Runs of one test, one every three hours, each on a new commit unless it is named. */
class Course {
  readonly fixture: InsightsFixture = insights.fixture.another();
  #hours = 600;
  #commits = 0;

  constructor(
    private readonly name: string,
    private readonly legs: readonly ({ os: string } | undefined)[] = [undefined],
  ) {}

  /** `.` passes, `F` fails, `X` fails with everything else; in `failing` legs only, the others pass. */
  async run(results: string, failing = this.legs, commit?: string): Promise<void> {
    const jobs = [...results].flatMap((result) => {
      this.#hours -= EVERY_HOURS;
      const on = commit ?? `m${++this.#commits}`;
      const others = beside(this.#hours).map((one) => ({ ...one, ...(result === 'X' && FAILED) }));
      return this.legs.map((axes) => {
        const own = { name: this.name, at: at(this.#hours), ...(result !== '.' && failing.includes(axes) && FAILED) };
        return this.fixture.run([own, ...others], { commit: on, run_id: `r${this.#hours}`, ...(axes && { axes }) });
      });
    });
    await this.fixture.ingest(...jobs);
  }

  get newestCommit(): string {
    return `m${this.#commits}`;
  }

  recovery = (query: Record<string, string> = {}): Promise<Recovery> =>
    insights.app.get<Recovery>(this.fixture.test(this.name, '/recovery', query));
}
const FAILED = { status: 'failed' as const, failures: [{ type: 'OSError', message: 'no' }] };

describe('the recovery of a test', () => {
  test('that a commit broke in one leg, and another fixed, needs a few passes in that leg, and names the fix', async () => {
    const course = new Course('pays', [LINUX, WINDOWS]);
    await course.run('.'.repeat(60));
    await course.run('FFFFFF', [WINDOWS]);
    expect(await course.recovery()).toMatchObject({
      health_status: 'broken',
      confidence: 0.97,
      is_surely_healthy: false,
      probable_fix: null,
    });
    const brokenOn = course.newestCommit;
    await course.run('.');
    const recovery = await course.recovery();
    const [linux, windows] = [LINUX, WINDOWS].map(({ os }) => recovery.legs.find(({ axes }) => axes.os === os));
    expect(linux).toMatchObject({ health_status: 'healthy', clean_passes_needed: 0, probable_fix: null });
    const needed = windows?.clean_passes_needed ?? 0;
    expect(windows).toMatchObject({ health_status: 'healthy', clean_passes: 1 });
    expect(needed).toBeWithin(1, 10);
    expect(recovery).toMatchObject({
      is_complete: true,
      is_surely_healthy: false,
      clean_passes_needed: needed,
      clean_runs_needed: needed,
      probable_fix: { commit: course.newestCommit, last_failing_commit: brokenOn },
    });
    expect(recovery.probable_fix?.probability).toBeGreaterThan(0.8);
    if (needed > 1) await course.run('.'.repeat(needed - 1));
    expect(await course.recovery()).toMatchObject({ is_surely_healthy: false, clean_passes_needed: 1 });
    await course.run('.');
    expect(await course.recovery()).toMatchObject({
      is_surely_healthy: true,
      clean_passes_needed: 0,
      clean_runs_needed: 0,
      probable_fix: { commit: recovery.probable_fix?.commit },
    });
  });

  test('that was flaky needs as many passes as it says, by any confidence, and is less sure which commit fixed it', async () => {
    const course = new Course('adds');
    await course.run(`${'.'.repeat(20)}F.F..FF..F.FF.F`);
    const failedOn = course.newestCommit;
    expect(await course.recovery()).toMatchObject({ health_status: 'flaky', probable_fix: null });
    await course.run('.');
    const fixedOn = course.newestCommit;
    const [less, usual] = [await course.recovery({ confidence: '0.8' }), await course.recovery()];
    const needed = less.clean_passes_needed ?? 0;
    expect(needed).toBeWithin(2, 80);
    expect(usual.clean_passes_needed ?? Number.POSITIVE_INFINITY).toBeGreaterThan(needed);
    const explained = await insights.app.get<Explanation>(course.fixture.test('adds', '/explanation'));
    expect(explained.identities[0]?.clean_passes_needed).toBe(usual.clean_passes_needed);
    await course.run('.'.repeat(needed - 1));
    expect(await course.recovery({ confidence: '0.8' })).toMatchObject({
      is_surely_healthy: false,
      clean_passes_needed: 1,
    });
    await course.run('.');
    const after = await course.recovery({ confidence: '0.8' });
    expect(after).toMatchObject({ is_surely_healthy: true, clean_passes_needed: 0 });
    expect(after.legs[0]?.clean_passes).toBe(needed + 1);
    expect(after.probable_fix).toMatchObject({ commit: fixedOn, last_failing_commit: failedOn });
    expect(after.probable_fix?.probability).toBeWithin(0.2, 0.7);
  });

  test('names no fix of what its run caused, nor where the commit that passes had failed', async () => {
    const course = new Course('subtracts');
    await course.run(`${'.'.repeat(60)}X.`);
    expect(await course.recovery()).toMatchObject({ is_surely_healthy: true, probable_fix: null });
    const outside = new Course('divides');
    await outside.run('.'.repeat(60));
    await outside.run('FFF', undefined, 'same');
    await outside.run('.', undefined, 'same');
    expect(await outside.recovery()).toMatchObject({ probable_fix: null });
  });

  test('says from when on a quarantine may have recovered', async () => {
    const course = new Course('multiplies');
    await course.run('.'.repeat(60));
    const { id, repository } = course.fixture;
    expect(id).toBe(repositoryIdOf(repository.host, repository.owner, repository.name));
    const wanted = { testName: 'multiplies', reason: 'to see', branch: null };
    const made = await course.fixture.stores.quarantines.create(id, wanted, { name: 'ann', actor: null });
    const recoversFrom = iso((made?.createdAt.getTime() ?? 0) + 3 * 24 * 3_600_000);
    expect(await course.recovery()).toMatchObject({
      test_id: testIdOf(id, 'multiplies'),
      is_surely_healthy: true,
      quarantines: [{ quarantine_id: made?.id, is_recovered: false, recovers_from: recoversFrom }],
    });
  });

  test('takes a confidence from 0.5 to 0.99; an unknown test is 404', async () => {
    const { app } = insights;
    const course = new Course('rounds');
    await course.run('.');
    const statusOf = async (confidence: string): Promise<number> =>
      (await app.request(course.fixture.test('rounds', '/recovery', { confidence }))).status;
    expect(await Promise.all(['0.49', '0.991', '97', 'high', '-0.9', '1e-1'].map(statusOf))).toEqual([
      ...Array.from({ length: 6 }, () => 422),
    ]);
    expect(await Promise.all(['0.5', '0.99', '0.970'].map(statusOf))).toEqual([200, 200, 200]);
    expect((await app.request(course.fixture.test('never seen', '/recovery'))).status).toBe(404);
    expect((await course.recovery()).clean_passes_needed).toBe(44);
  });
});
