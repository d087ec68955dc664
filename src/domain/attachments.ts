/**
 * Attachments of a failed attempt: links to what the runner kept of it. The files stay where the CI job put them; only
 * their addresses are stored, and none but `https`.
 */
import { z } from 'zod';
import { ATTACHMENTS_MAX, NAME_LENGTH_MAX, webAddressOf } from './limits.ts';
import { cleanText, shownName } from './text.ts';

const ATTACHMENT_KINDS = ['screenshot', 'video', 'trace', 'log', 'file'] as const;
export type AttachmentKind = (typeof ATTACHMENT_KINDS)[number];

export const attachmentSchema = z.object({
  kind: z.enum(ATTACHMENT_KINDS),
  /** By which the test or its runner calls it; empty if it has none. */
  name: z.string().default(''),
  url: z.string(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

/** The address of an attachment, or null: `https` without a user or password, and short enough. */
export function attachmentAddressOf(address: string): string | null {
  if (webAddressOf(address) === null) return null;
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return null;
  return webAddressOf(url.href);
}

/**
 * The attachments of one execution that are kept, for each of its failures: those that may be linked, each address once,
 * the first {@link ATTACHMENTS_MAX} of them.
 */
export class KeptAttachments {
  readonly #addresses = new Set<string>();
  /** Whether there were more than are kept. */
  areTooMany = false;

  of(reported: readonly Attachment[] | null | undefined): Attachment[] {
    const kept: Attachment[] = [];
    for (const { kind, name, url } of reported ?? []) {
      const address = attachmentAddressOf(url);
      if (address === null || this.#addresses.has(address)) continue;
      if (this.#addresses.size >= ATTACHMENTS_MAX) {
        this.areTooMany = true;
        break;
      }
      this.#addresses.add(address);
      kept.push({ kind, name: shownName(name, NAME_LENGTH_MAX), url: address });
    }
    return kept;
  }
}

/** The stored form: JSON, or nothing for none. */
export const attachmentsText = (attachments: readonly Attachment[]): string =>
  attachments.length === 0 ? '' : JSON.stringify(attachments);

/** Reads what {@link attachmentsText} writes. */
export const attachmentsOf = (text: string): Attachment[] =>
  text === '' ? [] : z.array(attachmentSchema).parse(JSON.parse(text));

/** Where the files of a CI job can be read. */
export interface AttachmentsPlace {
  /** The address of a folder, with a slash at its end. */
  url: string;
  /** That folder on the machine of the job: absolute paths below it are told from it. */
  root?: string | undefined;
  /** The folder of the report on that machine. */
  from?: string | undefined;
}

/** The address of a folder as {@link AttachmentsPlace} has it, or null: an address with a query has no folders below. */
export function attachmentsFolderOf(address: string): string | null {
  const known = attachmentAddressOf(address);
  if (known === null || /[?#]/.test(known)) return null;
  return known.endsWith('/') ? known : `${known}/`;
}

const SCHEME = /^[a-z][a-z\d+.-]+:/i;
const DRIVE = /^[a-z]:\//i;

/**
 * The address of an attachment by its path in a report; null if the path leads elsewhere. Nothing in a path is taken for
 * more than a name: not `..` beyond the folder, not another host, not a query.
 *
 * @param isBeside whether the path begins where the report is. One that leads up from where the tests ran can begin only there
 */
export function attachmentUrl(path: string, place: AttachmentsPlace | undefined, isBeside = false): string | null {
  if (/^https:/i.test(path)) return attachmentAddressOf(path);
  const local = /^file:/i.test(path) ? pathOfFileUrl(path) : path;
  if (local === null || SCHEME.test(local) || !place) return null;
  const { root, from } = place;
  const isFromReport = from !== undefined && !isAbsolute(local) && (isBeside || namesOf(local) === null);
  const below = namesBelow(isFromReport ? `${from}/${local}` : local, root);
  if (below === null || below.length === 0) return null;
  return attachmentAddressOf(place.url + below.map(encodeURIComponent).join('/'));
}

/** The names on the way from the folder to the file; null if the file is not below it. */
function namesBelow(path: string, root: string | undefined): string[] | null {
  if (/\p{Cc}/u.test(path) || !path.isWellFormed()) return null;
  const names = namesOf(path);
  if (names === null || !isAbsolute(path)) return names;
  const above = root !== undefined && isAbsolute(root) ? namesOf(root) : null;
  if (above === null || above.length > names.length) return null;
  const isWindows = DRIVE.test(slashed(path));
  const isAlike = (one: string, other: string | undefined): boolean =>
    isWindows ? one.toLowerCase() === other?.toLowerCase() : one === other;
  return above.every((name, i) => isAlike(name, names[i])) ? names.slice(above.length) : null;
}

/** Null for a path that leads out of where it begins. */
function namesOf(path: string): string[] | null {
  const names: string[] = [];
  for (const name of slashed(path).split('/')) {
    if (name === '..' && names.pop() === undefined) return null;
    if (name !== '' && name !== '.' && name !== '..') names.push(name);
  }
  return names;
}

const slashed = (path: string): string => path.replaceAll('\\', '/');
const isAbsolute = (path: string): boolean => /^(?:\/|[a-z]:\/)/i.test(slashed(path));

function pathOfFileUrl(address: string): string | null {
  try {
    const { host, pathname } = new URL(address);
    return host === '' ? decodeURIComponent(pathname).replace(/^\/(?=[a-z]:\/)/i, '') : null;
  } catch {
    return null;
  }
}

const KINDS_BY_TYPE: readonly [RegExp, AttachmentKind][] = [
  [/^image\//, 'screenshot'],
  [/^video\//, 'video'],
  [/^text\/|[/+](?:json|xml)$/, 'log'],
];
const KINDS_BY_ENDING: readonly [RegExp, AttachmentKind][] = [
  [/\.(?:png|jpe?g|gif|webp|bmp|svg)$/, 'screenshot'],
  [/\.(?:webm|mp4|mov|mkv|avi)$/, 'video'],
  [/\.trace$|(?:^|[\\/_-])trace[^\\/]*\.zip$/, 'trace'],
  [/\.(?:log|txt|md|html?|json|xml|out|err|har)$/, 'log'],
];

/** The kind of an attachment by what a report says of it. */
export function attachmentKindOf(name: string, path: string, type: string): AttachmentKind {
  if (/^trace$/i.test(name)) return 'trace';
  const kindIn = (kinds: readonly [RegExp, AttachmentKind][], text: string) =>
    kinds.find(([pattern]) => pattern.test(text))?.[1];
  const [file = ''] = path.slice(-ENDING_LENGTH_MAX).toLowerCase().split(/[?#]/, 1);
  return kindIn(KINDS_BY_TYPE, type.toLowerCase()) ?? kindIn(KINDS_BY_ENDING, file) ?? 'file';
}

const ENDING_LENGTH_MAX = 200;

/** How pages and commands call it. */
export const attachmentTitle = ({ kind, name }: Pick<Attachment, 'kind' | 'name'>): string =>
  name === '' || name.toLowerCase() === kind ? kind : `${kind}: ${cleanText(name)}`;
