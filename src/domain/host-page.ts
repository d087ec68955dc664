/** The page of a repository on its host: the kind of host, its address, and who says so. */
import { z } from 'zod';
import { webAddressOf } from './limits.ts';

/** What is known of each kind is in `src/hosts`. */
export const HOST_KINDS = ['github', 'gitlab', 'gitea', 'bitbucket-cloud', 'bitbucket-data-center'] as const;
export type HostKindName = (typeof HOST_KINDS)[number];

const URL_BYTES_MAX = 1_000;
const URL_ERROR = `must be an address with http or https and at most ${URL_BYTES_MAX} bytes, without password, ? and #`;

/** A repository on its host. */
export const hostPageSchema = z.object({
  kind: z.enum(HOST_KINDS, { error: `must be one of ${HOST_KINDS.join(', ')}` }).meta({ example: 'github' }),
  url: z
    .string({ error: URL_ERROR })
    .refine(isPlainAddress, { error: URL_ERROR })
    .meta({ description: 'The address of the repository there', example: 'https://github.example.com/acme/shop' }),
});
export type HostPage = z.infer<typeof hostPageSchema>;

/** An address with http or https and nothing that a link would not keep. */
export function isPlainAddress(address: string): boolean {
  if (webAddressOf(address) === null || Buffer.byteLength(address) > URL_BYTES_MAX || /[?#{}]/.test(address))
    return false;
  const url = URL.parse(address);
  return url !== null && url.username === '' && url.password === '';
}

/**
 * Who says where a repository is shown, from the weakest to the strongest. An upload says it once, while no one has: who
 * may send results could lead everyone elsewhere with it.
 */
export const HOST_SOURCES = ['upload', 'identity_token', 'webhook', 'setting'] as const;
export type HostSource = (typeof HOST_SOURCES)[number];

/** Whether what a source says replaces what is known. */
export const overrulesHost = (source: HostSource, known: HostSource | null): boolean =>
  known === null || (source === 'upload' ? false : HOST_SOURCES.indexOf(source) >= HOST_SOURCES.indexOf(known));
