/**
 * Who a person is, asked with OpenID Connect: the authorization code flow with PKCE, state and nonce. openid-client does
 * the protocol, and is loaded with the first sign-in. No token, code or answer of the provider reaches a log: errors of
 * the library hold them, so only their codes are kept.
 */
import type { ClientAuth, Configuration } from 'openid-client';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Person } from '../domain/sign-in-rules.ts';

/** How long the provider's description of itself is used before it is asked for again. */
const KEPT_MS = 60 * 60_000;
/** A provider that did not answer is left alone for this long. */
const FAILURE_MS = 5_000;
/** For one request to the provider. */
const REQUEST_S_MAX = 5;
const NAME_LENGTH_MAX = 200;

interface IdentityProviderOptions {
  clock: Clock;
  /** The address below which the provider describes itself. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The scopes to ask for, with spaces between; `openid` must be there. */
  scopes: string;
  /** The claim that lists the groups of a person. */
  groupsClaim: string;
}

/** A sign-in on its way: what its answer must fit to. */
export interface SignInAttempt {
  state: string;
  nonce: string;
  verifier: string;
}

/** A person as the provider names them. */
interface NamedPerson extends Person {
  name: string;
}

/** The provider gave no usable answer, or refuses this service. The same sign-in may succeed later. */
export class ProviderUnavailable extends Error {
  override name = 'ProviderUnavailable';
  /** @param reason for the log; never holds a secret */
  constructor(readonly reason: string) {
    super(reason);
  }
}

