/** Saved views: list pages of a repository with what narrows and orders them, kept under a name. */
import { NIL, v5 as uuid5 } from 'uuid';

/** The list pages of a repository, by the last part of their address in the web application. */
export const VIEW_PAGES = [
  'tests',
  'pulls',
  'runs',
  'causes',
  'quarantines',
  'owners',
  'cost',
  'durations',
  'lanes',
  'events',
  'uploads',
] as const;

/** The query of an address as browsers write it: printable ASCII, without the question mark and without a fragment. */
export const VIEW_QUERY = /^[!"$-~]*$/;

/** Who has views that no one else sees. */
export type ViewHolder =
  | { kind: 'key'; keyId: string }
  /** A person, by their subject at the identity provider; or a name at the repository host, or of a link that signs in. */
  | { kind: 'person' | 'login' | 'link'; name: string };

/** The namespace of holders: drawn at random once, for this project. */
const HOLDER_NAMESPACE = 'b1f7c1de-5f0e-4c55-8d6a-94a0a6a6d0c7';

/** An id for what may be long: a subject has up to 1,000 characters. */
export const holderIdOf = (holder: ViewHolder): string =>
  holder.kind === 'key' ? holder.keyId : uuid5(`${holder.kind} ${holder.name}`, HOLDER_NAMESPACE);

/** The holder of what is for everyone who may read the repository. */
export const EVERYONE = NIL;
