/** Where the attachments that a report names can be read. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type AttachmentsPlace, attachmentsPlaceBelow } from '../domain/attachments.ts';
import type { ReportFormat } from '../formats/format.ts';

export interface AttachmentFlags {
  attachmentsUrl?: string | undefined;
  attachmentsRoot?: string | undefined;
}

export const attachmentsPlaceOf = ({
  attachmentsUrl,
  attachmentsRoot,
}: AttachmentFlags): AttachmentsPlace | undefined =>
  attachmentsUrl === undefined ? undefined : { url: attachmentsUrl, root: resolve(attachmentsRoot ?? '.') };

/** For one report: some formats name files from the folder in which the report is, or which it is. */
export function attachmentsPlaceFor(
  { hasFilesBeside = false }: Pick<ReportFormat, 'hasFilesBeside'>,
  file: string,
  place: AttachmentsPlace,
): AttachmentsPlace {
  if (!hasFilesBeside) return place;
  const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
  return attachmentsPlaceBelow(resolve(isFolder ? file : dirname(file)), place) ?? place;
}
