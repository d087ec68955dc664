/** The list of repositories: what a credential sees of them, and how their tests are. */
import { expect, test } from 'bun:test';
import { at, setUpInsights } from '../support/insights.ts';

interface Listed {
  repositories: { owner: string; repository: string; tests: number; flaky_tests: number; quarantined_tests: number }[];
}

const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(
    fixture.run([
      { name: 'steady', at: at(3) },
      { name: 'shaky', at: at(3), isFlaky: true, failures: [{}] },
    ]),
    fixture.run([{ name: 'steady', at: at(2) }], { job_name: 'e2e' }),
  );
});

const listFor = async (token: string): Promise<Listed['repositories']> => {
  const response = await insights.app.request('/v1/repositories', { token });
  expect(response.status).toBe(200);
  return ((await response.json()) as Listed).repositories;
};

test('a key sees the repositories that it is for, and counts each test once', async () => {
  const { owner, name } = insights.fixture.repository;
  const quarantines = `${insights.fixture.base}/quarantines`;
  for (const branch of ['main', 'release/*'])
    await insights.app.request(quarantines, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_name: 'shaky', reason: '', branch }),
    });
  const another = insights.fixture.another();
  await another.ingest(another.run([{ name: 'elsewhere' }]));

  const ofOwner = await listFor(await insights.app.makeKey({ owner: owner.toUpperCase() }));
  expect(ofOwner.find(({ repository }) => repository === name)).toMatchObject({
    owner,
    tests: 2,
    flaky_tests: 1,
    quarantined_tests: 1,
  });
  expect(ofOwner.map(({ repository }) => repository)).toContain(another.repository.name);
  const ofOne = await listFor(await insights.app.makeKey({ owner, repositories: [name], scope: 'view' }));
  expect(ofOne.map(({ repository }) => repository)).toEqual([name]);
  expect(await listFor(await insights.app.makeKey({ owner: 'another' }))).toEqual([]);
});

test('those with the most flaky and broken tests come first', async () => {
  const listed = await listFor(insights.app.adminToken);
  const flaky = listed.map(({ flaky_tests }) => flaky_tests);
  expect(listed.length).toBeGreaterThan(1);
  expect(flaky.at(0)).toBe(Math.max(...flaky));
});
