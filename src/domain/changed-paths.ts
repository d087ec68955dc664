/** The files that a change touches, as many as are stored of a commit. Pure. */
import { CHANGED_FILES_BYTES_MAX, CHANGED_FILES_MAX, CHANGED_PATH_LENGTH_MAX } from './limits.ts';

/** Each once. In a larger change, few are near any one test. */
export function changedPathsOf(lines: Iterable<string>): string[] {
  const paths = new Set<string>();
  let bytes = 0;
  for (const line of lines) {
    const path = line.trim();
    if (path === '' || path.length > CHANGED_PATH_LENGTH_MAX || paths.has(path)) continue;
    bytes += Buffer.byteLength(path);
    if (paths.size === CHANGED_FILES_MAX || bytes > CHANGED_FILES_BYTES_MAX) break;
    paths.add(path);
  }
  return [...paths];
}
