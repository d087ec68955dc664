/** Files that a report names, and what becomes of them: links of the failures to which they belong. */
import { z } from 'zod';
import {
  type Attachment,
  type AttachmentsPlace,
  attachmentAddressOf,
  attachmentKindOf,
  attachmentUrl,
} from '../domain/attachments.ts';
import { ATTACHMENTS_MAX, WEB_ADDRESS_BYTES_MAX } from '../domain/limits.ts';
import { firstOf } from './bounded-list.ts';
import type { ParsedFailure } from './upload.ts';

/** A file or an address, as a report names it. */
export interface ReportedFile {
  name?: string | null | undefined;
  path: string;
  /** Its media type. */
  type?: string | null | undefined;
  /** Whether its path begins where the report is; absent: as the format has it. */
  isBeside?: boolean | undefined;
}

/** A failure, with the files that were kept of that attempt. */
export interface ReportedFailure extends ParsedFailure {
  files?: readonly ReportedFile[] | undefined;
}

/** More of one attempt are not looked at: some of them may be no links. */
export const FILES_MAX = 8 * ATTACHMENTS_MAX;

const text = z.string().nullish().catch(null);
const fileSchema = z.object({ name: text, path: text, source: text, contentType: text, type: text });

/** Files as reports in JSON list them. Contents within the report have no path, and are passed over. */
export const filesSchema = firstOf(fileSchema, FILES_MAX)
  .transform((items) =>
    items.flatMap(({ name, path, source, contentType, type }): ReportedFile[] =>
      path || source ? [{ name, path: path || source || '', type: contentType ?? type }] : [],
    ),
  )
  .nullish()
  .catch(null);

/** Makes links of files. */
export class AttachmentLinks {
  /** Files of failures that lie elsewhere than in the folder whose address is known. */
  elsewhere = 0;

  /** @param areBeside whether paths begin where the report is, and not where the tests ran */
  constructor(
    private readonly place: AttachmentsPlace | undefined,
    private readonly areBeside: boolean,
  ) {}

  /** @param files those of the record as a whole: they belong to its last failure */
  of(failures: readonly ReportedFailure[], files: readonly ReportedFile[] = []): ParsedFailure[] {
    return failures.map(({ files: own = [], ...failure }, i) => {
      const all = i === failures.length - 1 ? [...own, ...files] : own;
      const attachments = all.slice(0, FILES_MAX).flatMap((file) => this.#linkTo(file) ?? []);
      return attachments.length === 0 ? failure : { ...failure, attachments };
    });
  }

  #linkTo({ name, path, type, isBeside = this.areBeside }: ReportedFile): Attachment | null {
    // Nothing that is longer can be linked, and it may be a content in place of a path.
    const url = path.length > WEB_ADDRESS_BYTES_MAX ? null : attachmentUrl(path, this.place, isBeside);
    if (url === null) {
      if (this.place && attachmentAddressOf(path) === null) this.elsewhere++;
      return null;
    }
    return { kind: attachmentKindOf(name ?? '', path, type ?? ''), name: name ?? '', url };
  }
}
