/** Places to open on the pages of the web application, and what they show beside executions. */
import { z } from 'zod';
import { causesSchema, type Places, runsSchema } from '../support/pages.ts';
import { ownerOf, repositoryName } from './data.ts';
import { base } from './reads.ts';
import type { BenchService } from './service.ts';

const DAY_MS = 86_400_000;
/** In each repository. */
const QUARANTINES = 100;
/** Tests that people look at. */
const TESTS_MAX = 1_000;

/** @param isAboutLog whether the repository must be the one with many events */
export type PlacesFor = (isAboutLog: boolean) => Places;

/** A test that failed on the default branch, and where it did first. */
interface Failed {
  repository: string;
  testId: string;
  name: string;
  commit: string;
}

/** The repository whose log has the events of `fillLog`. */
const LOGGED = repositoryName(0);

/**
 * Returns other places each time: of the next repository, and in it of another test, commit, run and pull request.
 * Quarantines tests of repositories without a quarantine.
 *
 * @param days how old runs may be
 */
export async function placesIn(
  service: BenchService,
  { seed, days }: { seed: number; days: number },
): Promise<PlacesFor> {
  const failed = Map.groupBy(await failedTests(service, seed), ({ repository }) => repository);
  // The newest runs may be probes of `bun run bench`, without a commit.
  const window = `start=${timeBefore(days)}&end=${timeBefore(1)}`;
  const all = new Map<string, Places[]>();
  for (const [name, tests] of failed) {
    await quarantineSome(service, name, tests);
    const { runs } = runsSchema.parse(await answerOf(service, `${base(name)}/runs?per_page=100&${window}`));
    const pulls = runs.flatMap(({ pull_request: pull }) => pull ?? []);
    const listed = causesSchema.parse(await answerOf(service, `${base(name)}/causes?per_page=100`));
    const causes = listed.causes.map(({ cause_id: id }) => id);
    if (pulls.length === 0) throw new Error(`${name} has no pull request`);
    all.set(
      name,
      tests.map(({ testId, commit }, i) => {
        const [run, pull] = [runs[i % runs.length]?.id ?? '', pulls[i % pulls.length] ?? 0];
        return { owner: ownerOf, name, testId, commit, run, pull, cause: causes[i % causes.length] ?? '' };
      }),
    );
  }
  const names = [...all.keys()];
  let turn = 0;
  return (isAboutLog) => {
    const places = all.get(isAboutLog ? LOGGED : (names[turn % names.length] ?? '')) ?? [];
    const place = places[Math.floor(turn++ / names.length) % places.length];
    if (!place) throw new Error('no test has failed on the default branch');
    return place;
  };
}

const timeBefore = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

const failedTests = (service: BenchService, seed: number): Promise<Failed[]> =>
  service.rows<Failed & Record<string, unknown>>(
    `select r.name as repository, t.test_id as "testId", t.name, t.first_failed_commit as commit
     from ci_insights.tests t join ci_insights.repositories r on r.id = t.repository_id
     where t.first_failed_commit <> '' order by md5($1 || t.test_id::text) limit ${TESTS_MAX}`,
    [String(seed)],
  );

async function quarantineSome(service: BenchService, repository: string, tests: readonly Failed[]): Promise<void> {
  const address = `${base(repository)}/quarantines`;
  const { size } = z.object({ size: z.number() }).parse(await answerOf(service, `${address}?narrowed=include`));
  if (size > 0) return;
  for (const [i, { name }] of tests.slice(0, QUARANTINES).entries()) {
    const body = { test_name: name, reason: `fails since ${i} days`, owner: `team ${i % 7}`, branch: 'release/*' };
    const headers = { 'content-type': 'application/json' };
    const answer = await service.request(address, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${name} is not quarantined: ${await answer.text()}`);
  }
}

async function answerOf(service: BenchService, path: string): Promise<unknown> {
  const answer = await service.request(path);
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return answer.json();
}
