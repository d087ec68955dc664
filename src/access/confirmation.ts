/**
 * Asks the identity provider again about the people of sessions, so that access ends when the group does. A session is
 * confirmed when it is used and ten minutes have passed; after fifteen it does not work until the provider has answered.
 *
 * One process asks at a time: many providers take a refresh token once, and end everything if it comes twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { grantOfPerson, type SignInRule } from '../domain/sign-in-rules.ts';
import { HttpProblem } from '../http/problems.ts';
import type { Logger } from '../observability/log.ts';
import type { Session, SessionStore } from '../postgres/sessions.ts';
import { type IdentityProvider, ProviderUnavailable, SignInRefused } from './identity-provider.ts';
import { openRenewal, sealRenewal } from './renewal.ts';

const MINUTE_MS = 60_000;
/** From then on the provider is asked. */
const CONFIRMED_MS = 10 * MINUTE_MS;
/** So long a session works without a new word of the provider. */
export const UNCONFIRMED_MS_MAX = 15 * MINUTE_MS;
/** How long a request waits for another process that asks, and how often it looks. */
const WAIT_MS_MAX = 6_000;
const WAIT_STEP_MS = 100;
/** A provider that did not answer is not asked again about the same session for so long. */
const FAILURE_MS = 5_000;
const FAILURES_MAX = 10_000;

/** The identity provider, and whom its word lets in. */
interface Identity {
  provider: Pick<IdentityProvider, 'renew' | 'host'>;
  rules: readonly SignInRule[];
}

interface ConfirmationsDeps {
  clock: Clock;
  log: Logger;
  sessions: SessionStore;
  /** Undefined: no provider is configured, so none vouches for anyone. */
  identity: Identity | undefined;
}

export class Confirmations {
  readonly #deps: ConfirmationsDeps;
  readonly #pending = new Map<string, Promise<Session | undefined>>();
  readonly #failedAt = new Map<string, number>();

  constructor(deps: ConfirmationsDeps) {
    this.#deps = deps;
  }

  /** The session as it is after the provider was asked, if that is due; undefined if it has ended. Throws 503. */
  async of(session: Session, token: string): Promise<Session | undefined> {
    if (session.confirmedAt === null) return session;
    const age = this.#deps.clock.now() - session.confirmedAt.getTime();
    if (age >= 0 && age < CONFIRMED_MS) return session;
    const pending = this.#pending.get(session.id);
    if (pending) return pending;
    const asking = this.#ask(session, token, age >= 0 && age < UNCONFIRMED_MS_MAX).finally(() =>
      this.#pending.delete(session.id),
    );
    this.#pending.set(session.id, asking);
    return asking;
  }

  async #ask(session: Session, token: string, isWorking: boolean): Promise<Session | undefined> {
    const { sessions, identity } = this.#deps;
    const refreshToken = session.renewal === null ? undefined : openRenewal(token, session.renewal);
    if (!identity || refreshToken === undefined) {
      if (isWorking) return session;
      await this.#end(session, 'the identity provider cannot be asked about the person any more');
      return undefined;
    }
    if (this.#hasJustFailed(session)) return this.#unconfirmed(session, isWorking);
    if (!(await sessions.takeConfirming(session))) return isWorking ? session : this.#waitForOther(session, token);
    try {
      const { person, refreshToken: next } = await identity.provider.renew(refreshToken, session.subject ?? '');
      const grant = grantOfPerson(identity.rules, person);
      if (!grant) {
        await this.#end(session, 'no rule lets the person in any more');
        return undefined;
      }
      await sessions.confirm(session, { ...grant, renewal: sealRenewal(token, next ?? refreshToken) });
      return await sessions.reload(token);
    } catch (error) {
      if (error instanceof SignInRefused) {
        await this.#end(session, 'the identity provider no longer vouches for the person');
        return undefined;
      }
      await sessions.leaveUnconfirmed(session);
      if (!(error instanceof ProviderUnavailable)) throw error;
      this.#deps.log.warn({ session_id: session.id, reason: error.reason }, 'a session could not be confirmed');
      this.#noteFailure(session);
      return this.#unconfirmed(session, isWorking);
    }
  }

  async #end(session: Session, reason: string): Promise<void> {
    await this.#deps.sessions.endUnvouched(session, reason);
    this.#deps.log.info({ session_id: session.id, reason }, 'a session has ended');
  }

  async #waitForOther(session: Session, token: string): Promise<Session | undefined> {
    for (let waited = 0; waited < WAIT_MS_MAX; waited += WAIT_STEP_MS) {
      await sleep(WAIT_STEP_MS);
      const now = await this.#deps.sessions.reload(token);
      if (!now || now.confirmedAt?.getTime() !== session.confirmedAt?.getTime()) return now;
    }
    return this.#unconfirmed(session, false);
  }

  #unconfirmed(session: Session, isWorking: boolean): Session {
    if (isWorking) return session;
    throw new HttpProblem(
      503,
      'Service unavailable',
      'The identity provider is unavailable right now, so it cannot be told whether you still have access. Try again later, or sign in with an application key.',
      { 'retry-after': String(FAILURE_MS / 1_000) },
    );
  }

  #hasJustFailed({ id }: Session): boolean {
    const failedAt = this.#failedAt.get(id);
    const age = failedAt === undefined ? FAILURE_MS : this.#deps.clock.now() - failedAt;
    return age >= 0 && age < FAILURE_MS;
  }

  #noteFailure({ id }: Session): void {
    if (this.#failedAt.size >= FAILURES_MAX) this.#failedAt.clear();
    this.#failedAt.set(id, this.#deps.clock.now());
  }
}
