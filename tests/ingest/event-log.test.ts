/** From producers and changes to the log: each event once and in order, whatever crashes on the way. */
import { describe, expect, test } from 'bun:test';
import { and, eq } from 'drizzle-orm';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import { byService } from '../../src/domain/audit.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import { doerOf } from '../../src/postgres/repository-changes.ts';
import { pullRequests } from '../../src/postgres/schema.ts';
import { compress } from '../../src/queue/encoding.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { Relay } from '../../workers/relay.ts';
import {
  type EventInput,
  followPages,
  type JobInput,
  keyOfShown,
  labelled,
  logOf,
  makeEventsJob,
  type ShownEvent,
} from '../support/events.ts';
import { setUpApp, untilRelayed } from '../support/ingest.ts';
import { InsightsFixture } from '../support/insights.ts';
import { uniqueRepository } from '../support/stores.ts';

const BY = doerOf(byService('a test'));
const service = setUpApp();

let jobs = 0;
const send = (job: JobInput) => service.stores.producers.of(prEvents).add(job, `test-${++jobs}`);

/** All events of a repository, newest first; the clock has to be past them. */
async function eventsOf(repository: { owner: string; name: string }, query = ''): Promise<ShownEvent[]> {
  service.stores.clock.at += 1;
  return (await followPages(service.app, logOf(repository, `?per_page=100${query}`), 'next')).flat();
}

