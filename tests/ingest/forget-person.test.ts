/** The name of a person leaves both stores, and a pseudonym stands in its place. */
import { describe, expect, test } from 'bun:test';
import { v7 as uuid7 } from 'uuid';
import { z } from 'zod';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import { byService } from '../../src/domain/audit.ts';
import { forgetPeople } from '../../src/maintenance/forget-person.ts';
import { beginForgetting, findForgotten } from '../../src/postgres/forgotten-people.ts';
import { doerOf } from '../../src/postgres/repository-changes.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { labelled, logOf, makeEventsJob } from '../support/events.ts';
import { setUpApp } from '../support/ingest.ts';
import { until } from '../support/patience.ts';
import { uniqueRepository } from '../support/stores.ts';

const ingest = setUpApp();
let people = 0;
const newLogin = (): string => `octo.cat-${++people}-${uuid7().slice(-6)}`;

const pull = (login: string, number = 7) => ({
  ...{ number, id: number, title: 't', updated_at: '2026-11-20T10:00:00Z' },
  author: { id: 583231, login },
});

async function eventsBy(login: string) {
  const repository = uniqueRepository();
  const { stores, driver } = ingest;
  const job = makeEventsJob(
    repository,
    [
      labelled('one', { trigger: `@${login}`, metadata: { added: [login.toUpperCase(), `not ${login}`] } }),
      labelled('two', { trigger: '@other' }),
    ],
    { pull_requests: [pull(login)] },
  );
  await stores.producers.of(prEvents).add(job, uuid7());
  await driver.settle();
  return repository;
}

const forget = async (name: string, isForLater = false) => {
  const { db } = ingest.stores.postgres;
  const { pseudonym } = await beginForgetting(db, { name, isForLater }, byService('a test'), ingest.stores.clock.now());
  return pseudonym;
};
const work = (clickhouse: ClickHouse = ingest.stores.clickhouse) =>
  forgetPeople({ db: ingest.stores.postgres.db, clickhouse, clock: ingest.stores.clock });
const untilForgotten = (pseudonym: string) =>
  until(
    async () => {
      await work();
      const person = await findForgotten(ingest.stores.postgres.db, pseudonym);
      if (!person) throw new Error('there is no such person');
      return person;
    },
    ({ finishedAt }) => finishedAt !== null,
  );

const shown = z.object({ events: z.array(z.looseObject({ trigger: z.string(), metadata: z.unknown() })) });
/** The log shows what was received before now. */
async function eventsOf(repository: ReturnType<typeof uniqueRepository>) {
  ingest.stores.clock.at += 1_000;
  return shown.parse(await ingest.app.get(logOf(repository))).events;
}
const authorOf = async (name: string) => {
  const { rows } = await ingest.stores.postgres.pool.query(
    `select author_login, author_id from ci_insights.pull_requests p join ci_insights.repositories r on r.id = repository_id
     where r.name = $1`,
    [name],
  );
  return rows;
};

describe('the name of a forgotten person', () => {
  test('leaves events, pull requests, quarantines and the trail; texts that only hold it stay', async () => {
    const login = newLogin();
    const repository = await eventsBy(login);
    const { stores } = ingest;
    const { id } = await stores.repositories.record(repository);
    const by = doerOf({ kind: 'session', name: login, subject: login });
    const wanted = { testName: 'a', reason: 'r', branch: null };
    await stores.quarantines.create(id, wanted, by);
    const pseudonym = await forget(`@${login}`);
    const { changed, name } = await untilForgotten(pseudonym);
    expect(name).toBeNull();
    expect(changed).toMatchObject({ events: expect.any(Number), pull_requests: 1, quarantines: 1, audit: 1 });
    await ingest.driver.settle();
    const events = await eventsOf(repository);
    expect(JSON.stringify(events)).not.toMatch(new RegExp(`"@?${login}"`, 'i'));
    expect(events.map(({ trigger }) => trigger)).toEqual(
      expect.arrayContaining([`@${pseudonym}`, '@other', pseudonym]),
    );
    expect(JSON.stringify(events)).toContain(`not ${login}`);
    expect(await authorOf(repository.name)).toEqual([{ author_login: pseudonym, author_id: null }]);
    const { rows } = await stores.postgres.pool.query(
      `select 1 from ci_insights.audit where concat(actor_name, subject, object_name, before, after) ilike $1`,
      [`%${login}%`],
    );
    expect(rows).toEqual([]);
  });

  test('comes again with what arrives later, unless that was asked for', async () => {
    for (const isForLater of [false, true]) {
      const login = newLogin();
      const pseudonym = await forget(login, isForLater);
      await untilForgotten(pseudonym);
      const repository = await eventsBy(login);
      const expected = isForLater ? pseudonym : login;
      const events = await eventsOf(repository);
      expect(events.map(({ trigger }) => trigger)).toContain(`@${expected}`);
      expect(await authorOf(repository.name)).toEqual([
        { author_login: expected, author_id: isForLater ? null : '583231' },
      ]);
    }
  });

  test('is replaced by a next process when the first is cut off', async () => {
    const login = newLogin();
    const repository = await eventsBy(login);
    await ingest.driver.stop();
    const pseudonym = await forget(login);
    const away = {
      select: ingest.stores.clickhouse.select.bind(ingest.stores.clickhouse),
      command: () => Promise.reject(new Error('killed')),
    };
    await expect(work({ ...ingest.stores.clickhouse, ...away } as ClickHouse)).rejects.toThrow('killed');
    expect((await findForgotten(ingest.stores.postgres.db, pseudonym))?.name).toBe(login);
    ingest.driver.start();
    const { changed } = await untilForgotten(pseudonym);
    expect(changed).toMatchObject({ events: 1, pull_requests: 1 });
    const events = await eventsOf(repository);
    expect(events.map(({ trigger }) => trigger)).toContain(`@${pseudonym}`);
    expect(JSON.stringify(events)).not.toMatch(new RegExp(`"@?${login}"`, 'i'));
  });
});
