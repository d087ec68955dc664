/** Apps of a host: what is installed in repositories, and asks for short tokens instead of holding a long one. */

/** The identity of an App. */
export interface AppAccess {
  /** Its id or client id. */
  appId: string;
  /** PEM */
  privateKey: string;
}

export interface AppTokens {
  /** @param repository `acme/shop`. Throws a HostError, also if the App is not installed there. */
  tokenFor(repository: string): Promise<string>;
  /** After a refusal: rights and installations change. */
  forget(repository: string): void;
}
