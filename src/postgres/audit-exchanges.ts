/**
 * The entries of the trail for keys that CI jobs get for their identity tokens: one for each day (UTC), repository and kind
 * of rights, which counts them. A key lives for an hour, and a busy repository gets thousands in a day: an entry for each
 * would bury what people did.
 */
import { sql } from 'drizzle-orm';
import { v5 as uuid5 } from 'uuid';
import { type AuditAction, briefText } from '../domain/audit.ts';
import { formatMoment } from '../domain/moment.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Executor } from './client.ts';
import { type applicationKeys, audit } from './schema.ts';

const NAMESPACE = 'b0a7d8f0-5c5e-4a0e-9f0a-0c1d6a3f7e52';
const ACTION: AuditAction = 'key.exchange';

type ExchangedKey = Pick<
  typeof applicationKeys.$inferSelect,
  'id' | 'name' | 'scope' | 'owner' | 'repositories' | 'bounds'
>;

/** Counts a key. `tx` is the transaction that makes it. */
export async function recordExchange(tx: Executor, key: ExchangedKey, now: number): Promise<void> {
  const { id, name, scope, owner, repositories, bounds } = key;
  const repository = repositories?.[0] ?? null;
  const rights = {
    scope,
    pull_requests_only: bounds?.pull_requests_only ?? false,
    is_evidence: bounds?.is_confined === false,
  };
  const which = ` with scope ${scope}${rights.pull_requests_only ? ', for pull requests only' : ''}`;
  const last = { last_at: formatMoment(now), last_key_id: id };
  const counted = sql`(${audit.after}::jsonb ->> 'keys')::int + 1`;
  await tx
    .insert(audit)
    .values({
      // Equal for what one entry counts, and for nothing else.
      id: uuid5(JSON.stringify([Math.floor(now / DAY_MS), name, owner, repository, rights]), NAMESPACE),
      at: new Date(now),
      actorKind: 'ci_job',
      actorName: briefText(name),
      action: ACTION,
      objectName: `1 key${which}`,
      owner,
      repository,
      after: JSON.stringify({ ...rights, keys: 1, ...last }),
    })
    .onConflictDoUpdate({
      target: audit.id,
      set: {
        objectName: sql`${counted} || ${` keys${which}`}::text`,
        after: sql`(${audit.after}::jsonb || jsonb_build_object('keys', ${counted}) || ${JSON.stringify(last)}::jsonb)::text`,
      },
    });
}
