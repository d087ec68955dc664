import { expect, test } from 'bun:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolder } from '../support/folder.ts';

const ROOT = resolve(import.meta.dir, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

test('the command in .env.example, which compose.yaml repeats, makes a different password for each store', () => {
  const example = read('.env.example');
  const command = /^# {3}(awk .*)$/m.exec(example)?.[1] ?? '';
  expect(read('compose.yaml')).toContain(command);
  const folder = makeFolder('env');
  try {
    writeFileSync(join(folder, '.env.example'), example);
    expect(Bun.spawnSync(['sh', '-c', command], { cwd: folder }).exitCode).toBe(0);
    const made = [...readFileSync(join(folder, '.env'), 'utf8').matchAll(/^\w+_PASSWORD=([0-9a-f]{48})$/gm)];
    expect(new Set(made.map(([, password]) => password)).size).toBe(3);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