describe('pr-events jobs', () => {
  test('an event is shown as it was sent, with null for known fields that were not sent', async () => {
    const repository = uniqueRepository();
    await send(
      makeEventsJob(repository, [
        {
          key: 'a',
          type: 'action.queue.leave',
          trigger: 'Rule: queue',
          pull_request: 12,
          base_ref: 'main',
          metadata: { queue_name: 'default', merged: false, reason: 'checks \\ "failed"\n😀', colour: 'red' },
        },
      ]),
    );
    await service.driver.settle();
    const receivedAt = new Date(service.stores.clock.now()).toISOString();
    expect(await eventsOf(repository)).toMatchObject([
      {
        id: expect.any(Number),
        received_at: receivedAt,
        trigger: 'Rule: queue',
        repository: repository.name,
        pull_request: 12,
        base_ref: 'main',
        type: 'action.queue.leave',
        metadata: {
          queue_name: 'default',
          branch: null,
          partition_name: null,
          position: null,
          queued_at: null,
          session_id: null,
          reason: 'checks \\ "failed"\n😀',
          merged: false,
          seconds_waiting_for_schedule: null,
          seconds_waiting_for_freeze: null,
          colour: 'red',
        },
      },
    ]);
  });

  test('resent, at once or later, whole or split differently, an event counts once and keeps its id', async () => {
    const repository = uniqueRepository();
    const events = Array.from({ length: 30 }, (_, i) => labelled(`event ${i}`));
    await Promise.all([1, 2, 3].map(() => send(makeEventsJob(repository, events))));
    await service.driver.settle();
    const first = await eventsOf(repository);
    expect(first.map(keyOfShown).sort()).toEqual(events.map(({ key }) => key).sort());
    service.stores.clock.at += 60_000;
    await Promise.all([
      send(makeEventsJob(repository, events.slice(10))),
      send(makeEventsJob(repository, events.slice(0, 20))),
    ]);
    await service.driver.settle();
    expect(await eventsOf(repository)).toEqual(first);
  });

  test('the same key in another repository is another event', async () => {
    const [one, other] = [uniqueRepository(), uniqueRepository()];
    for (const repository of [one, other]) await send(makeEventsJob(repository, [labelled('same')]));
    await service.driver.settle();
    for (const repository of [one, other]) expect(await eventsOf(repository)).toHaveLength(1);
  });

  test('events of one job keep their order, and ids increase with times', async () => {
    const repository = uniqueRepository();
    for (let part = 0; part < 5; part++) {
      await send(
        makeEventsJob(
          repository,
          Array.from({ length: 20 }, (_, i) => labelled(`${part}-${i}`)),
        ),
      );
      await service.driver.settle();
      service.stores.clock.at += part % 2;
    }
    const events = (await eventsOf(repository)).reverse();
    expect(events.map(keyOfShown)).toEqual(Array.from({ length: 100 }, (_, i) => `${Math.floor(i / 20)}-${i % 20}`));
    for (const [i, event] of events.entries()) {
      expect(Number.isSafeInteger(event.id)).toBe(true);
      const before = events[i - 1];
      if (!before) continue;
      expect(event.id).toBeGreaterThan(before.id);
      expect(event.received_at >= before.received_at).toBe(true);
    }
  });

  test('a clock that is set back makes no event older than the one before it', async () => {
    const repository = uniqueRepository();
    await send(makeEventsJob(repository, [labelled('first')]));
    await service.driver.settle();
    const at = service.stores.clock.now();
    service.stores.clock.at -= 5_000;
    await send(makeEventsJob(repository, [labelled('second')]));
    await service.driver.settle();
    service.stores.clock.at = at;
    expect((await eventsOf(repository)).map(keyOfShown)).toEqual(['second', 'first']);
  });

  const bad: [string, Partial<EventInput>, string][] = [
    ['a type that there is none of', { type: 'action.dance' }, 'there is no event type "action.dance"'],
    ['metadata of another shape', { metadata: { added: 'one' } }, 'metadata of action.label'],
  ];
  test.each(bad)(
    '%s goes to the dead letters with the reason, the other events of the job do not',
    async (_, wrong, reason) => {
      const repository = uniqueRepository();
      await send(makeEventsJob(repository, [labelled('good'), labelled('bad', wrong), labelled('also good')]));
      await service.driver.settle();
      expect((await eventsOf(repository)).map(keyOfShown)).toEqual(['also good', 'good']);
      const letter = (await service.stores.deadLetters.list()).at(-1);
      expect(letter).toMatchObject({ queue: 'pr-events', reason: expect.stringContaining(`event 1 (bad): ${reason}`) });
      // Replayed, it adds nothing twice.
      await service.stores.producers
        .of(prEvents)
        .addAgain(letter?.jobId ?? '', await service.stores.deadLetters.payload(letter?.id ?? ''));
      await service.driver.settle();
      expect(await eventsOf(repository)).toHaveLength(2);
    },
  );

  test('a payload that is not a job becomes a dead letter, whole', async () => {
    const before = (await service.stores.deadLetters.list()).length;
    for (const data of [
      { v: 2 },
      'text',
      { v: 1, enc: 'zstd', b: 'AAAA' },
      compress({ v: 1, repository: { owner: '..' } }),
    ])
      await service.stores.producers.of(prEvents).addAgain(`bad-${++jobs}`, data);
    await service.driver.settle();
    expect((await service.stores.deadLetters.list()).length).toBe(before + 4);
  });

  test('the older name of a type is stored as the newer one', async () => {
    const repository = uniqueRepository();
    await send(
      makeEventsJob(repository, [labelled('a', { type: 'action.github_actions', metadata: { workflow: 'ci.yml' } })]),
    );
    await service.driver.settle();
    expect(await eventsOf(repository, '&event_type=action.github_actions')).toMatchObject([
      { type: 'action.vcs_actions' },
    ]);
    expect(await eventsOf(repository, '&event_type=action.vcs_actions')).toHaveLength(1);
  });
});

