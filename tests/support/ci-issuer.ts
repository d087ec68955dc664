/** A CI on this machine that signs who its jobs are: it describes itself and publishes its keys as real ones do. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

const ALG = 'RS256';

interface SigningKey {
  kid: string;
  secret: CryptoKey;
  published: JWK;
}

interface Signing {
  /** The newest one unless given. */
  key?: SigningKey;
  /** Milliseconds since the epoch. */
  now: number;
  lifetimeSeconds?: number;
}

export interface TestCi {
  url: string;
  /** How often its keys were asked for. */
  fetches: number;
  /** While true, it answers 500. */
  isAway: boolean;
  /** Makes a new key, which signs from now on; the old ones are published as long as they are kept. */
  rotate(kept?: number): Promise<void>;
  /** A key that it does not publish, with an id that it does. */
  forged(): Promise<SigningKey>;
  /** A token with these claims. */
  sign(claims: Record<string, unknown>, signing: Signing): Promise<string>;
  stop(): Promise<void>;
}

async function makeKey(kid: string): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(ALG);
  return { kid, secret: privateKey, published: { ...(await exportJWK(publicKey)), kid, alg: ALG, use: 'sig' } };
}

/** @param path where it is below its origin, such as `/_services/token` of GitHub Enterprise */
export async function startCi(path = ''): Promise<TestCi> {
  let keys = [await makeKey('key 1')];
  let made = 1;
  const server = createServer((request, response) => {
    const answer = (body: object): void => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body));
    };
    if (self.isAway) {
      response.statusCode = 500;
      response.end();
    } else if (request.url === `${path}/.well-known/openid-configuration`)
      answer({ issuer: self.url, jwks_uri: `${self.url}/keys` });
    else if (request.url === `${path}/keys`) {
      self.fetches++;
      answer({ keys: keys.map(({ published }) => published) });
    } else {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const self: TestCi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    fetches: 0,
    isAway: false,
    rotate: async (kept = 1) => {
      keys = [...keys.slice(keys.length - kept), await makeKey(`key ${++made}`)];
    },
    forged: async () => ({ ...(await makeKey('forged')), kid: keys.at(-1)?.kid ?? '' }),
    sign: (claims, { key = keys.at(-1), now, lifetimeSeconds = 300 }) => {
      if (!key) throw new Error('it has no key');
      const seconds = Math.floor(now / 1_000);
      return new SignJWT({ sub: 'a job', ...claims })
        .setProtectedHeader({ alg: ALG, kid: key.kid, typ: 'JWT' })
        .setIssuer(typeof claims.iss === 'string' ? claims.iss : self.url)
        .setIssuedAt(seconds)
        .setNotBefore(seconds)
        .setExpirationTime(seconds + lifetimeSeconds)
        .sign(key.secret);
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}
