/**
 * Repositories: looked up by path without regard to case, recorded at their first write.
 *
 * An address names owner and repository only, so lookups do too. A repository of a host that is not the default host has the
 * name of that host in its owner (`src/domain/host-address.ts`), so two of the same name on two hosts are two. The first
 * repository that is recorded with a path has it, and a job that names another host adds to that one. The host is recorded
 * because the id is derived from it.
 */
import { and, asc, eq, sql } from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import type { Clock } from '../clock.ts';
import { type AuditActor, byService, changeOf } from '../domain/audit.ts';
import { type DefaultBranchSource, unmovedSources } from '../domain/default-branch.ts';
import { isFromBefore } from '../domain/deletion.ts';
import { newEvent } from '../domain/events.ts';
import { type HostPage, type HostSource, overrulesHost } from '../domain/host-page.ts';
import { repositoryIdOf } from '../domain/identity.ts';
import { QUARANTINE_WARNING_DAYS_DEFAULT } from '../domain/quarantine-rules.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import type { Settings, SettingsChange } from '../domain/repository-settings.ts';
import { HOUR_MS } from '../domain/time.ts';
import { TtlCache } from '../ttl-cache.ts';
import { recordAudit } from './audit.ts';
import { type Database, type Executor, onPostgres, sqlState } from './client.ts';
import { beginDeletion, type Deletion, deletedAmong, lastDeletedAt } from './deleted-repositories.ts';
import { recordEvents } from './outbox.ts';
import { noteOwnersStale } from './owners.ts';
import { type Doer, deedOf, doerOf, pathOf, settingsEvents } from './repository-changes.ts';
import { repositories } from './schema.ts';

export type Repository = typeof repositories.$inferSelect;
type SettingsColumns = Pick<
  Repository,
  | 'defaultBranch'
  | 'flakyDetectionEnabled'
  | 'autoQuarantine'
  | 'quarantineLimit'
  | 'quarantineWarningDays'
  | 'rerunPercent'
  | 'testOwners'
  | 'ciMinutePrice'
  | 'waitingHourPrice'
  | 'eventRetentionDays'
  | 'renameConfidenceMin'
  | 'executionRetentionDays'
  | 'forgetTestsAfterDays'
  | 'hostKind'
  | 'hostUrl'
  | 'hostSource'
>;
export type RepositorySettings = Partial<SettingsColumns>;

/** The settings of a repository under the names of the API. */
export const settingsOf = (repository: SettingsColumns): Settings => ({
  default_branch: repository.defaultBranch,
  flaky_detection_enabled: repository.flakyDetectionEnabled,
  auto_quarantine: repository.autoQuarantine,
  quarantine_limit: repository.quarantineLimit,
  quarantine_warning_days: repository.quarantineWarningDays,
  rerun_percent: repository.rerunPercent,
  test_owners: repository.testOwners,
  ci_minute_price: repository.ciMinutePrice,
  waiting_hour_price: repository.waitingHourPrice,
  event_retention_days: repository.eventRetentionDays,
  rename_confidence_min: repository.renameConfidenceMin,
  execution_retention_days: repository.executionRetentionDays,
  forget_tests_after_days: repository.forgetTestsAfterDays,
  host_page: repository.hostSource === 'setting' ? hostPageOf(repository) : null,
});

/** Where a repository is shown to people; null: no one has said so. */
export const hostPageOf = ({ hostKind, hostUrl }: Pick<Repository, 'hostKind' | 'hostUrl'>): HostPage | null =>
  hostKind !== null && hostUrl !== null ? { kind: hostKind, url: hostUrl } : null;

/** The settings of a repository that was never written to. */
export const DEFAULT_SETTINGS: Settings = {
  default_branch: null,
  flaky_detection_enabled: true,
  auto_quarantine: 'off',
  quarantine_limit: null,
  quarantine_warning_days: QUARANTINE_WARNING_DAYS_DEFAULT,
  rerun_percent: null,
  test_owners: [],
  ci_minute_price: null,
  waiting_hour_price: null,
  event_retention_days: null,
  rename_confidence_min: null,
  execution_retention_days: null,
  forget_tests_after_days: null,
  host_page: null,
};