describe('pull requests', () => {
  const version = (number: number, updated: string, rest: Record<string, unknown> = {}) => ({
    number,
    id: 1_000 + number,
    title: `title of ${updated}`,
    author: { id: 5, login: 'octocat' },
    base_ref: 'main',
    head_ref: `branch-${number}`,
    updated_at: updated,
    ...rest,
  });
  const stored = async (repositoryId: string, number: number) => {
    const { db } = service.stores.postgres;
    const isThis = and(eq(pullRequests.repositoryId, repositoryId), eq(pullRequests.number, number));
    return (await db.select().from(pullRequests).where(isThis))[0];
  };

  test('the later of two versions is kept, in whatever order they arrive, and a merge is not lost', async () => {
    const early = version(1, '2026-11-20T10:00:00Z');
    const late = version(1, '2026-11-20T11:00:00+00:00', { merge_commit: 'abc', author: null });
    for (const order of [
      [early, late],
      [late, early],
    ]) {
      const repository = uniqueRepository();
      for (const one of order) {
        await send(makeEventsJob(repository, [], { pull_requests: [one] }));
        await service.driver.settle();
      }
      const { id = '' } = (await service.stores.repositories.find(repository.owner, repository.name)) ?? {};
      expect(await stored(id, 1)).toMatchObject({
        title: late.title,
        mergeCommit: 'abc',
        authorId: null,
        baseRef: 'main',
      });
    }
  });

  test('the pull request that was merged as the commit of a first failure is part of the test', async () => {
    const fixture = new InsightsFixture(service.stores, service.driver);
    const failing = [{ name: 'broke', status: 'failed' as const, failures: [{ message: 'no' }] }];
    await fixture.ingest(fixture.run(failing, { commit: 'merge-of-3' }));
    const shown = () => service.app.get<{ first_failure_pull: unknown }>(fixture.test('broke'));
    expect((await shown()).first_failure_pull).toBeNull();
    const pull = version(3, '2026-11-20T10:00:00Z', { merge_commit: 'merge-of-3' });
    await send(makeEventsJob(fixture.repository, [], { pull_requests: [pull] }));
    await service.driver.settle();
    expect((await shown()).first_failure_pull).toEqual({
      id: 1_003,
      number: 3,
      title: pull.title,
      user: { id: 5, login: 'octocat' },
    });
    await send(
      makeEventsJob(fixture.repository, [], {
        pull_requests: [{ ...pull, author: null, updated_at: '2026-11-20T12:00:00Z' }],
      }),
    );
    await service.driver.settle();
    expect((await shown()).first_failure_pull).toMatchObject({ user: { id: 10_137, login: 'ghost' } });
  });

  test('the deletion of a branch is an event on its merged pull request, and on no other', async () => {
    const repository = uniqueRepository();
    const merged = version(1, '2026-11-20T10:00:00Z', { merge_commit: 'abc' });
    const open = version(2, '2026-11-20T10:00:00Z');
    const deleted_branches = ['branch-1', 'branch-2', 'never-seen'].map((branch) => ({
      key: `deleted ${branch}`,
      branch,
      trigger: '@octocat',
    }));
    await send(makeEventsJob(repository, [], { pull_requests: [merged, open], deleted_branches }));
    await service.driver.settle();
    expect(await eventsOf(repository)).toMatchObject([
      { type: 'action.delete_head_branch', pull_request: 1, base_ref: 'main', metadata: { branch: 'branch-1' } },
    ]);
  });

  test('the host says which branch is the default, and a setting overrides it', async () => {
    const repository = uniqueRepository();
    const defaultBranch = async () =>
      (await service.stores.repositories.find(repository.owner, repository.name))?.defaultBranch;
    await send(makeEventsJob(repository, [], { default_branch: 'trunk' }));
    await service.driver.settle();
    expect(await defaultBranch()).toBe('trunk');
    const recorded = await service.stores.repositories.record(repository);
    await service.stores.repositories.set(recorded, { defaultBranch: 'develop' }, 'test');
    await send(makeEventsJob(repository, [], { default_branch: 'trunk' }));
    await service.driver.settle();
    expect(await defaultBranch()).toBe('develop');
  });
});

