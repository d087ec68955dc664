/** Checks where uploads are kept for a restore, as this machine sees it: workers write there. */
import { accessSync, constants } from 'node:fs';
import type { Config } from '../../config.ts';
import { S3Place } from '../../queue/kept/s3-place.ts';
import { type Finding, inTime, ok, problem, reasonOf } from './finding.ts';
import { existing } from './machine.ts';

export async function checkKept({ uploadsKept }: Pick<Config, 'uploadsKept'>): Promise<Finding[]> {
  if (!uploadsKept) return [];
  const { folder, s3 } = uploadsKept;
  return [checkFolder(folder), ...(s3 ? [await checkStore(new S3Place(s3))] : [])];
}

function checkFolder(folder: string): Finding {
  try {
    accessSync(existing(folder), constants.R_OK | constants.W_OK | constants.X_OK);
    return ok('Kept uploads', folder);
  } catch (error) {
    const remedy = 'Give the user who runs the workers access to it, or set another UPLOADS_KEPT_IN.';
    return problem('Kept uploads', `${folder} is not writable: ${reasonOf(error)}.`, remedy);
  }
}

async function checkStore(store: S3Place): Promise<Finding> {
  try {
    await inTime(() => store.ping());
    return ok('Kept uploads in S3', 'The store responds.');
  } catch (error) {
    return problem(
      'Kept uploads in S3',
      `The store does not take them: ${reasonOf(error)}. They wait in their folder, and nothing is refused.`,
      'Check UPLOADS_KEPT_S3, S3_ENDPOINT, S3_REGION and the key, and that the key may list, read, write and delete there.',
    );
  }
}
