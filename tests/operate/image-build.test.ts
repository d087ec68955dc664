/**
 * A real builder, as far as it gets without the base image: what the stages copy from the context. `tests/operate/image.test.ts`
 * reads the same files where there is none.
 */
import { expect, test } from 'bun:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolder } from '../support/folder.ts';

const ROOT = resolve(import.meta.dir, '../..');

const hasBuilder = Bun.which('buildah') !== null;
if (!hasBuilder) console.error('skipped: no image is built, because buildah is not installed');

test.skipIf(!hasBuilder)('a builder finds everything that the stages copy from a checkout', () => {
  const folder = makeFolder('image');
  const run = (...command: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(command, { cwd: ROOT, stderr: 'pipe', stdout: 'ignore' });
    return { exitCode, said: stderr.toString().split('\n').slice(-5).join('\n') };
  };
  try {
    const context = join(folder, 'context/');
    expect(run('git', 'checkout-index', '--all', `--prefix=${context}`)).toMatchObject({ exitCode: 0 });
    const copying = readFileSync(join(context, 'Dockerfile'), 'utf8')
      .replace(/^FROM oven\/bun\S+/gm, 'FROM scratch')
      .replace(/^(?:RUN|COPY --from=\S+) (?:.*\\\n)*.*\n/gm, '');
    const file = join(folder, 'Dockerfile');
    writeFileSync(file, copying);
    // One at a time: a stage that no other needs would be left out.
    for (const stage of ['dependencies', 'web', undefined]) {
      const target = stage === undefined ? [] : ['--target', stage];
      const storage = ['--storage-driver', 'vfs', '--root', join(folder, 'root'), '--runroot', join(folder, 'run')];
      const build = ['build', '--isolation', 'chroot', '--file', file, ...target, context];
      expect([stage, run('buildah', ...storage, ...build)]).toEqual([stage, { exitCode: 0, said: expect.any(String) }]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
