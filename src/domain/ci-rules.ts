/**
 * Rules that say what a job of a CI gets for its identity token. A rule is a sentence, as for signing in (sign-in-rules.ts): whose
 * jobs, scope, where, then conditions. The first rule that fits decides; jobs that none fits get nothing.
 *
 * @example
 * github:acme/shop ci acme/shop ref=refs/heads/main; github:acme upload *; own:platform/shop upload acme/shop evidence
 */
import { matchesBranch } from './branch-pattern.ts';
import { CI_KINDS, type CiIssuer, type CiJob, type CiKind } from './ci-claims.ts';
import type { KeyScope } from './key-scope.ts';
import type { ReportBounds } from './report-bounds.ts';
import { ownerSchema, type RepositoryName, repositoryNameSchema } from './repository-path.ts';
import { parsePlace } from './sign-in-rules.ts';

/** A job operates nothing. */
const SCOPES = ['view', 'upload', 'ci'] as const;

export interface CiRule {
  /** The name of the issuer (CI_TOKEN_ISSUERS). */
  issuer: string;
  /** An owner, a group, or one repository, as the CI names it; in lower case. */
  path: string;
  scope: KeyScope;
  /** Null: as the CI names it. */
  owner: string | null;
  repositories: string[] | null;
  /** Claims that must fit, by name; `*` stands for any characters, `**` also for slashes. */
  claims: ReadonlyMap<string, string>;
  /** Whether a ref counts whatever event started the job. */
  trustsRef: boolean;
  /** Whether results off the default branch are evidence about tests. */
  isEvidence: boolean;
}

/** The rights of a job. */
export interface CiGrant {
  scope: KeyScope;
  repository: RepositoryName;
  bounds: ReportBounds;
}

/** The rules of a text; undefined if one of them is malformed, or there is none. */
export function parseCiRules(text: string): CiRule[] | undefined {
  const parts = text.split(';').map((part) => part.trim());
  const rules = parts.filter((part) => part !== '').map(parseRule);
  const valid = rules.filter((rule) => rule !== undefined);
  return valid.length === rules.length && valid.length > 0 ? valid : undefined;
}

function parseRule(text: string): CiRule | undefined {
  const [who = '', scopeName, place = '', ...conditions] = text.split(/ +/);
  const [, issuer, path] = /^([\w-]+):([\w.-]+(?:\/[\w.-]+)*)$/.exec(who) ?? [];
  const scope = SCOPES.find((known) => known === scopeName);
  const where = parsePlace(place);
  if (issuer === undefined || path === undefined || scope === undefined || where === undefined) return undefined;
  const claims = new Map<string, string>();
  const words = new Set<string>();
  for (const condition of conditions) {
    const [, name, value] = /^([\w./-]+)=(.+)$/.exec(condition) ?? [];
    if (name !== undefined && value !== undefined) claims.set(name, value);
    else if (condition === 'trust-ref' || condition === 'evidence') words.add(condition);
    else return undefined;
  }
  return {
    issuer,
    path: path.toLowerCase(),
    scope,
    ...where,
    claims,
    trustsRef: words.has('trust-ref'),
    isEvidence: words.has('evidence'),
  };
}

/** The rights of a job by the rules; undefined: no rule fits, or it names no repository that could be here. */
export function grantOfJob(
  rules: readonly CiRule[],
  issuer: string,
  job: CiJob,
  claims: Readonly<Record<string, unknown>>,
): CiGrant | undefined {
  const rule = rules.find((one) => one.issuer === issuer && isBelow(job.path, one.path) && fits(one.claims, claims));
  const repository = rule && repositoryOf(rule, job.path);
  if (!rule || !repository) return undefined;
  const mayBeDefault = !job.isForPullRequest && (job.isOfItsRef || rule.trustsRef);
  return {
    // A quarantine holds on the default branch, for which this job does not speak.
    scope: rule.scope === 'ci' && !mayBeDefault ? 'upload' : rule.scope,
    repository,
    bounds: {
      pull_requests_only: !mayBeDefault,
      branches: null,
      is_confined: !rule.isEvidence,
      run: mayBeDefault ? job.ofRef : job.otherwise,
    },
  };
}

/**
 * The kinds of CI whose jobs may get something for this repository, as far as their rules name it. What else a rule asks for
 * is known of a job only.
 */
export function ciKindsFor(
  issuers: readonly CiIssuer[],
  rules: readonly CiRule[],
  repository: RepositoryName,
): readonly CiKind[] {
  const names = new Set(rules.filter((rule) => mayBeFor(rule, repository)).map(({ issuer }) => issuer));
  return CI_KINDS.filter((kind) => issuers.some((issuer) => issuer.kind === kind && names.has(issuer.name)));
}

function mayBeFor({ owner, repositories, path }: CiRule, repository: RepositoryName): boolean {
  const [ownOwner = '', ...rest] = path.split('/');
  const name = repository.name.toLowerCase();
  if ((owner ?? ownOwner).toLowerCase() !== repository.owner.toLowerCase()) return false;
  if (repositories !== null) return repositories.some((one) => one.toLowerCase() === name);
  // Elsewhere the repository has the owner of the rule, and any name that the CI gives it.
  return owner !== null || rest.length === 0 || `${name}.`.startsWith(`${rest.join('.')}.`);
}

/** Whether a repository is the one that is named, or below it: `acme/shop` is below `acme`. */
const isBelow = (path: string, named: string): boolean => `${path.toLowerCase()}/`.startsWith(`${named}/`);

const fits = (wanted: ReadonlyMap<string, string>, claims: Readonly<Record<string, unknown>>): boolean =>
  [...wanted].every(([name, pattern]) => {
    const value = claims[name];
    const text = typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : undefined;
    return Object.hasOwn(claims, name) && text !== undefined && matchesBranch(pattern, text);
  });

/**
 * Where the rule puts the repository. With more parts (subgroups), the first is the owner and the others are joined with
 * dots, as the client does.
 */
function repositoryOf({ owner: givenOwner, repositories }: CiRule, path: string): RepositoryName | undefined {
  const [ownOwner = '', ...rest] = path.split('/');
  const owner = givenOwner ?? ownOwner;
  const name = repositories?.[0] ?? rest.join('.');
  const isValid = ownerSchema.safeParse(owner).success && repositoryNameSchema.safeParse(name).success;
  return isValid ? { owner, name } : undefined;
}
