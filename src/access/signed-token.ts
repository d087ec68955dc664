/**
 * Checks tokens that an issuer signed: identity tokens of CI jobs, access tokens of an identity provider. Issuer, audience,
 * time and signature, with the keys that the issuer publishes. jose does the cryptography, and is loaded with the first
 * token. No token reaches a log or an answer.
 */
import type { JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { HOUR_MS, SECOND_MS } from '../domain/time.ts';

/** Only those whose secret the issuer alone has. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** How far the clock of an issuer may differ from ours. */
const SKEW_SECONDS = 60;
/** However long its issuer says that it is valid: keys that were made for it are remembered for longer. */
const AGE_MAX = '1 day';
const REQUEST_MS_MAX = 5_000;
/** An issuer that did not answer is left alone for so long. */
const FAILURE_MS = 5_000;
/** How long the address of its keys is used before it is asked for again. */
const KEPT_MS = HOUR_MS;
const DESCRIPTION_BYTES_MAX = 256 * 1024;

/** The token is refused. The message is a sentence for the sender. */
export class TokenRefused extends Error {
  override name = 'TokenRefused';
}

/** The issuer gave no usable answer: the same token may be accepted later. */
export class IssuerUnavailable extends Error {
  override name = 'IssuerUnavailable';
}

/** Whose signature counts. */
interface Issuer {
  /** Distinct. */
  name: string;
  /** The issuer's name in tokens; its own description is found below that address. */
  url: string;
}

interface CheckedToken<I> {
  issuer: I;
  claims: Readonly<Record<string, unknown>>;
  subject: string;
}

interface IssuerKeys {
  keys: JWTVerifyGetKey;
  askedAt: number;
}

const unverifiedSchema = z.object({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string())]).transform((aud) => [aud].flat()),
  exp: z.number(),
});
const subjectSchema = z.string().min(1).max(1_000);
const descriptionSchema = z.object({ issuer: z.string(), jwks_uri: z.url() });

export class SignedTokens<I extends Issuer> {
  readonly #keys = new Map<string, IssuerKeys>();
  /** When issuers last gave no usable answer. */
  readonly #failures = new Map<string, number>();

  constructor(
    private readonly issuers: readonly I[],
    private readonly audiences: readonly string[],
    private readonly clock: Clock,
    /** Between two requests for keys because of a key that is unknown. */
    private readonly cooldownMs = 30 * SECOND_MS,
  ) {}

  /** Checks without cryptography that a token is for us, and not over. Throws {@link TokenRefused}. */
  async glance(token: string): Promise<I> {
    const { decodeJwt } = await import('jose');
    let payload: unknown;
    try {
      payload = decodeJwt(token);
    } catch {
      throw new TokenRefused('This is not an identity token of a CI.');
    }
    const parsed = unverifiedSchema.safeParse(payload);
    if (!parsed.success) throw new TokenRefused('The token has no issuer, audience or end.');
    const { iss, aud, exp } = parsed.data;
    const issuer = this.issuers.find(({ url }) => url === iss);
    if (!issuer)
      throw new TokenRefused('The issuer of the token is not among those of CI_TOKEN_ISSUERS: compare the addresses.');
    if (!aud.some((one) => this.audiences.includes(one)))
      throw new TokenRefused(
        `The token is for another audience. Ask the CI for one for ${this.audiences.join(' or ')}.`,
      );
    if (exp * SECOND_MS <= this.clock.now() - SKEW_SECONDS * SECOND_MS) throw expired();
    return issuer;
  }

  /** Checks a token of this issuer in full. Throws {@link TokenRefused} or {@link IssuerUnavailable}. */
  async check(issuer: I, token: string): Promise<CheckedToken<I>> {
    const { jwtVerify, errors } = await import('jose');
    const keys = await this.#keysOf(issuer);
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: issuer.url,
        audience: [...this.audiences],
        algorithms: ALGORITHMS,
        clockTolerance: SKEW_SECONDS,
        currentDate: new Date(this.clock.now()),
        requiredClaims: ['exp', 'iat', 'sub'],
        maxTokenAge: AGE_MAX,
      });
      return { issuer, claims: payload, subject: subjectSchema.parse(payload.sub) };
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw expired();
      if (error instanceof errors.JWTClaimValidationFailed)
        throw new TokenRefused(`The claim ${error.claim} of the token is not as it must be: ${error.reason}.`);
      const isOfToken = [
        errors.JWSInvalid,
        errors.JWTInvalid,
        errors.JWSSignatureVerificationFailed,
        errors.JWKSNoMatchingKey,
        errors.JWKSMultipleMatchingKeys,
        errors.JOSEAlgNotAllowed,
        errors.JOSENotSupported,
      ].some((kind) => error instanceof kind);
      if (isOfToken || error instanceof z.ZodError)
        throw new TokenRefused('The token is not signed by its issuer, or in a way that is not accepted.');
      throw unavailable(issuer, error);
    }
  }

  /** Keys are fetched with the first token and when one has an unknown key, at most every 30 s. */
  async #keysOf(issuer: I): Promise<JWTVerifyGetKey> {
    const now = this.clock.now();
    const known = this.#keys.get(issuer.name);
    if (known && now >= known.askedAt && now - known.askedAt < KEPT_MS) return known.keys;
    const failedAt = this.#failures.get(issuer.name);
    if (failedAt !== undefined && now >= failedAt && now - failedAt < FAILURE_MS) {
      if (known) return known.keys;
      throw unavailable(issuer);
    }
    try {
      const { createRemoteJWKSet } = await import('jose');
      const address = await addressOfKeys(issuer);
      const keys = createRemoteJWKSet(address, {
        timeoutDuration: REQUEST_MS_MAX,
        cooldownDuration: this.cooldownMs,
      });
      this.#keys.set(issuer.name, { keys, askedAt: now });
      this.#failures.delete(issuer.name);
      return keys;
    } catch (error) {
      this.#failures.set(issuer.name, now);
      if (known) return known.keys;
      throw unavailable(issuer, error);
    }
  }
}

const expired = () => new TokenRefused('The token has expired. Ask the CI for a new one.');
const unavailable = ({ url }: Issuer, cause?: unknown) =>
  new IssuerUnavailable(`${url} does not say right now with which keys it signs. Try again later.`, { cause });

/** The address that the issuer gives for its keys. It must have the issuer's origin, and use TLS if the issuer does. */
async function addressOfKeys({ url }: Issuer): Promise<URL> {
  const response = await fetch(`${url.replace(/\/$/, '')}/.well-known/openid-configuration`, {
    redirect: 'error',
    signal: AbortSignal.timeout(REQUEST_MS_MAX),
  });
  const text = await response.text();
  if (!response.ok || text.length > DESCRIPTION_BYTES_MAX) throw new Error(`status ${response.status}`);
  const { issuer, jwks_uri } = descriptionSchema.parse(JSON.parse(text));
  const address = new URL(jwks_uri);
  if (issuer !== url) throw new Error(`it says that its address is ${issuer}`);
  if (address.origin !== new URL(url).origin) throw new Error(`its keys are at ${address.origin}`);
  return address;
}
