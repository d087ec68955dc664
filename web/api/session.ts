/** Who is signed in. */
import { queryOptions } from '@tanstack/react-query';
import type { CredentialInUse } from '../../src/access/sessions.ts';
import { ask, get, Problem, SESSION } from './client.ts';
import { keyOf } from './keys.ts';
import { rememberProvider } from './lost-session.ts';

/** Who is signed in; null: nobody. */
export const sessionQuery = queryOptions({
  queryKey: keyOf('session'),
  queryFn: async ({ signal }): Promise<CredentialInUse | null> => {
    try {
      const session = await get<CredentialInUse>(SESSION, {}, signal);
      rememberProvider(session.is_from_provider);
      return session;
    } catch (error) {
      if (error instanceof Problem && error.status === 403) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

export const signIn = (key: string) => ask<CredentialInUse>('POST', SESSION, { body: { key } });

/** Also of a session that has ended already. */
export async function signOut(): Promise<void> {
  try {
    await ask<undefined>('DELETE', SESSION);
  } catch (error) {
    if (!(error instanceof Problem && error.status === 403)) throw error;
  }
  rememberProvider(false);
}
