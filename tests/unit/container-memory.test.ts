/** The limit of a container is found however its groups are mounted: on files as Linux has them. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { containerMemory } from '../../src/container-memory.ts';
import { makeFolder } from '../support/folder.ts';

const MIB = 1024 ** 2;
/** Version 1 says this without a limit. */
const NONE = '9223372036854771712';
const V1 = '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory';
const V2 = '35 31 0:32 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate';
const V2_BESIDE_V1 = '40 31 0:40 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw';

const folder = makeFolder('groups');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

/** A machine with these files, by path. */
function machine(files: Record<string, string>): string {
  const root = join(folder, String(made++));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return root;
}
const of = (groups: string, mounts: string, limits: Record<string, string>): number | undefined =>
  containerMemory(
    machine({
      'proc/self/cgroup': groups,
      'proc/self/mountinfo': `22 1 8:1 / / rw - ext4 /dev/sda rw\n${mounts}`,
      ...Object.fromEntries(Object.entries(limits).map(([path, text]) => [`sys/fs/cgroup/${path}`, text])),
    }),
  );

test('version 2: a container that sees its own group as the root', () => {
  expect(of('0::/', V2, { 'memory.max': String(512 * MIB) })).toBe(512 * MIB);
});

test('version 2: the tightest limit of the group and of those above it counts', () => {
  const limits = (pod: string, container: string) => ({
    'kubepods/memory.max': 'max',
    'kubepods/pod1/memory.max': pod,
    'kubepods/pod1/c1/memory.max': container,
  });
  const group = '0::/kubepods/pod1/c1';
  expect(of(group, V2, limits(String(900 * MIB), String(512 * MIB)))).toBe(512 * MIB);
  expect(of(group, V2, limits(String(300 * MIB), 'max'))).toBe(300 * MIB);
  expect(of(group, V2, limits('max', 'max'))).toBeUndefined();
});

test('version 1: the group of the memory, not one of another kind', () => {
  const groups = '5:cpu,cpuacct:/docker/other\n4:memory:/docker/c1\n0::/docker/other';
  const limits = {
    'memory/memory.limit_in_bytes': NONE,
    'memory/docker/memory.limit_in_bytes': NONE,
    'memory/docker/c1/memory.limit_in_bytes': String(700 * MIB),
    'memory/docker/other/memory.limit_in_bytes': String(1 * MIB),
  };
  expect(of(groups, V1, limits)).toBe(700 * MIB);
  expect(of(groups, V1, { ...limits, 'memory/docker/c1/memory.limit_in_bytes': NONE })).toBeUndefined();
});

test('version 1: a container whose group is mounted as the root, though its path is that of the machine', () => {
  const mount = '35 31 0:32 /docker/c1 /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory';
  expect(of('4:memory:/docker/c1', mount, { 'memory/memory.limit_in_bytes': String(64 * MIB) })).toBe(64 * MIB);
  const limits = {
    'memory/memory.limit_in_bytes': String(64 * MIB),
    'memory/in/memory.limit_in_bytes': String(32 * MIB),
  };
  expect(of('4:memory:/docker/c1/in', mount, limits)).toBe(32 * MIB);
});

test('both versions beside each other: the one with the limit counts', () => {
  const limits = { 'memory/c1/memory.limit_in_bytes': String(64 * MIB), 'unified/c1/cgroup.procs': '1' };
  expect(of('4:memory:/c1\n0::/c1', `${V1}\n${V2_BESIDE_V1}`, limits)).toBe(64 * MIB);
});

test('a group outside of what is mounted: what is mounted counts', () => {
  expect(of('0::/../other', V2, { 'memory.max': String(64 * MIB), 'other/memory.max': '1' })).toBe(64 * MIB);
});

test('nothing is limited where nothing is known', () => {
  expect(containerMemory(machine({}))).toBeUndefined();
  expect(of('0::/', V2, {})).toBeUndefined();
});
