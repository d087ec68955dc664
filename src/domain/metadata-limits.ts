/** How large and deep the metadata of an event may be. */
import { REQUEST_LIMITS } from './limit-table.ts';
import { METADATA_BYTES_MAX, METADATA_DEPTH_MAX } from './limits.ts';

/** Why metadata is refused before its fields are looked at, or null. It takes bounded time and stack for any JSON. */
export function metadataRejection(metadata: object): string | null {
  if (isDeeper(metadata, METADATA_DEPTH_MAX)) return REQUEST_LIMITS.METADATA_DEPTH_MAX.sentence();
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  return bytes > METADATA_BYTES_MAX ? REQUEST_LIMITS.METADATA_BYTES_MAX.sentence(bytes) : null;
}

/** Goes down level by level: recursion would end at the stack's limit. */
function isDeeper(value: object, depthMax: number): boolean {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > depthMax) return true;
    level = level.flatMap((parent) =>
      Object.values(parent).filter((child): child is object => typeof child === 'object' && child !== null),
    );
  }
  return false;
}