describe('renamed repositories', () => {
  test('keep their id and everything stored, and the old path is free for another repository', async () => {
    const [old, renamed] = [uniqueRepository(), uniqueRepository()];
    await send(makeEventsJob(old, [labelled('before')]));
    await service.driver.settle();
    const { id } = (await service.stores.repositories.find(old.owner, old.name)) ?? {};
    // Told twice, as hosts do after a time-out.
    for (const key of ['after', 'once more'])
      await send(makeEventsJob(renamed, [labelled(key)], { renamed_from: { owner: old.owner, name: old.name } }));
    await service.driver.settle();
    expect((await service.stores.repositories.find(renamed.owner, renamed.name))?.id).toBe(id ?? 'none');
    expect(await service.stores.repositories.find(old.owner, old.name)).toBeUndefined();
    const sent = await eventsOf(renamed, '&not_event_type=repository.renamed');
    expect(sent.map(keyOfShown).sort()).toEqual(['after', 'before', 'once more']);
    expect((await eventsOf(renamed)).map(({ repository }) => repository)).toEqual(Array(4).fill(renamed.name));
    expect(await eventsOf(renamed, '&event_type=repository.renamed')).toMatchObject([
      { trigger: 'repository host', metadata: { before: { name: old.name }, after: { name: renamed.name } } },
    ]);

    await send(makeEventsJob(old, [labelled('of another one')]));
    await service.driver.settle();
    const another = await service.stores.repositories.find(old.owner, old.name);
    expect(another?.id).toBeString();
    expect(another?.id).not.toBe(id ?? '');
    expect((await eventsOf(old)).map(keyOfShown)).toEqual(['of another one']);
  });

  test('stay at their path when another is recorded at the new one', async () => {
    const [one, other] = [uniqueRepository(), uniqueRepository()];
    for (const repository of [one, other]) await send(makeEventsJob(repository, [labelled(repository.name)]));
    await service.driver.settle();
    expect(await service.stores.repositories.rename(one, other, BY)).toBe('taken');
    await send(makeEventsJob(other, [], { renamed_from: { owner: one.owner, name: one.name } }));
    await service.driver.settle();
    for (const repository of [one, other])
      expect((await eventsOf(repository)).map(keyOfShown)).toEqual([repository.name]);
    expect(await service.stores.repositories.rename(uniqueRepository(), one, BY)).toBeUndefined();
  });
});

describe('changes and their events', () => {
  test('the life of a quarantine is two events with the actor, and a refused change is none', async () => {
    const repository = uniqueRepository();
    const base = `/v1/ci/${repository.owner}/repositories/${repository.name}/quarantines`;
    const token = await service.app.makeKey({ name: 'pipeline' });
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ test_name: 'a', reason: 'clock', branch: 'main' });
    const post = () => service.app.request(base, { method: 'POST', token, headers, body });
    const { id } = (await (await post()).json()) as { id: string };
    expect((await post()).status).toBe(409);
    const listed = await service.app.get<{ quarantined_tests: { test_id: string }[] }>(base);
    expect((await service.app.request(`${base}/${id}`, { method: 'DELETE', token })).status).toBe(204);
    expect((await service.app.request(`${base}/${id}`, { method: 'DELETE', token })).status).toBe(404);
    await service.driver.settle();
    const metadata = {
      quarantine_id: id,
      test_id: listed.quarantined_tests[0]?.test_id,
      test_name: 'a',
      branch: 'main',
      reason: 'clock',
      source: 'manual',
      health_status_at_event: null,
    };
    const common = { trigger: 'pipeline', pull_request: null, base_ref: null };
    const by = { type: 'application', id: expect.any(String), name: 'pipeline' };
    const created_at = expect.any(String);
    const original_quarantine = { source: 'manual', reason: 'clock', branch: 'main', created_at };
    expect(await eventsOf(repository)).toMatchObject([
      { type: 'test.dequarantined', ...common, metadata: { ...metadata, original_quarantine, dequarantined_by: by } },
      { type: 'test.quarantined', ...common, metadata: { ...metadata, quarantined_by: by } },
    ]);
  });

  test('switching auto-quarantine on, to another mode and off are three events; setting the same mode is none', async () => {
    const repository = uniqueRepository();
    const recorded = await service.stores.repositories.record(repository);
    for (const autoQuarantine of ['off', 'flaky', 'flaky', 'flaky+broken', 'off'] as const)
      await service.stores.repositories.set(recorded, { autoQuarantine }, 'ci-insights repos set');
    await service.driver.settle();
    const by = { type: 'application', id: null, name: 'ci-insights repos set' };
    const at = new Date(service.stores.clock.now()).toISOString();
    const events = await eventsOf(repository);
    expect(events.map(({ type, metadata }) => [type, metadata])).toMatchObject([
      [
        'ci_insights.auto_quarantine.disabled',
        { mode: 'off', previous_mode: 'flaky+broken', disabled_by: by, disabled_at: at },
      ],
      [
        'ci_insights.auto_quarantine.modified',
        {
          ...{ mode: 'flaky+broken', previous_mode: 'flaky', updated_by: by, updated_at: at },
          auto_quarantine_config_attributes_before: { ignore_broken_on_default_branch: true },
          auto_quarantine_config_attributes_after: { ignore_broken_on_default_branch: false },
        },
      ],
      [
        'ci_insights.auto_quarantine.enabled',
        {
          ...{ mode: 'flaky', previous_mode: 'off', enabled_by: by, enabled_at: at },
          auto_quarantine_config_attributes: { ignore_broken_on_default_branch: true },
        },
      ],
    ]);
  });

  test('a change that is rolled back leaves no event', async () => {
    const repository = uniqueRepository();
    const { id } = await service.stores.repositories.record(repository);
    const failing = service.stores.postgres.db.transaction(async (tx) => {
      const { recordEvents } = await import('../../src/postgres/outbox.ts');
      const { newEvent } = await import('../../src/domain/events.ts');
      await recordEvents(tx, id, [newEvent('action.refresh', {}, { trigger: 'test' })], service.stores.clock.now());
      throw new Error('no');
    });
    expect(failing).rejects.toThrow('no');
    await failing.catch(() => {});
    await service.driver.settle();
    expect(await eventsOf(repository)).toEqual([]);
  });
});

