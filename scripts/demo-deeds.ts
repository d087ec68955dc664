/** What people did in the repositories of the demo: settings, owners, quarantines, uploads that were refused. */
import type { PostgresDeps } from '../src/deps.ts';
import { DAY_MS, MINUTE_MS } from '../src/domain/time.ts';
import { NO_ORIGIN } from '../src/domain/upload-origin.ts';
import { renameTest } from '../src/postgres/decide-renames.ts';
import { recordEvents } from '../src/postgres/outbox.ts';
import { type CodeownersFile, writeCodeowners } from '../src/postgres/owners.ts';
import { QuarantineStore } from '../src/postgres/quarantines.ts';
import { RefusedUploads } from '../src/postgres/refused-uploads.ts';
import type { Repository } from '../src/postgres/repositories.ts';
import { MOVED_TEST, placeOf } from '../tests/simulation/lively.ts';
import type { LivelyHistory } from '../tests/simulation/lively-history.ts';
import { eventsOf } from '../tests/simulation/lively-pulls.ts';
import { SHOP } from '../tests/simulation/lively-repositories.ts';
import { NEWLY_FLAKY_TEST, RECOVERED_TEST } from '../tests/simulation/lively-scenes.ts';

const BASHIR = { name: '@bashir', actor: { type: 'user', id: null, name: 'bashir' } } as const;
const LOG_MS = 30 * DAY_MS;

/** Some areas have no owner, and one pattern matches nothing. */
const CODEOWNERS: CodeownersFile = {
  host: 'github',
  path: '.github/CODEOWNERS',
  content: [
    '# Who reviews what',
    '/src/cart/      @acme/checkout',
    '/src/checkout/  @acme/checkout',
    '/src/payments/  @acme/payments @acme/checkout',
    '/src/catalog/   @acme/catalog',
    '/src/search/    @acme/catalog',
    '/src/accounts/  @acme/identity',
    '/src/shipping/  @acme/logistics',
    '/src/wishlist/  @acme/catalog',
    '/src/**/sessions.test.ts  @acme/identity',
  ].join('\n'),
  files: [],
};

interface Quarantined {
  test: number;
  /** Before now, and after it. */
  begunMs: number;
  endsMs: number | null;
  by: string;
  owner: string;
  ticket: string;
  reason: string;
}

const QUARANTINES: readonly Quarantined[] = [
  {
    test: RECOVERED_TEST,
    begunMs: 56 * DAY_MS,
    endsMs: null,
    by: 'ana',
    owner: '@acme/checkout',
    ticket: 'https://tickets.acme.example/SHOP-1841',
    reason: 'The mail arrives late in one run of two.',
  },
  {
    test: 81,
    begunMs: 12 * DAY_MS,
    endsMs: 6 * DAY_MS,
    by: 'chen',
    owner: '@acme/checkout',
    ticket: 'https://tickets.acme.example/SHOP-1866',
    reason: 'The total is shown before prices have loaded.',
  },
  {
    test: NEWLY_FLAKY_TEST,
    begunMs: 3 * DAY_MS,
    endsMs: 2 * DAY_MS,
    by: 'dagny',
    owner: 'dagny',
    ticket: 'https://tickets.acme.example/SHOP-1880',
    reason: 'Waits for a mail that is sometimes late.',
  },
];

/** What comes before results: events in order of time, and who owns what. */
export async function recordDeeds(deps: PostgresDeps, { repository: lively, pulls }: LivelyHistory): Promise<void> {
  const { owner, name } = lively;
  const repository = await deps.repositories.record({ host: 'github.com', owner, name });
  const now = Date.now();
  const deeds = lively === SHOP ? QUARANTINES.toSorted((one, other) => other.begunMs - one.begunMs) : [];
  let from = now - LOG_MS;
  for (const deed of deeds) {
    await recordPulls(from, now - deed.begunMs);
    await quarantine(deps, repository, deed, now);
    from = Math.max(from, now - deed.begunMs + 1);
  }
  await recordPulls(from, now);
  if (lively === SHOP) {
    await writeCodeowners(deps.postgres.db, repository.id, CODEOWNERS, { name: 'demo', now });
    await deps.repositories.set(
      repository,
      { autoQuarantine: 'flaky+broken', ciMinutePrice: 0.008, waitingHourPrice: 80 },
      'demo',
    );
  } else {
    const testOwners = lively.areas
      .slice(1)
      .map((area) => ({ test_name: `*/${area}/*`, owners: [`@${owner}/${area}`] }));
    await deps.repositories.set(repository, { testOwners }, 'demo');
  }
  if (owner === SHOP.owner) await refuseUpload(deps, repository, now);

  /** Events of a repository are in order of time. */
  async function recordPulls(start: number, end: number): Promise<void> {
    await deps.postgres.db.transaction(async (tx) => {
      for (const { at, event } of eventsOf(lively, pulls, { from: start, to: end }))
        await recordEvents(tx, repository.id, [event], at);
    });
  }
}

async function quarantine(deps: PostgresDeps, { id }: Repository, deed: Quarantined, now: number): Promise<void> {
  const then = new QuarantineStore(deps.postgres.db, { now: () => now - deed.begunMs });
  await then.create(
    id,
    {
      testName: placeOf(SHOP, deed.test).name,
      reason: deed.reason,
      branch: null,
      expiresAt: deed.endsMs === null ? null : new Date(now + deed.endsMs),
      owner: deed.owner,
      ticketUrl: deed.ticket,
    },
    { name: `@${deed.by}`, actor: { type: 'user', id: null, name: deed.by } },
  );
}

const refuseUpload = ({ postgres }: PostgresDeps, { owner, name }: Repository, now: number): Promise<void> =>
  new RefusedUploads(postgres.db).add(
    [
      {
        ...NO_ORIGIN,
        owner,
        repository: name,
        pipelineName: 'CI',
        jobName: 'lint',
        branch: 'main',
        format: 'junit',
        sender: 'ci',
        reason: 'lint.xml is not JUnit XML: it ends before its first element.',
        refusals: 3,
      },
    ],
    now - 40 * MINUTE_MS,
  );

/** Once results and automatic quarantines are there: someone says that a test has another name, and takes a quarantine on. */
export async function takeOn({ repositories, quarantines, postgres }: PostgresDeps): Promise<void> {
  const repository = await repositories.find(SHOP.owner, SHOP.name);
  if (!repository) return;
  const [fromName, toName] = [placeOf(SHOP, MOVED_TEST, LOG_MS).name, placeOf(SHOP, MOVED_TEST).name];
  const now = Date.now();
  await renameTest(
    postgres.db,
    repository,
    { fromName, toName },
    { by: { ...BASHIR, audit: { kind: 'session', name: 'bashir' } }, now },
  );
  const { quarantines: open } = await quarantines.snapshot(repository.id);
  const [first] = open.filter(({ source }) => source === 'auto');
  if (!first) return;
  const terms = {
    owner: 'bashir',
    ticketUrl: 'https://tickets.acme.example/SHOP-1893',
    expiresAt: new Date(Date.now() + 11 * DAY_MS),
  };
  await quarantines.update(repository.id, first.id, terms, BASHIR);
}