/** A change under the names of the API. */
export const columnsOf = (change: SettingsChange): RepositorySettings => ({
  ...(change.default_branch !== undefined && { defaultBranch: change.default_branch }),
  ...(change.flaky_detection_enabled !== undefined && { flakyDetectionEnabled: change.flaky_detection_enabled }),
  ...(change.auto_quarantine !== undefined && { autoQuarantine: change.auto_quarantine }),
  ...(change.quarantine_limit !== undefined && { quarantineLimit: change.quarantine_limit }),
  ...(change.quarantine_warning_days !== undefined && { quarantineWarningDays: change.quarantine_warning_days }),
  ...(change.rerun_percent !== undefined && { rerunPercent: change.rerun_percent }),
  ...(change.test_owners !== undefined && { testOwners: change.test_owners }),
  ...(change.ci_minute_price !== undefined && { ciMinutePrice: change.ci_minute_price }),
  ...(change.waiting_hour_price !== undefined && { waitingHourPrice: change.waiting_hour_price }),
  ...(change.event_retention_days !== undefined && { eventRetentionDays: change.event_retention_days }),
  ...(change.rename_confidence_min !== undefined && { renameConfidenceMin: change.rename_confidence_min }),
  ...(change.execution_retention_days !== undefined && { executionRetentionDays: change.execution_retention_days }),
  ...(change.forget_tests_after_days !== undefined && { forgetTestsAfterDays: change.forget_tests_after_days }),
  ...(change.host_page !== undefined && hostColumns(change.host_page, 'setting')),
});

const hostColumns = (page: HostPage | null, source: HostSource) => ({
  hostKind: page?.kind ?? null,
  hostUrl: page?.url ?? null,
  hostSource: page && source,
});

export interface RepositoryPath extends RepositoryName {
  host: string;
}

/** How long a repository is served from memory: a changed setting takes effect everywhere within this time. */
const CACHE_MS = 1_000;
const CACHE_ENTRIES_MAX = 10_000;
/** How many repositories may have had the same path, one after the other. */
const GENERATIONS_MAX = 100;
const UNIQUE_VIOLATION = '23505';

export class RepositoryStore {
  readonly #cache = new TtlCache<Repository | undefined>(CACHE_MS, CACHE_ENTRIES_MAX);

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * The repository of a path, or undefined if it was never written to. From memory for up to a second, but one that is
   * unknown may be recorded by another process at any moment: who has the receipt of an upload to it must find it.
   */
  async find(owner: string, name: string): Promise<Repository | undefined> {
    const found = await this.#cache.get(cacheKey(owner, name), () => this.#load(owner, name));
    if (!found) this.#forget(owner, name);
    return found;
  }

  /** The same, if it is in memory now. */
  recall(owner: string, name: string): Repository | undefined {
    return this.#cache.recall(cacheKey(owner, name));
  }

