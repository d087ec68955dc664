/**
 * Repositories: looked up by path without regard to case, recorded at their first write.
 *
 * A service serves one repository host. Its addresses name owner and repository only, so lookups do too: the first
 * repository that is recorded with a path has it, and a job that names another host adds to that one. The host is
 * recorded because the id is derived from it, which lets services for different hosts be merged one day.
 */
import { and, asc, eq, isNull, notInArray, or, sql } from 'drizzle-orm';
import type { Clock } from '../clock.ts';
import { type DefaultBranchSource, unmovedSources } from '../domain/default-branch.ts';
import { type EventActor, type NewEvent, newEvent } from '../domain/events.ts';
import { repositoryIdOf } from '../domain/identity.ts';
import {
  type AutoQuarantineMode,
  autoQuarantineChange,
  QUARANTINE_WARNING_DAYS_DEFAULT,
} from '../domain/quarantine-rules.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import type { Settings, SettingsChange } from '../domain/repository-settings.ts';
import { TtlCache } from '../ttl-cache.ts';
import { type Database, onPostgres, sqlState } from './client.ts';
import { recordEvents } from './outbox.ts';
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
});

/** The settings of a repository that was never written to. */
export const DEFAULT_SETTINGS: Settings = {
  default_branch: null,
  flaky_detection_enabled: true,
  auto_quarantine: 'off',
  quarantine_limit: null,
  quarantine_warning_days: QUARANTINE_WARNING_DAYS_DEFAULT,
  rerun_percent: null,
};

