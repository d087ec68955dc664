/** Where the attachments that a report names can be read. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { AttachmentsPlace } from '../domain/attachments.ts';

export interface AttachmentFlags {
  attachmentsUrl?: string | undefined;
  attachmentsRoot?: string | undefined;
}

export const attachmentsPlaceOf = ({
  attachmentsUrl,
  attachmentsRoot,
}: AttachmentFlags): AttachmentsPlace | undefined =>
  attachmentsUrl === undefined ? undefined : { url: attachmentsUrl, root: resolve(attachmentsRoot ?? '.') };

/** The folder of a report, which may be one itself. */
export const folderOfReport = (file: string): string =>
  resolve(statSync(file, { throwIfNoEntry: false })?.isDirectory() === true ? file : dirname(file));
