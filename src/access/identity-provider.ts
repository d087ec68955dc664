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
/** A chosen name with the subject beside it, which has 255 characters at most. */
const NAMED_LENGTH_MAX = 460;
const OFFLINE = 'offline_access';

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
  /** Ids of the tenants whose people may sign in; empty: the issuer speaks for one alone. */
  tenants: readonly string[];
  /** Whether the provider has accounts that no organisation manages, and says which one does (`hd`). */
  hasHostedDomains: boolean;
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
  /** Who they are there, for good: names and addresses change hands. */
  subject: string;
}

/** The provider's answer about a person, and the token with which it can be asked again. */
interface Vouching {
  person: NamedPerson;
  /** Undefined: the provider gives none. */
  refreshToken: string | undefined;
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
      ...this.#scopesOf(configuration),
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
  async finish(answer: URL, { state, nonce, verifier }: SignInAttempt): Promise<Vouching> {
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
      requireTenant(claims, this.#options.tenants);
      const more = await this.#userInfo(configuration, tokens.access_token, claims.sub);
      return { person: personOf(claims, more, this.#options), refreshToken: tokens.refresh_token };
    } catch (error) {
      throw outcomeOf(error, client);
    }
  }

  /**
   * Asks the provider about a person again. Throws {@link ProviderUnavailable}, or {@link SignInRefused} if it no longer
   * vouches for them.
   */
  async renew(refreshToken: string, subject: string): Promise<Vouching> {
    const configuration = await this.#configuration();
    const client = await import('openid-client');
    try {
      const tokens = await client.refreshTokenGrant(configuration, refreshToken);
      const told = tokens.claims();
      // Without another ID token it is still the subject whose tenant was checked at the sign-in.
      if (told) requireTenant(told, this.#options.tenants);
      const claims = told ?? { sub: subject };
      if (claims.sub !== subject) throw notValid('another subject');
      const more = await this.#userInfo(configuration, tokens.access_token, subject);
      return { person: personOf(claims, more, this.#options), refreshToken: tokens.refresh_token ?? refreshToken };
    } catch (error) {
      throw outcomeOf(error, client);
    }
  }

  /**
   * The person of claims that the provider signed. Throws {@link SignInRefused} for a tenant whose people may not
   * sign in.
   */
  personIn(claims: Claims): NamedPerson {
    requireTenant(claims, this.#options.tenants);
    return personOf(claims, {}, this.#options);
  }

  /** Many providers put the address and the groups only here. */
  async #userInfo(configuration: Configuration, accessToken: string, subject: string): Promise<Claims> {
    if (!configuration.serverMetadata().userinfo_endpoint) return {};
    const client = await import('openid-client');
    return client.fetchUserInfo(configuration, accessToken, subject);
  }

  /** Asks for a refresh token where the provider gives one, so that it can be asked again about the person. */
  #scopesOf(configuration: Configuration): Record<string, string> {
    const { scopes, hasHostedDomains } = this.#options;
    // Google knows no such scope, and gives a token with the first consent only.
    if (hasHostedDomains) return { scope: scopes, access_type: 'offline', prompt: 'consent' };
    const isOffered = configuration.serverMetadata().scopes_supported?.includes(OFFLINE) ?? false;
    const isAsked = !isOffered || scopes.split(' ').includes(OFFLINE);
    return { scope: isAsked ? scopes : `${scopes} ${OFFLINE}` };
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

type Claims = Readonly<Record<string, unknown>>;

const addressSchema = z.object({
  email: z.string().optional().catch(undefined),
  // Some providers write it as text.
  email_verified: z.union([z.boolean(), z.stringbool()]).optional().catch(undefined),
  hd: z.string().optional().catch(undefined),
});
const nameSchema = z.object({
  sub: z.string(),
  preferred_username: z.string().optional().catch(undefined),
});
const groupsSchema = z.union([z.array(z.string()), z.string().transform((group) => [group])]).catch([]);

/** Throws unless the ID token comes from a tenant whose people may sign in. */
function requireTenant({ tid }: Claims, tenants: readonly string[]): void {
  if (tenants.length === 0 || (typeof tid === 'string' && tenants.includes(tid.toLowerCase()))) return;
  throw new SignInRefused(
    'tenant',
    'Your organisation may not sign in here. Ask an operator to add it to OIDC_TENANTS.',
  );
}

/**
 * @param claims of the ID token
 * @param more what the provider tells besides
 */
function personOf(
  claims: Claims,
  more: Claims,
  { groupsClaim, hasHostedDomains }: IdentityProviderOptions,
): NamedPerson {
  const { sub, preferred_username: chosen } = nameSchema.parse({ ...more, ...claims });
  // The address and that it is verified come from one document: the other may speak of another address.
  const verified = [claims, more]
    .map((document) => addressSchema.parse(document))
    .find(({ email, email_verified }) => email && email_verified);
  return {
    // People may choose a name, also that of another.
    name: (verified?.email ?? (chosen ? `${chosen.slice(0, NAME_LENGTH_MAX)} (${sub})` : sub)).slice(
      0,
      NAMED_LENGTH_MAX,
    ),
    subject: sub,
    email: verified?.email,
    groups: groupsSchema.parse(claims[groupsClaim] ?? more[groupsClaim]),
    ...(hasHostedDomains && { hostedDomain: verified?.hd ?? null }),
  };
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

const notValid = (reason: string): SignInRefused =>
  new SignInRefused(
    reason,
    'What the identity provider answered is not valid for this service. If it happens again, tell an operator.',
  );

function outcomeOf(error: unknown, client: typeof import('openid-client')): Error {
  if (error instanceof ProviderUnavailable || error instanceof SignInRefused) return error;
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
  if (error instanceof client.ClientError && REFUSING_CODES.includes(error.code ?? '')) return notValid(reason);
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