  async #load(owner: string, name: string): Promise<Repository | undefined> {
    const rows = await onPostgres(() =>
      this.db
        .select()
        .from(repositories)
        .where(
          and(
            eq(sql`lower(${repositories.owner})`, owner.toLowerCase()),
            eq(sql`lower(${repositories.name})`, name.toLowerCase()),
          ),
        )
        .limit(1),
    );
    return rows[0];
  }

  /**
   * The repository of a path, recorded now if there is none. Safe to race. If a renamed repository keeps the id derived
   * from the path, or was deleted, the new one gets the id of the next generation.
   *
   * @param by who adds it, if it is not an upload that does
   */
  async record({ host, owner, name }: RepositoryPath, by?: AuditActor): Promise<Repository> {
    for (let generation = 0; generation < GENERATIONS_MAX; generation++) {
      const found = await this.find(owner, name);
      if (found) return found;
      const id = repositoryIdOf(host, owner, name, generation);
      // A deleted repository keeps its id for good, so that nothing late is taken for the next one's.
      if ((await onPostgres(() => deletedAmong(this.db, [id]))).size > 0) continue;
      await onPostgres(() => this.#insert({ id, host, owner, name }, by));
      this.#forget(owner, name);
    }
    const recorded = await this.find(owner, name);
    if (!recorded) throw new Error(`repository ${owner}/${name} cannot be recorded`);
    return recorded;
  }

  async #insert(wanted: RepositoryPath & { id: string }, by: AuditActor | undefined): Promise<void> {
    const now = this.clock.now();
    const insert = (db: Executor) =>
      db
        .insert(repositories)
        .values({ ...wanted, createdAt: new Date(now) })
        .onConflictDoNothing()
        .returning({ id: repositories.id });
    if (!by) return void (await insert(this.db));
    await this.db.transaction(async (tx) => {
      const made = await insert(tx);
      if (made.length > 0) await recordAudit(tx, by, { action: 'repository.create', ...deedOf(wanted) }, now);
    });
  }

  /**
   * Moves a repository to a new path, keeping its id and with it everything that is stored. Undefined if there is none
   * at the old path, 'taken' if another repository is recorded at the new one.
   */
  async rename(from: RepositoryName, to: RepositoryName, by: Doer): Promise<Repository | 'taken' | undefined> {
    const repository = await this.#load(from.owner, from.name);
    if (!repository || (from.owner === to.owner && from.name === to.name)) return repository;
    try {
      return await onPostgres(() => this.db.transaction((tx) => this.#move(tx, repository.id, to, by)));
    } catch (error) {
      if (sqlState(error) === UNIQUE_VIOLATION) return 'taken';
      throw error;
    } finally {
      this.#forget(from.owner, from.name);
      this.#forget(to.owner, to.name);
    }
  }

  async #move(tx: Executor, id: string, to: RepositoryName, by: Doer): Promise<Repository | undefined> {
    const isThis = eq(repositories.id, id);
    const [before] = await tx.select().from(repositories).where(isThis).for('update');
    if (!before) return undefined;
    const { owner, name } = to;
    // Its page has moved with it: the next that says where it is knows.
    const unknown = before.hostSource === 'setting' ? {} : hostColumns(null, 'upload');
    const [after] = await tx
      .update(repositories)
      .set({ owner, name, ...unknown })
      .where(isThis)
      .returning();
    if (!after) return undefined;
    const now = this.clock.now();
    const change = { before: pathOf(before), after: pathOf(after) };
    await recordAudit(tx, by.audit, { action: 'repository.rename', ...deedOf(after), ...change }, now);
    const at = new Date(now).toISOString();
    const metadata = { ...change, renamed_by: by.actor, renamed_at: at };
    await recordEvents(tx, id, [newEvent('repository.renamed', metadata, { trigger: by.name })], now);
    return after;
  }

  /**
   * Takes a repository out of the service for good. A worker then removes what is stored of it
   * (`src/maintenance/delete-repository.ts`). Undefined if there is none.
   */
  async delete({ owner, name }: RepositoryName, by: AuditActor): Promise<Deletion | undefined> {
    const found = await this.#load(owner, name);
    if (!found) return undefined;
    const begun = await onPostgres(() =>
      this.db.transaction((tx) => beginDeletion(tx, found.id, by, this.clock.now())),
    );
    this.#forget(owner, name);
    return begun;
  }

  /**
   * Whether something that was accepted at a moment belongs to a repository that was deleted since. A repository that was recorded
   * before that moment is not looked at further.
   *
   * @param acceptedAt milliseconds since the epoch
   */
  async wasDeletedSince({ owner, name }: RepositoryName, acceptedAt: number): Promise<boolean> {
    const found = await this.find(owner, name);
    if (found && found.createdAt.getTime() <= acceptedAt) return false;
    const deletedAt = await lastDeletedAt(this.db, { owner, name });
    return deletedAt !== undefined && isFromBefore(acceptedAt, deletedAt);
  }

  /** The next look at a path asks PostgreSQL. */
  forget({ owner, name }: RepositoryName): void {
    this.#forget(owner, name);
  }

  /** All repositories, by owner and name. */
  list(): Promise<Repository[]> {
    return onPostgres(() =>
      this.db.select().from(repositories).orderBy(asc(repositories.owner), asc(repositories.name)),
    );
  }

  /**
   * Changes the given settings. A default branch set here overrules every other source. What changed is an event and an
   * entry of the trail in the same transaction. A limit of quarantines that is set may be reached again, and is noted then.
   *
   * @param by who or what makes the change; a name alone is that of a rule of the service
   */
  async set(repository: Repository, settings: RepositorySettings, by: Doer | string): Promise<Repository> {
    const doer = typeof by === 'string' ? doerOf(byService(by)) : by;
    const implied = {
      ...(settings.defaultBranch && { defaultBranchSource: 'setting' as const }),
      ...(settings.quarantineLimit !== undefined && { quarantineLimitReached: false }),
    };
    const changed = await this.#change(repository, () => ({ ...settings, ...implied }), doer);
    if (!changed) throw new Error(`repository ${repository.owner}/${repository.name} is gone`);
    return changed;
  }

  /** Records the default branch that a source names, unless one is known that it does not overrule. */
  async learnDefaultBranch(repository: Repository, branch: string, source: DefaultBranchSource): Promise<Repository> {
    const unmoved: readonly (string | null)[] = unmovedSources(source);
    const changed = await this.#change(
      repository,
      (before) =>
        unmoved.includes(before.defaultBranchSource)
          ? undefined
          : { defaultBranch: branch, defaultBranchSource: source },
      doerOf(byService(`default branch by ${source}`)),
      // The first branch that is learned changes nothing that was.
      (before) => before.defaultBranch !== null,
    );
    return changed ?? (await this.#load(repository.owner, repository.name)) ?? repository;
  }

  /** Records where a repository is shown to people, unless that is known from a stronger source. No event tells it. */
  async learnHost(repository: Repository, page: HostPage, source: HostSource): Promise<void> {
    const isKnown = repository.hostSource === source && repository.hostUrl === page.url;
    if (isKnown || !overrulesHost(source, repository.hostSource)) return;
    await this.#change(
      repository,
      (before) => (overrulesHost(source, before.hostSource) ? hostColumns(page, source) : undefined),
      doerOf(byService(`host by ${source}`)),
      () => false,
    );
  }

  /**
   * Changes a repository, with an entry in the trail and events of what differs. Undefined if it is gone, or `valuesOf` has
   * nothing to change.
   */
  async #change(
    { id, owner, name: repositoryName }: Repository,
    valuesOf: (before: Repository) => PgUpdateSetSource<typeof repositories> | undefined,
    { name: trigger, actor, audit }: Doer,
    isTold: (before: Repository) => boolean = () => true,
  ): Promise<Repository | undefined> {
    const changed = await onPostgres(() =>
      this.db.transaction(async (tx) => {
        const isThis = eq(repositories.id, id);
        const [before] = await tx.select().from(repositories).where(isThis).for('update');
        const values = before && valuesOf(before);
        if (!values) return undefined;
        const [after] = await tx.update(repositories).set(values).where(isThis).returning();
        if (!after || !isTold(before)) return after;
        const now = this.clock.now();
        const change = changeOf(settingsOf(before), settingsOf(after));
        if (JSON.stringify(before.testOwners) !== JSON.stringify(after.testOwners)) await noteOwnersStale(tx, id);
        if (change) await recordAudit(tx, audit, { action: 'repository.settings', ...deedOf(after), ...change }, now);
        const events = settingsEvents(settingsOf(before), settingsOf(after), { trigger, actor, now });
        await recordEvents(tx, id, events, now);
        return after;
      }),
    );
    this.#forget(owner, repositoryName);
    return changed;
  }

  /** Notes that `gate` has sent reports, at most once an hour. A repository is noted once its first report is stored. */
  async noteGate(owner: string, name: string): Promise<void> {
    const found = await this.find(owner, name);
    const now = this.clock.now();
    if (!found || now - (found.gateRanAt?.getTime() ?? 0) < HOUR_MS) return;
    await onPostgres(() =>
      this.db
        .update(repositories)
        .set({ gateRanAt: new Date(now) })
        .where(eq(repositories.id, found.id)),
    );
    this.#forget(owner, name);
  }

  #forget(owner: string, name: string): void {
    this.#cache.forget(cacheKey(owner, name));
  }
}

const cacheKey = (owner: string, name: string): string => `${owner}/${name}`.toLowerCase();

/** The ids of all repositories, in order. */
export async function everyRepositoryId(db: Executor): Promise<string[]> {
  const listed = db.select({ id: repositories.id }).from(repositories).orderBy(asc(repositories.id));
  return (await onPostgres(() => listed)).map(({ id }) => id);
}
