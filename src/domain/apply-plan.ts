/**
 * The difference that `ci-insights apply` makes so that there is what a file says. After the changes, the difference is empty.
 *
 * A key is known by its token, and what a token allows never changes: it may be in many hands by then. So other rights need
 * another token. A revoked key stays revoked. Repositories are never removed.
 */
import { isDeepStrictEqual } from 'node:util';
import type { DeclaredRepository, KeyRights } from './apply-file.ts';
import type { DefaultBranchSource } from './default-branch.ts';
import type { RepositoryName } from './repository-path.ts';
import { needsRebuild, SETTING_NAMES, type Settings, type SettingsChange } from './repository-settings.ts';

export interface DeclaredKey {
  name: string;
  rights: KeyRights;
  /** The hash of its token. */
  tokenHash: string;
}

interface ExistingKey extends DeclaredKey {
  id: string;
  isRevoked: boolean;
  /** Whether a file that was applied has made it. Others are left alone. */
  isOfFile: boolean;
}

interface ExistingRepository {
  path: RepositoryName;
  settings: Settings;
  defaultBranchSource: DefaultBranchSource | null;
}

export interface Declared {
  /** Undefined: keys are none of its business. */
  keys: readonly DeclaredKey[] | undefined;
  repositories: readonly DeclaredRepository[];
}

export interface Existing {
  keys: readonly ExistingKey[];
  repositories: readonly ExistingRepository[];
}

interface PlanOptions {
  /** Milliseconds since the epoch. */
  now: number;
  /**
   * The settings that no one has set. Given if the file is to be all there is: then it also revokes keys of earlier files, and
   * the settings that it leaves out return to these. Undefined: what it does not name stays.
   */
  defaults: Settings | undefined;
}

type NamedKey = Pick<ExistingKey, 'id' | 'name'>;

export type Change =
  | { kind: 'make key'; key: DeclaredKey }
  | { kind: 'revoke key'; key: NamedKey; reason: string }
  | { kind: 'add repository'; repository: DeclaredRepository }
  | {
      kind: 'change repository';
      path: RepositoryName;
      /** The values of the settings that change. */
      before: Partial<Settings>;
      /** Their new values. */
      settings: SettingsChange;
      /** Whether stored executions follow the old settings until `ci-insights rebuild`. */
      needsRebuild: boolean;
    };

export interface Plan {
  /** In the order in which they are to be made. */
  changes: Change[];
  /** Sentences: why nothing may be changed before someone decides. */
  refusals: string[];
  /** Keys of earlier files that the file leaves out, and that stay. */
  left: NamedKey[];
}

export function planOf(declared: Declared, existing: Existing, options: PlanOptions): Plan {
  const keys = declared.keys
    ? planKeys(declared.keys, existing.keys, options)
    : { changes: [], refusals: [], left: [] };
  const repositories = planRepositories(declared.repositories, existing.repositories, options);
  return { ...keys, changes: [...keys.changes, ...repositories] };
}

function planKeys(declared: readonly DeclaredKey[], existing: readonly ExistingKey[], options: PlanOptions): Plan {
  const byHash = new Map(existing.map((key) => [key.tokenHash, key]));
  const made: Change[] = [];
  const refusals: string[] = [];
  const seen = new Map<string, string>();
  for (const key of declared) {
    const twin = seen.get(key.tokenHash);
    seen.set(key.tokenHash, key.name);
    const refusal = twin
      ? `it has the token of the key ${twin}. Each key needs its own token`
      : refusalOf(key, byHash.get(key.tokenHash), options.now);
    if (refusal) refusals.push(`The key ${key.name}: ${refusal}.`);
    else if (!byHash.has(key.tokenHash)) made.push({ kind: 'make key', key });
  }
  const names = new Set(declared.map(({ name }) => name));
  const gone = existing.filter((key) => key.isOfFile && !key.isRevoked && !seen.has(key.tokenHash));
  const replaced = gone.filter(({ name }) => names.has(name));
  const unnamed = gone.filter(({ name }) => !names.has(name));
  const revoke =
    (reason: string) =>
    ({ id, name }: ExistingKey): Change => ({ kind: 'revoke key', key: { id, name }, reason });
  return {
    changes: [
      ...made,
      ...replaced.map(revoke('the file gives another token')),
      ...(options.defaults ? unnamed.map(revoke('not in the file')) : []),
    ],
    refusals,
    left: options.defaults ? [] : unnamed.map(({ id, name }) => ({ id, name })),
  };
}

