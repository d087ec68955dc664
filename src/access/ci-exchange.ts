/** `POST /v1/auth/ci`: an identity token of a CI job for a short key, whose rights follow from its claims. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { type CiIssuer, type CiJob, ciJobOf } from '../domain/ci-claims.ts';
import { type CiRule, grantOfJob } from '../domain/ci-rules.ts';
import { KEY_SCOPES } from '../domain/key-scope.ts';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/time.ts';
import { hostOfIssuer } from '../hosts/pages.ts';
import { readJsonBody } from '../http/body.ts';
import { Budget } from '../http/budget.ts';
import { type Http, mount, STRANGERS_ROOM } from '../http/operation.ts';
import { forbidden, HttpProblem, notFound, PROBLEM_MEDIA_TYPE, unprocessable } from '../http/problems.ts';
import { noteActor } from '../observability/requests.ts';
import type { KeyStore } from '../postgres/keys.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { IssuerUnavailable, SignedTokens, TokenRefused } from './signed-token.ts';

/** Tokens take 1 to 3 KiB. */
const BODY_BYTES_MAX = 16 * 1024;
const KEY_MS = HOUR_MS;
/** Signatures that one process checks in a second, of anyone: a tenth of a millisecond each. */
const CHECKS_PER_SECOND = 100;
/** Keys of a repository in a minute: each is a row. */
const KEYS_PER_MINUTE = 300;

const madeSchema = z
  .object({
    token: z.string().meta({ description: 'The key: what requests send', example: 'cii_0b0sH2l9mEXAMPLE' }),
    expires_at: z.iso.datetime().meta({ example: '2026-11-21T10:30:00.000Z' }),
    scope: z.enum(KEY_SCOPES).meta({ example: 'upload' }),
    owner: z.string().meta({ example: 'acme' }),
    repository: z.string().meta({ example: 'shop' }),
    pull_requests_only: z
      .boolean()
      .meta({ description: "What it sends is never the default branch's", example: false }),
  })
  .meta({ id: 'CiKey' });

