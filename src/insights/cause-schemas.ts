/** What lists and pages of causes have in common. */
import { z } from 'zod';
import { formatMoment } from '../domain/moment.ts';
import { DAY_MS } from '../domain/time.ts';
import { CAUSE_OWNERS_MAX } from '../postgres/cause-owners.ts';
import type { QuarantinedCause } from '../postgres/cause-quarantines.ts';
import { type CauseTerms, NO_TERMS } from '../postgres/cause-terms.ts';
import * as common from './common.ts';

export const causeIdOut = z
  .guid()
  .meta({ description: 'Stays, also when it is merged', example: '6b1f2a52-4dd6-5a3e-9a75-0b2f1d9d3c14' });

export const daysOut = z
  .array(z.object({ day: z.iso.date(), failure_count: z.int() }))
  .meta({ description: 'UTC days with failures, in order', example: [{ day: '2026-11-20', failure_count: 7 }] });

/** The first ten characters of a moment are its day. */
export const daysJson = (days: readonly (readonly [number, number])[]): z.output<typeof daysOut> =>
  days.map(([day, failures]) => ({ day: formatMoment(day * DAY_MS).slice(0, 10), failure_count: failures }));

export const testOut = z.object({ test_id: common.testIdOut, test_name: common.testNameOut });

export const countOut = (description: string, example: number) => z.int().meta({ description, example });

export const quarantineOut = z
  .object({
    reason: z.string().meta({ example: 'The ledger is down until the move' }),
    branch: z.string().nullable().meta({ description: 'Branch or pattern; null: every branch', example: null }),
    expires_at: common.dateTimeOut.nullable().meta({ description: 'When it ends automatically; null: never' }),
    created_at: common.dateTimeOut,
    created_by: z.string().meta({ description: 'The name of a key or person', example: 'octocat' }),
  })
  .nullable()
  .meta({ description: 'The quarantine of its failures, in whatever test; null: none' });

export const quarantineJson = (found: QuarantinedCause | undefined): z.input<typeof quarantineOut> =>
  found
    ? {
        reason: found.reason,
        branch: found.branch,
        expires_at: found.expiresAt && formatMoment(found.expiresAt.getTime()),
        created_at: formatMoment(found.createdAt.getTime()),
        created_by: found.actor,
      }
    : null;

/** Whose a cause is. */
export const termsOut = {
  owner: z.string().nullable().meta({
    description: 'The person or team to which people gave it; null: no one',
    example: 'team-platform',
  }),
  ticket_url: z
    .string()
    .nullable()
    .meta({ description: 'Where its repair is tracked', example: 'https://tickets.acme.example/OPS-77' }),
  owners: z.array(z.string()).meta({
    description: `The owners of the tests that it hit, those of most tests first: at most ${CAUSE_OWNERS_MAX}`,
    example: ['@acme/cart'],
  }),
};

export const termsJson = ({ owner, ticketUrl }: CauseTerms = NO_TERMS, owners: string[] = []) => ({
  owner,
  ticket_url: ticketUrl,
  owners,
});