/** A change under the names of the API. */
export const columnsOf = (change: SettingsChange): RepositorySettings => ({
  ...(change.default_branch !== undefined && { defaultBranch: change.default_branch }),
  ...(change.flaky_detection_enabled !== undefined && { flakyDetectionEnabled: change.flaky_detection_enabled }),
  ...(change.auto_quarantine !== undefined && { autoQuarantine: change.auto_quarantine }),
  ...(change.quarantine_limit !== undefined && { quarantineLimit: change.quarantine_limit }),
  ...(change.quarantine_warning_days !== undefined && { quarantineWarningDays: change.quarantine_warning_days }),
  ...(change.rerun_percent !== undefined && { rerunPercent: change.rerun_percent }),
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
   * from the path, the new one gets the id of the next generation.
   */
  async record({ host, owner, name }: RepositoryPath): Promise<Repository> {
    for (let generation = 0; generation < GENERATIONS_MAX; generation++) {
      const found = await this.find(owner, name);
      if (found) return found;
      const id = repositoryIdOf(host, owner, name, generation);
      await onPostgres(() =>
        this.db
          .insert(repositories)
          .values({ id, host, owner, name, createdAt: new Date(this.clock.now()) })
          .onConflictDoNothing(),
      );
      this.#forget(owner, name);
    }
    const recorded = await this.find(owner, name);
    if (!recorded) throw new Error(`repository ${owner}/${name} cannot be recorded`);
    return recorded;
  }

  /**
   * Moves a repository to a new path, keeping its id and with it everything that is stored. Undefined if there is none
   * at the old path, 'taken' if another repository is recorded at the new one.
   */
  async rename(from: RepositoryName, to: RepositoryName): Promise<Repository | 'taken' | undefined> {
    const repository = await this.#load(from.owner, from.name);
    if (!repository || (from.owner === to.owner && from.name === to.name)) return repository;
    try {
      const [renamed] = await onPostgres(() =>
        this.db
          .update(repositories)
          .set({ owner: to.owner, name: to.name })
          .where(eq(repositories.id, repository.id))
          .returning(),
      );
      return renamed;
    } catch (error) {
      if (sqlState(error) === UNIQUE_VIOLATION) return 'taken';
      throw error;
    } finally {
      this.#forget(from.owner, from.name);
      this.#forget(to.owner, to.name);
    }
  }

  /** All repositories, by owner and name. */
  list(): Promise<Repository[]> {
    return onPostgres(() =>
      this.db.select().from(repositories).orderBy(asc(repositories.owner), asc(repositories.name)),
    );
  }

  /**
   * Changes the given settings. A default branch set here overrules every other source. A change of auto-quarantine
   * writes its event in the same transaction. A limit of quarantines that is set may be reached again, and is noted then.
   *
   * @param trigger who or what makes the change, for the event
   * @param actor the same as events name it: a command is an application
   */
  async set(
    repository: Repository,
    settings: RepositorySettings,
    trigger: string,
    actor: EventActor = { type: 'application', id: null, name: trigger },
  ): Promise<Repository> {
    const implied = {
      ...(settings.defaultBranch && { defaultBranchSource: 'setting' as const }),
      ...(settings.quarantineLimit !== undefined && { quarantineLimitReached: false }),
    };
    const changed = await onPostgres(() =>
      this.db.transaction(async (tx) => {
        const isThis = eq(repositories.id, repository.id);
        const [before] = await tx.select().from(repositories).where(isThis).for('update');
        const [after] = await tx
          .update(repositories)
          .set({ ...settings, ...implied })
          .where(isThis)
          .returning();
        if (!before || !after) throw new Error(`repository ${repository.owner}/${repository.name} is gone`);
        const change = autoQuarantineChange(before.autoQuarantine, after.autoQuarantine);
        if (change) {
          const now = this.clock.now();
          const event = autoQuarantineEvent(change, before.autoQuarantine, after.autoQuarantine, {
            trigger,
            actor,
            now,
          });
          await recordEvents(tx, repository.id, [event], now);
        }
        return after;
      }),
    );
    this.#forget(repository.owner, repository.name);
    return changed;
  }

  /** Records the default branch that a source names, unless one is known that it does not overrule. */
  async learnDefaultBranch(repository: Repository, branch: string, source: DefaultBranchSource): Promise<Repository> {
    const [changed] = await onPostgres(() =>
      this.db
        .update(repositories)
        .set({ defaultBranch: branch, defaultBranchSource: source })
        .where(
          and(
            eq(repositories.id, repository.id),
            or(
              isNull(repositories.defaultBranchSource),
              notInArray(repositories.defaultBranchSource, [...unmovedSources(source)]),
            ),
          ),
        )
        .returning(),
    );
    this.#forget(repository.owner, repository.name);
    if (changed) return changed;
    return (await this.#load(repository.owner, repository.name)) ?? repository;
  }

  #forget(owner: string, name: string): void {
    this.#cache.forget(cacheKey(owner, name));
  }
}

function autoQuarantineEvent(
  change: 'enabled' | 'disabled' | 'modified',
  before: AutoQuarantineMode,
  after: AutoQuarantineMode,
  { trigger, actor: by, now }: { trigger: string; actor: EventActor; now: number },
): NewEvent {
  const at = new Date(now).toISOString();
  const attributesOf = (mode: AutoQuarantineMode) => ({ ignore_broken_on_default_branch: mode !== 'flaky+broken' });
  const modes = { mode: after, previous_mode: before };
  switch (change) {
    case 'enabled':
      return newEvent(
        'ci_insights.auto_quarantine.enabled',
        { ...modes, enabled_by: by, enabled_at: at, auto_quarantine_config_attributes: attributesOf(after) },
        { trigger },
      );
    case 'disabled':
      return newEvent(
        'ci_insights.auto_quarantine.disabled',
        { ...modes, disabled_by: by, disabled_at: at, auto_quarantine_config_attributes: attributesOf(before) },
        { trigger },
      );
    case 'modified':
      return newEvent(
        'ci_insights.auto_quarantine.modified',
        {
          ...modes,
          updated_by: by,
          updated_at: at,
          auto_quarantine_config_attributes_before: attributesOf(before),
          auto_quarantine_config_attributes_after: attributesOf(after),
        },
        { trigger },
      );
  }
}

const cacheKey = (owner: string, name: string): string => `${owner}/${name}`.toLowerCase();