/** The provider does not vouch for the person, or not to this service. `message` is a sentence for the person. */
export class SignInRefused extends Error {
  override name = 'SignInRefused';
  /** @param reason for the log; never holds a secret */
  constructor(
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

export class IdentityProvider {
  readonly #options: IdentityProviderOptions;
  #known: { configuration: Configuration; askedAt: number } | undefined;
  #asking: Promise<Configuration> | undefined;
  #failed: { at: number; error: ProviderUnavailable } | undefined;

  constructor(options: IdentityProviderOptions) {
    this.#options = options;
  }

  /** Its address in words, for people. */
  get host(): string {
    return new URL(this.#options.issuer).host;
  }

  /** The address at which the person proves who they are. Throws {@link ProviderUnavailable}. */
  async begin(redirectUrl: string): Promise<{ address: string; attempt: SignInAttempt }> {
    const configuration = await this.#configuration();
    const client = await import('openid-client');
    const attempt = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const address = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUrl,
      scope: this.#options.scopes,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    });
    return { address: address.href, attempt };
  }

  /**
   * The person of an answer of the provider. Throws {@link ProviderUnavailable} or {@link SignInRefused}.
   *
   * @param answer the redirect URL with what the provider added to it
   */
  async finish(answer: URL, { state, nonce, verifier }: SignInAttempt): Promise<NamedPerson> {
    const configuration = await this.#configuration();
    const client = await import('openid-client');
    try {
      const tokens = await client.authorizationCodeGrant(configuration, answer, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) throw new ProviderUnavailable('no ID token');
      // Many providers put the address and the groups only here.
      const more = configuration.serverMetadata().userinfo_endpoint
        ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : {};
      return personOf({ ...more, ...claims }, this.#options.groupsClaim);
    } catch (error) {
      throw outcomeOf(error, client);
    }
  }

  /** From memory for an hour, and after that for as long as the provider is away. */
  async #configuration(): Promise<Configuration> {
    const now = this.#options.clock.now();
    const known = this.#known;
    if (known && isWithin(known.askedAt, KEPT_MS, now)) return known.configuration;
    if (this.#failed && isWithin(this.#failed.at, FAILURE_MS, now)) {
      if (known) return known.configuration;
      throw this.#failed.error;
    }
    this.#asking ??= this.#ask(now).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(now: number): Promise<Configuration> {
    try {
      const configuration = await discover(this.#options);
      this.#known = { configuration, askedAt: now };
      this.#failed = undefined;
      return configuration;
    } catch (error) {
      this.#failed = { at: now, error: new ProviderUnavailable(`discovery: ${reasonOf(error)}`) };
      if (this.#known) return this.#known.configuration;
      throw this.#failed.error;
    }
  }
}

/** Not for times that lie in the future, after the clock was set back. */
const isWithin = (since: number, ms: number, now: number): boolean => now >= since && now - since < ms;

async function discover({ issuer, clientId, clientSecret }: IdentityProviderOptions): Promise<Configuration> {
  const client = await import('openid-client');
  const [basic, post] = [client.ClientSecretBasic(clientSecret), client.ClientSecretPost(clientSecret)];
  // A provider that does not say how takes it as `basic` (OpenID Connect Discovery 1.0, section 3).
  const authenticate: ClientAuth = (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
  const address = new URL(issuer);
  return client.discovery(address, clientId, undefined, authenticate, {
    timeout: REQUEST_S_MAX,
    execute: [
      // Also of tokens that come from the provider itself, whose connection alone would vouch for them.
      client.enableNonRepudiationChecks,
      // The configuration allows it for providers on this machine only.
      ...(address.protocol === 'http:' ? [client.allowInsecureRequests] : []),
    ],
  });
}

const claimsSchema = z.object({
  sub: z.string(),
  email: z.string().optional().catch(undefined),
  // Some providers write it as text.
  email_verified: z.union([z.boolean(), z.stringbool()]).optional().catch(undefined),
  preferred_username: z.string().optional().catch(undefined),
});
const groupsSchema = z.union([z.array(z.string()), z.string().transform((group) => [group])]).catch([]);

function personOf(claims: Record<string, unknown>, groupsClaim: string): NamedPerson {
  const { sub, email, email_verified, preferred_username } = claimsSchema.parse(claims);
  const verified = email_verified ? email : undefined;
  const name = verified || preferred_username || sub;
  return { name: name.slice(0, NAME_LENGTH_MAX), email: verified, groups: groupsSchema.parse(claims[groupsClaim]) };
}

/** The answers that are about this sign-in; all others are about the provider. */
const REFUSING_CODES = [
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
];
const PROVIDER_TROUBLE = ['server_error', 'temporarily_unavailable'];

function outcomeOf(error: unknown, client: typeof import('openid-client')): Error {
  if (error instanceof ProviderUnavailable) return error;
  const reason = reasonOf(error);
  if (error instanceof client.AuthorizationResponseError)
    return PROVIDER_TROUBLE.includes(error.error)
      ? new ProviderUnavailable(reason)
      : new SignInRefused(reason, 'The identity provider did not sign you in.');
  if (error instanceof client.ResponseBodyError && error.error === 'invalid_grant')
    return new SignInRefused(
      reason,
      'The identity provider no longer accepts this sign-in: it was finished before, or took too long.',
    );
  if (error instanceof client.ClientError && REFUSING_CODES.includes(error.code ?? ''))
    return new SignInRefused(
      reason,
      'What the identity provider answered is not valid for this service. If it happens again, tell an operator.',
    );
  return new ProviderUnavailable(reason);
}

/** Codes and names only: messages and causes may quote what was received. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const said = 'error' in error && typeof error.error === 'string' ? error.error : undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const claim = claimOf(error.cause);
  const status = 'status' in error && typeof error.status === 'number' ? error.status : undefined;
  const kind = said?.replace(/[^\w.-]/g, '').slice(0, 50) ?? code ?? error.name;
  return [kind, status, claim].filter((part) => part !== undefined).join(' ');
}

/** Which claim of a token was wrong. */
function claimOf(cause: unknown): string | undefined {
  const details = cause instanceof Error ? cause.cause : undefined;
  const isNamed = typeof details === 'object' && details !== null && 'claim' in details;
  return isNamed && typeof details.claim === 'string' ? details.claim : undefined;
}
