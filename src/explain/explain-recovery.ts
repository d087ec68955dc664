/** How far the quarantines of a test had recovered at any moment, as the evaluation decides it. Pure. */
import { isTrouble } from '../domain/execution.ts';
import { isRecovered } from '../domain/quarantine-rules.ts';
import type { Health } from '../domain/status.ts';
import { type Identity, identityOf } from '../domain/test-identity.ts';
import { coveredBy, recentIdentities } from '../evaluation/quarantines.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import type { ExplainOptions, IdentityExplanation } from './explain.ts';

export interface RecoveryExplanation {
  quarantine: Quarantine;
  isRecovered: boolean;
  identities: readonly RecoveringIdentity[];
}

interface RecoveringIdentity extends Identity {
  health: Health;
  /** Clean passes since the quarantine was made, and how many more it needs; null: more than anyone waits for. */
  cleanPasses: number;
  cleanPassesNeeded: number | null;
}

/** How far each quarantine of an explained test had recovered by that moment, as the evaluation decides it. */
export function explainRecovery(
  { asOf }: Pick<ExplainOptions, 'asOf'>,
  identities: readonly IdentityExplanation[],
  quarantines: readonly Quarantine[],
): RecoveryExplanation[] {
  const recent = recentIdentities(identities);
  return quarantines
    .filter(({ createdAt }) => createdAt.getTime() <= asOf)
    .map((quarantine) => {
      const quarantinedAt = quarantine.createdAt.getTime();
      const covered = coveredBy(quarantine, recent);
      return {
        quarantine,
        isRecovered: isRecovered(covered, quarantinedAt),
        identities: covered.map((one) => recovering(one, quarantinedAt)),
      };
    });
}

function recovering(identity: IdentityExplanation, quarantinedAt: number): RecoveringIdentity {
  const { health, cleanPassesNeeded, executions } = identity;
  const cleanPasses = executions.filter(
    (one) => one.finishedAt > quarantinedAt && one.status !== 'skipped' && !isTrouble(one),
  ).length;
  return { ...identityOf(identity), health, cleanPasses, cleanPassesNeeded };
}
