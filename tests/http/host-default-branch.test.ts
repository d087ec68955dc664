import { describe, expect, test } from 'bun:test';
import { TEST_NOW } from '../support/clock.ts';
import { MINUTE, READER, setUpHostApp } from '../support/host-app.ts';
import { until } from '../support/patience.ts';

const t = setUpHostApp();

describe('the default branch', () => {
  const find = (name = t.path.name) => t.stores.repositories.find(t.path.owner, name);
  const record = (name = t.path.name) =>
    t.stores.repositories.record({ host: 'github.com', owner: t.path.owner, name });
  /** It is learned outside of requests; this waits for it. */
  const expectLearned = async (branch: string, name = t.path.name): Promise<void> => {
    const learned = await until(
      () => find(name),
      (found) => found?.defaultBranch === branch,
    );
    expect(learned).toMatchObject({ defaultBranchSource: 'host' });
  };

  test('of a recorded repository is learned from the host, which overrules uploads', async () => {
    await t.stores.repositories.learnDefaultBranch(await record(), 'from-upload', 'payload');
    t.host.setDefaultBranch(t.fullName, 'trunk');
    expect(await t.statusOf(READER)).toBe(200);
    await expectLearned('trunk');
  });

  test('is learned again when the host reports another one', async () => {
    await record();
    expect(await t.statusOf(READER)).toBe(200);
    await expectLearned('main');
    t.host.setDefaultBranch(t.fullName, 'trunk');
    t.clock.set(TEST_NOW + 5 * MINUTE);
    expect(await t.statusOf(READER)).toBe(200);
    await expectLearned('trunk');
  });

  test('is learned even if the repository is recorded only after the host was asked', async () => {
    expect(await t.statusOf(READER)).toBe(200);
    expect(await find()).toBeUndefined();
    await record();
    expect(await t.statusOf(READER)).toBe(200);
    await expectLearned('main');
    expect(t.host.count(`/repos/${t.fullName}`)).toBe(1);
  });

  test('is not overruled if someone set it, and a repository that was never written to is not recorded', async () => {
    await t.stores.repositories.set(await record(), { defaultBranch: 'release' }, 'a test');
    const add = (name: string): string => {
      t.host.addRepository(`${t.path.owner}/${name}`);
      t.host.allow('rita', `${t.path.owner}/${name}`, { pull: true, push: false });
      return `${t.path.owner}/${name}`;
    };
    const unwritten = `${t.path.name}-unwritten`;
    const later = `${t.path.name}-later`;
    await record(later);
    for (const name of [t.fullName, add(unwritten), add(later)])
      expect(await t.statusOf(READER, t.probe('read', name))).toBe(200);
    // The last request is learned, so the two before it had enough time.
    await expectLearned('main', later);
    expect(await find()).toMatchObject({ defaultBranch: 'release', defaultBranchSource: 'setting' });
    expect(await find(unwritten)).toBeUndefined();
  });
});