function refusalOf(key: DeclaredKey, found: ExistingKey | undefined, now: number): string | undefined {
  if (!found) {
    const isOver = key.rights.expiresAt !== null && key.rights.expiresAt <= now;
    return isOver ? 'it expires in the past. Give it a later expires_at, or take it out of the file' : undefined;
  }
  if (found.isRevoked)
    return 'its token was revoked, and a revoked key stays revoked. Give it another token, or take it out of the file';
  if (found.name !== key.name) return `it has the token of the key ${found.name}. Each key needs its own token`;
  const [is, wanted] = [inWords(found.rights), inWords(key.rights)];
  return is === wanted
    ? undefined
    : `its token allows something else (${is}), and the rights of a token never change. Give it another token for ${wanted}`;
}

/** Equal words are equal rights. */
export function inWords({ scope, owner, repositories, pullRequestsOnly, branches, expiresAt }: KeyRights): string {
  const bounds = pullRequestsOnly ? ' (pull requests only)' : branches ? ` (branches ${sorted(branches)})` : '';
  const where =
    owner === null
      ? "every owner's repositories"
      : repositories
        ? sorted(repositories.map((name) => `${owner}/${name}`))
        : `all repositories of ${owner}`;
  const end = expiresAt === null ? 'never expires' : `expires ${new Date(expiresAt).toISOString()}`;
  return `scope ${scope}${bounds}, for ${where}, ${end}`;
}

const sorted = (texts: readonly string[]): string => texts.toSorted().join(', ');

function planRepositories(
  declared: readonly DeclaredRepository[],
  existing: readonly ExistingRepository[],
  { defaults }: PlanOptions,
): Change[] {
  const byPath = new Map(existing.map((repository) => [keyOf(repository.path), repository]));
  return declared.flatMap((repository): Change[] => {
    const { path, settings } = repository;
    const found = byPath.get(keyOf(path));
    if (!found) return [{ kind: 'add repository', repository }];
    const wanted = defaults ? { ...withoutBranch(defaults), ...settings } : settings;
    const names = namesOf(wanted).filter(
      (name) => !isSame(found.settings[name], wanted[name]) || isLearned(name, found),
    );
    if (names.length === 0) return [];
    const change: SettingsChange = pick(wanted, names);
    return [
      {
        ...{ kind: 'change repository', path, before: pick(found.settings, names), settings: change },
        needsRebuild: needsRebuild(found.settings, {
          default_branch: change.default_branch ?? found.settings.default_branch,
          flaky_detection_enabled: change.flaky_detection_enabled ?? found.settings.flaky_detection_enabled,
        }),
      },
    ];
  });
}

/** A branch that was learned may be learned again: one in the file must hold. */
const isLearned = (name: string, { defaultBranchSource }: ExistingRepository): boolean =>
  name === 'default_branch' && defaultBranchSource !== 'setting';

/** Settings that are learned while no one sets them. */
const withoutBranch = ({ default_branch: _, ...others }: Settings): SettingsChange => others;

const pick = (settings: SettingsChange | Settings, names: readonly (keyof Settings)[]) =>
  Object.fromEntries(names.map((name) => [name, settings[name]]));

export const namesOf = (settings: SettingsChange): (keyof SettingsChange)[] =>
  SETTING_NAMES.filter((name) => settings[name] !== undefined);

/** Compares values as JSON: that is how they are stored, where objects keep no order. */
const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(plain(one), plain(other));
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const keyOf = ({ owner, name }: RepositoryName): string => `${owner}/${name}`.toLowerCase();
