/** Gives a cause an owner and a ticket. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { QUARANTINE_OWNER_LENGTH_MAX, WEB_ADDRESS_BYTES_MAX } from '../domain/limits.ts';
import { doerOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { uuid5 } from '../http/path.ts';
import { notFound } from '../http/problems.ts';
import { text, webAddress } from '../http/text.ts';
import { changeCauseTerms } from '../postgres/cause-terms.ts';
import type { Database } from '../postgres/client.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { repositoryPath } from './schemas.ts';

const OWNER_EXAMPLE = 'team-platform';
const TICKET_EXAMPLE = 'https://tickets.acme.example/OPS-77';
export const CAUSE_EXAMPLE = '6b1f2a52-4dd6-5a3e-9a75-0b2f1d9d3c14';

export const causePath = repositoryPath.extend({
  cause_id: uuid5('The cause, or one that was merged into it, as returned by the list of causes.', CAUSE_EXAMPLE),
});

export const unknownCause = () =>
  notFound('There is no such cause in this repository. Its causes are listed at …/causes.');

const terms = {
  owner: text(1, QUARANTINE_OWNER_LENGTH_MAX)
    .nullish()
    .meta({ description: 'The person or the team that will repair it. Null: no one', example: OWNER_EXAMPLE }),
  ticket_url: webAddress.nullish().meta({
    description: 'Where the repair is tracked: an address with http or https. Null: nowhere',
    example: TICKET_EXAMPLE,
    maxLength: WEB_ADDRESS_BYTES_MAX,
  }),
};

/** A misspelt field is refused: no one would find out. */
const changeBody = z.strictObject(terms, {
  error: (issue) =>
    issue.code === 'unrecognized_keys'
      ? `has what cannot be changed (${issue.keys?.join(', ')}); it may hold ${Object.keys(terms).join(', ')}`
      : undefined,
});

const response = z
  .object({
    cause_id: z.guid().meta({ description: 'The cause that the id leads to', example: CAUSE_EXAMPLE }),
    owner: z.string().nullable().meta({ example: OWNER_EXAMPLE }),
    ticket_url: z.string().nullable().meta({ example: TICKET_EXAMPLE }),
  })
  .meta({ id: 'CauseTerms' });

export function mountCauseTerms(
  app: AnyElysia,
  http: Http,
  { repositories, db, clock }: { repositories: RepositoryStore; db: Database; clock: Clock },
): void {
  mount(app, http, 'PATCH', '/v1/ci/:owner/repositories/:repository/causes/:cause_id', {
    operationId: 'updateCause',
    tag: 'CI quarantine',
    summary: 'Give a cause an owner and a ticket',
    description:
      'Who repairs what the failures have in common, and where that is tracked. What the body leaves out stays as it is; null removes it. A merge keeps both: the cause that is left has its own, or else what causes that were merged into it had, those changed last first.',
    access: 'quarantine',
    params: causePath,
    body: changeBody,
    bodyExample: { owner: OWNER_EXAMPLE, ticket_url: TICKET_EXAMPLE },
    responses: { 200: { description: 'The terms as they are now.', schema: response } },
    handle: async ({ params: path, body, credential, requestId }) => {
      const repository = await repositories.find(path.owner, path.repository);
      const changes = {
        ...(body.owner !== undefined && { owner: body.owner }),
        ...(body.ticket_url !== undefined && { ticketUrl: body.ticket_url }),
      };
      const changed =
        repository &&
        (await changeCauseTerms(db, repository, path.cause_id, changes, {
          by: doerOf(credential, requestId),
          now: clock.now(),
        }));
      if (!changed) throw unknownCause();
      return { body: { cause_id: changed.causeId, owner: changed.owner, ticket_url: changed.ticketUrl } };
    },
  });
}
