/**
 * Access tokens of the identity provider, made for this service: with them, people lend their rights to a program, such as an
 * agent that signed them in there (RFC 9068, and the authorization of the Model Context Protocol). A token for another
 * service is no credential here.
 */
import type { Clock } from '../clock.ts';
import { grantOfPerson, type SignInRule } from '../domain/sign-in-rules.ts';
import type { Credential, CredentialSource } from '../http/auth.ts';
import { forbidden, HttpProblem } from '../http/problems.ts';
import { accessOf } from './credential.ts';
import { type IdentityProvider, SignInRefused } from './identity-provider.ts';
import { IssuerUnavailable, SignedTokens, TokenRefused } from './signed-token.ts';

/** Three parts in base64url, of which the first is an object. */
const SIGNED = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

interface AccessTokensOptions {
  clock: Clock;
  provider: IdentityProvider;
  issuer: string;
  rules: readonly SignInRule[];
  /** A token must be made for one of them. */
  audiences: readonly string[];
}

export class AccessTokens implements CredentialSource {
  readonly #options: AccessTokensOptions;
  readonly #issuer: { name: string; url: string };
  readonly #tokens: SignedTokens<{ name: string; url: string }>;

  constructor(options: AccessTokensOptions) {
    this.#options = options;
    this.#issuer = { name: 'provider', url: options.issuer };
    this.#tokens = new SignedTokens([this.#issuer], options.audiences, options.clock);
  }

  async find(token: string): Promise<Credential | undefined> {
    if (!SIGNED.test(token)) return undefined;
    const person = await this.#personOf(token);
    if (!person) return undefined;
    const grant = grantOfPerson(this.#options.rules, person);
    if (!grant)
      throw forbidden(
        `The identity provider vouches for ${person.name}, but no rule of this service lets you in. Ask an operator to add one to OIDC_ACCESS.`,
      );
    return {
      actor: person.name,
      subject: person.subject,
      grant,
      access: async (repository, permission) => accessOf(grant, repository, permission),
    };
  }

  async #personOf(token: string) {
    try {
      const { claims } = await this.#tokens.check(this.#issuer, token);
      return this.#options.provider.personIn(claims);
    } catch (error) {
      if (error instanceof TokenRefused || error instanceof SignInRefused) return undefined;
      if (!(error instanceof IssuerUnavailable)) throw error;
      throw new HttpProblem(503, 'Service unavailable', error.message, { 'retry-after': '5' });
    }
  }
}
