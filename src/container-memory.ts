/**
 * How much memory a container lets its processes take together. The runtime knows only the memory of the machine.
 *
 * Linux keeps the limit of a control group in a file of the group, in version 1 and in version 2 of the interface, and
 * each group above it may have a lower one. A container may see its own group as the root, or the groups of the machine.
 */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';

interface Hierarchy {
  /** The file with the limit of a group. */
  file: string;
  /** The group of this process. */
  group: string;
}

/** Bytes that the tightest limit leaves, or all of the machine where there is none. */
export const availableMemory = (): number => Math.min(totalmem(), containerMemory() ?? Number.POSITIVE_INFINITY);

/**
 * Bytes that this process and the others of its container may take together; undefined if nothing limits them.
 *
 * @param root where `/proc` and the mounted groups are found: another folder in tests
 */
export function containerMemory(root = '/'): number | undefined {
  const groups = textOf(root, 'proc/self/cgroup');
  const limits = mountsOf(textOf(root, 'proc/self/mountinfo')).flatMap(({ version, top, place }) => {
    const hierarchy = hierarchyOf(groups, version);
    return hierarchy ? limitsOf(root, place, { ...hierarchy, group: groupBelow(top, hierarchy.group) }) : [];
  });
  return limits.length === 0 ? undefined : Math.min(...limits);
}

type Version = 1 | 2;

/** Lines are `4:memory:/group` in version 1, and `0::/group` in version 2. On some machines both are there. */
function hierarchyOf(groups: string, version: Version): Hierarchy | undefined {
  for (const [, controllers = '', group = ''] of groups.matchAll(/^\d+:([^:\n]*):(.*)$/gm)) {
    if (version === 2 && controllers === '') return { file: 'memory.max', group };
    if (version === 1 && controllers.split(',').includes('memory')) return { file: 'memory.limit_in_bytes', group };
  }
  return undefined;
}

interface Mount {
  version: Version;
  /** The group that is at the top of it. */
  top: string;
  place: string;
}

/** Lines are `35 31 0:32 /top /place options - cgroup2 source options`. */
function mountsOf(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line): Mount[] => {
    const [own = '', type = ''] = line.split(' - ');
    const [, , , top = '/', place = ''] = own.split(' ');
    const [kind, , options = ''] = type.split(' ');
    if (kind === 'cgroup2') return [{ version: 2, top, place }];
    return kind === 'cgroup' && options.split(',').includes('memory') ? [{ version: 1, top, place }] : [];
  });
}

/** The path of a group within a mount. A group that is not below its top cannot be seen: then the top counts. */
function groupBelow(top: string, group: string): string {
  const below = top === '/' ? group : group.startsWith(`${top}/`) ? group.slice(top.length) : '/';
  return below.split('/').includes('..') ? '/' : below;
}

/** The limits of a group and of all above it. */
function limitsOf(root: string, place: string, { file, group }: Hierarchy): number[] {
  const limits: number[] = [];
  for (let at = group; ; at = dirname(at)) {
    // `max`, or the largest number of pages, which is more than any machine has.
    const text = textOf(root, join(place, at, file)).trim();
    if (/^\d{1,15}$/.test(text)) limits.push(Number(text));
    if (at === '/' || at === '.') return limits;
  }
}

/** Empty if it cannot be read, as on other systems. */
function textOf(root: string, path: string): string {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return '';
  }
}