describe('the relay', () => {
  /** A relay whose connection to ClickHouse breaks: before the insert arrives, or after, when only the answer is lost. */
  const breaking = (when: 'before' | 'after', times: number) => {
    let left = times;
    const clickhouse: ClickHouse = {
      ...service.stores.clickhouse,
      insert: async (...args) => {
        const isBroken = left-- > 0;
        if (isBroken && when === 'before') throw new StoreUnavailable('clickhouse');
        await service.stores.clickhouse.insert(...args);
        if (isBroken) throw new StoreUnavailable('clickhouse');
      },
    };
    return new Relay({ db: service.stores.postgres.db, clickhouse, log: service.stores.log });
  };

  test.each(['before', 'after'] as const)(
    'interrupted %s the insert, an event is stored once and in its place',
    async (when) => {
      await service.driver.stop();
      const repository = uniqueRepository();
      const { id } = await service.stores.repositories.record(repository);
      const create = (testName: string) =>
        service.stores.quarantines.create(id, { testName, reason: '', branch: null }, { name: 'test', actor: null });
      for (const name of ['a', 'b', 'c']) await create(name);
      const relay = breaking(when, 2);
      for (let i = 0; i < 2; i++) expect(relay.drain()).rejects.toThrow(StoreUnavailable);
      await relay.drain().catch(() => {});
      await create('d');
      await untilRelayed(
        service.stores,
        new Relay({ db: service.stores.postgres.db, clickhouse: service.stores.clickhouse, log: service.stores.log }),
      );
      const names = (await eventsOf(repository)).map(({ metadata }) => metadata.test_name);
      expect(names).toEqual(['d', 'c', 'b', 'a']);
      service.driver.start();
    },
  );

  test('several relays at the same time relay each event once', async () => {
    const repository = uniqueRepository();
    const relays = [1, 2, 3].map(
      () =>
        new Relay({ db: service.stores.postgres.db, clickhouse: service.stores.clickhouse, log: service.stores.log }),
    );
    for (const relay of relays) relay.loop.wake();
    const keys = Array.from({ length: 400 }, (_, i) => `event ${i}`);
    for (let i = 0; i < keys.length; i += 20)
      await send(
        makeEventsJob(
          repository,
          keys.slice(i, i + 20).map((key) => labelled(key)),
        ),
      );
    await service.driver.settle();
    await Promise.all(relays.map((relay) => relay.loop.stop()));
    expect((await eventsOf(repository)).map(keyOfShown).sort()).toEqual(keys.sort());
  });
});