const bodySchema = z.object({ token: z.string().min(1) });
const EXAMPLE = { token: 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJodHRwczovL2NpIn0.c2lnbmF0dXJl' };

const problem = (status: number, title: string, description: string) => ({
  description,
  mediaType: PROBLEM_MEDIA_TYPE,
  example: { type: 'about:blank', title, status, detail: description },
});

interface CiExchangeDeps {
  keys: KeyStore;
  repositories: RepositoryStore;
  /** Undefined: CI jobs need keys. */
  config: { issuers: readonly CiIssuer[]; audiences: readonly string[]; rules: readonly CiRule[] } | undefined;
}

export function mountCiExchange(app: AnyElysia, http: Http, { keys, repositories, config }: CiExchangeDeps): void {
  const tokens = config && new SignedTokens(config.issuers, config.audiences, http.clock);
  const checks = new Budget(CHECKS_PER_SECOND, SECOND_MS);
  const made = new Budget(KEYS_PER_MINUTE, MINUTE_MS);

  /** The key is good without it. */
  async function learnHost(issuer: CiIssuer, { path }: CiJob, { owner, name }: RepositoryName): Promise<void> {
    try {
      const recorded = await repositories.find(owner, name);
      const page = recorded && hostOfIssuer(issuer, path, recorded);
      if (page) await repositories.learnHost(recorded, page, 'identity_token');
    } catch (error) {
      http.log.warn({ err: error, owner, name }, 'where the repository is shown could not be recorded');
    }
  }

  mount(app, http, 'POST', '/v1/auth/ci', {
    operationId: 'exchangeCiToken',
    tag: 'Service',
    summary: 'Exchange an identity token of a CI job for a key',
    description:
      "For jobs without a key: takes the identity token that GitHub Actions, GitLab, Buildkite or CircleCI gives to a job, made for this service, and gives a key of an hour for the job's repository. The rules of `CI_TOKEN_ACCESS` and the claims of the token decide what it may do. 404 if no issuer is configured.",
    access: 'public',
    // Counted below: what is no token of a known issuer must not take the room of those that are.
    perSecondMax: Number.POSITIVE_INFINITY,
    rawBody: {
      description: 'The token, in at most 16 KiB of JSON.',
      content: {
        'application/json': {
          schema: { type: 'object', required: ['token'], properties: { token: { type: 'string', minLength: 1 } } },
          example: EXAMPLE,
        },
      },
    },
    responses: {
      201: { description: 'The key.', schema: madeSchema },
      403: problem(403, 'Forbidden', 'The token is not accepted, was used before, or no rule fits its job.'),
      404: problem(404, 'Not found', 'This service takes no identity tokens.'),
      413: problem(413, 'Payload too large', 'The body is larger than any token.'),
      422: problem(422, 'Unprocessable entity', 'The body is not JSON with a token.'),
      503: problem(
        503,
        'Service unavailable',
        'The issuer or a store is unavailable right now, or too many tokens arrive, of everyone or of this repository; `Retry-After` says when to try again.',
      ),
    },
    handle: async ({ request, requestId }) => {
      if (!config || !tokens)
        throw notFound('This service takes no identity tokens of CI jobs. Use an application key.');
      const token = await tokenIn(request);
      try {
        const issuer = await tokens.glance(token);
        refuseBeyond(checks.take('', http.clock.now()), 'More tokens arrive than can be checked right now.');
        const { claims, subject } = await tokens.check(issuer, token);
        const job = ciJobOf(issuer.kind, claims);
        if (!job) throw new TokenRefused(`The token lacks a claim that tokens of ${issuer.kind} have.`);
        const grant = grantOfJob(config.rules, issuer.name, job, claims);
        if (!grant)
          throw new TokenRefused(
            `${issuer.name} knows this job as one of ${job.path}, but no rule of this service fits it. Ask an operator to add one to CI_TOKEN_ACCESS.`,
          );
        const { scope, repository, bounds } = grant;
        const name = `${issuer.name}:${job.path}`;
        refuseBeyond(made.take(name, http.clock.now()), `${job.path} asks for too many keys.`);
        const exchanged = await keys.createForCi({
          name: name.slice(0, NAME_LENGTH_MAX),
          owner: repository.owner,
          scope,
          repositories: [repository.name],
          bounds,
          expiresAt: new Date(http.clock.now() + KEY_MS),
          ciSubject: `${issuer.url} ${subject}`,
          onceOnly: job.onceOnly === undefined ? undefined : `${issuer.url} ${job.onceOnly}`,
        });
        if (!exchanged) throw new TokenRefused('The token was used before. Ask the CI for a new one.');
        await learnHost(issuer, job, repository);
        noteActor(request, { actor: name, key_id: exchanged.key.id, subject });
        http.log.info(
          { request_id: requestId, key_id: exchanged.key.id, name, scope },
          'a CI job got a key for its token',
        );
        return {
          status: 201,
          headers: { 'cache-control': 'no-store' },
          body: {
            token: exchanged.token,
            expires_at: formatMoment(http.clock.now() + KEY_MS),
            scope,
            owner: repository.owner,
            repository: repository.name,
            pull_requests_only: bounds.pull_requests_only,
          },
        };
      } catch (error) {
        if (error instanceof TokenRefused) {
          http.log.info({ request_id: requestId, reason: error.message }, 'an identity token was refused');
          throw forbidden(error.message);
        }
        if (!(error instanceof IssuerUnavailable)) throw error;
        http.log.warn({ err: error, request_id: requestId }, 'the issuer of an identity token is of no use');
        throw unavailable(error.message, 5);
      }
    },
  });
}

async function tokenIn(request: Request): Promise<string> {
  const body = await readJsonBody(request, { schema: bodySchema, bytesMax: BODY_BYTES_MAX, room: STRANGERS_ROOM });
  if (body.errors) throw unprocessable(body.errors);
  return body.value.token;
}

function refuseBeyond(seconds: number | undefined, sentence: string): void {
  if (seconds !== undefined) throw unavailable(`${sentence} Try again in ${seconds} seconds.`, seconds);
}

/** Never 429: not every client of a CI job tries again after one. */
const unavailable = (sentence: string, seconds: number): HttpProblem =>
  new HttpProblem(503, 'Service unavailable', sentence, { 'retry-after': String(seconds) });
