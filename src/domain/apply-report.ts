/** How `ci-insights apply` describes its changes: lines for people, and a report for pipelines. Neither holds a token. */
import { z } from 'zod';
import type { KeyRights } from './apply-file.ts';
import { type Change, inWords, namesOf, type Plan } from './apply-plan.ts';
import { KEY_SCOPES } from './key-scope.ts';
import type { RepositoryName } from './repository-path.ts';

/** A change as lines. The first begins with + (made), ~ (changed) or - (revoked). */
export function linesOf(change: Change): string {
  switch (change.kind) {
    case 'make key':
      return `+ key ${change.key.name}: ${inWords(change.key.rights)}`;
    case 'revoke key':
      return `- key ${change.key.name} (${change.key.id}): ${change.reason}`;
    case 'add repository': {
      const { path, host, settings } = change.repository;
      const on = host === undefined ? '' : ` on ${host}`;
      const values = namesOf(settings).map((name) => `${name} ${shown(settings[name])}`);
      return `+ ${[`repository ${pathOf(path)}${on}`, ...values].join('\n    ')}`;
    }
    case 'change repository': {
      const { path, before, settings } = change;
      const values = namesOf(settings).map((name) => `${name} ${shown(before[name])} → ${shown(settings[name])}`);
      return `~ ${[`repository ${pathOf(path)}`, ...values].join('\n    ')}`;
    }
  }
}

const shown = (value: unknown): string => JSON.stringify(value);
const pathOf = ({ owner, name }: RepositoryName): string => `${owner}/${name}`;

/** `unchanged`: there is no difference. `differs`: there is one, and nothing was to be changed. `failed`: at a change. */
const RESULTS = ['unchanged', 'differs', 'applied', 'refused', 'failed'] as const;
export type ApplyResult = (typeof RESULTS)[number];

const settings = z.record(z.string(), z.unknown());
const isMade = { is_made: z.boolean() };
const namedKey = { id: z.uuid(), name: z.string() };

/** The report of `--json`. docs/apply.md describes it. */
export const applyReportSchema = z.strictObject({
  result: z.enum(RESULTS),
  /** In the order in which they are made. */
  changes: z.array(
    z.discriminatedUnion('kind', [
      z.strictObject({
        ...{ kind: z.literal('make key'), ...isMade, name: z.string(), scope: z.enum(KEY_SCOPES) },
        ...{ owner: z.string().nullable(), repositories: z.array(z.string()).nullable() },
        ...{ pull_requests_only: z.boolean(), branches: z.array(z.string()).nullable() },
        expires_at: z.iso.datetime().nullable(),
      }),
      z.strictObject({ kind: z.literal('revoke key'), ...isMade, ...namedKey, reason: z.string() }),
      z.strictObject({
        ...{ kind: z.literal('add repository'), ...isMade, repository: z.string() },
        ...{ host: z.string().nullable(), settings },
      }),
      z.strictObject({
        ...{ kind: z.literal('change repository'), ...isMade, repository: z.string() },
        ...{ before: settings, settings, needs_rebuild: z.boolean() },
      }),
    ]),
  ),
  /** Keys of earlier files that the file leaves out, and that stay. */
  left: z.array(z.strictObject(namedKey)),
  /** Sentences: why nothing was changed. */
  refusals: z.array(z.string()),
});
type ApplyReport = z.infer<typeof applyReportSchema>;

/** @param made how many of the changes were made, from the first on */
export const reportOf = (plan: Plan, result: ApplyResult, made: number): ApplyReport => ({
  result,
  changes: plan.changes.map((change, nth) => reported(change, nth < made)),
  left: plan.left,
  refusals: plan.refusals,
});

function reported(change: Change, is_made: boolean): ApplyReport['changes'][number] {
  switch (change.kind) {
    case 'make key':
      return { kind: change.kind, is_made, name: change.key.name, ...reportedRights(change.key.rights) };
    case 'revoke key':
      return { kind: change.kind, is_made, ...change.key, reason: change.reason };
    case 'add repository': {
      const { path, host = null, settings } = change.repository;
      return { kind: change.kind, is_made, repository: pathOf(path), host, settings };
    }
    case 'change repository': {
      const { path, before, settings, needsRebuild } = change;
      return { kind: change.kind, is_made, repository: pathOf(path), before, settings, needs_rebuild: needsRebuild };
    }
  }
}

const reportedRights = ({ scope, owner, repositories, pullRequestsOnly, branches, expiresAt }: KeyRights) => ({
  ...{ scope, owner, repositories: repositories && [...repositories] },
  ...{ pull_requests_only: pullRequestsOnly, branches: branches && [...branches] },
  expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
});
