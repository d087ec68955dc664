/** The data folder: who can read it, who holds it, and what a power loss may have left of it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { lockDataDir, lockHolder } from '../../src/service-lock.ts';
import { until } from '../support/patience.ts';
import { CLI, ServiceProcess } from '../support/service-process.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.error('skipped: other users of the machine, because this needs root');
if (process.platform !== 'linux')
  console.error('skipped: killed processes that still have an entry, because this needs Linux');
const UNPRIVILEGED = 65_534;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-folder-'));
  // Everyone may pass through here: what is protected must be protected in the data folder.
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A data folder in which the embedded PostgreSQL was started and stopped. */
async function usedFolder(name: string): Promise<string> {
  const dataDir = join(folder, name);
  mkdirSync(dataDir, { mode: 0o711 });
  await (await startEmbeddedPostgres(dataDir)).stop();
  return dataDir;
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select 1 as one');
  await client.end();
  return rows[0].one === 1;
}

describe('after a power loss', () => {
  test('a password of PostgreSQL that was not written down yet is replaced, with a sentence', async () => {
    const dataDir = await usedFolder('password');
    rmSync(join(dataDir, 'postgres.password'));
    const said: string[] = [];
    const server = await startEmbeddedPostgres(dataDir, { onRepair: (what) => said.push(what) });
    expect(await answers(server.url)).toBe(true);
    await server.stop();
    expect(said).toEqual([
      `${join(dataDir, 'postgres.password')} was missing. The embedded PostgreSQL has a new password, and it is there.`,
    ]);
    const again = await startEmbeddedPostgres(dataDir, { onRepair: (what) => said.push(what) });
    expect(await answers(again.url)).toBe(true);
    await again.stop();
    expect(said).toHaveLength(1);
  });

  test.each([0, 8 * 1024 * 1024])('PostgreSQL with a log that ends after %d bytes says what to do', async (bytes) => {
    const dataDir = await usedFolder(`wal-${bytes}`);
    const wal = join(dataDir, 'postgres', 'pg_wal');
    const newest = readdirSync(wal)
      .filter((file) => /^[0-9A-F]{24}$/.test(file))
      .sort()
      .at(-1);
    truncateSync(join(wal, newest ?? ''), bytes);
    await expect(startEmbeddedPostgres(dataDir)).rejects.toThrow('restore the whole of DATA_DIR from a backup');
  });
});

/** Starts a program under a parent that never collects its children, so that it stays as a zombie when it ends. */
function underCarelessParent(...command: string[]): { parent: ChildProcess; pid: Promise<number>; output(): string } {
  const parent = spawn('bash', ['-c', '"$@" & echo "pid $!"; exec sleep 300', 'bash', ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, DATA_DIR: join(folder, 'zombie'), PORT: '0' },
  });
  let written = '';
  const pid = new Promise<number>((resolve) => {
    parent.stdout?.on('data', (data: Buffer) => {
      written += data.toString();
      const found = /pid (\d+)/.exec(written)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
  });
  return { parent, pid, output: () => written };
}

const stateOf = (pid: number): string | undefined =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ')[0];

describe.skipIf(process.platform !== 'linux')('a killed process that its parent has not collected', () => {
  test('does not hold the data folder', async () => {
    const { parent, pid, output } = underCarelessParent(process.execPath, CLI, 'serve');
    try {
      await until(() => /ready at/.test(output()));
      const killed = await pid;
      process.kill(killed, 'SIGKILL');
      const next = ServiceProcess.onFolder(join(folder, 'zombie'));
      await next.start();
      expect(stateOf(killed)).toBe('Z');
      expect(await next.stop()).toBe(0);
    } finally {
      parent.kill();
    }
  });

  test('does not keep PostgreSQL from starting', async () => {
    const dataDir = await usedFolder('postmaster');
    const program = join(folder, 'postgres');
    copyFileSync('/bin/sleep', program);
    chmodSync(program, 0o755);
    const uid = String(statSync(join(dataDir, 'postgres')).uid);
    const as = isRoot ? ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'] : [];
    // Not before the parent has become one that collects nothing.
    const { parent, pid } = underCarelessParent(...as, program, '0.5');
    try {
      const zombie = await pid;
      await until(() => stateOf(zombie) === 'Z');
      const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
      writeFileSync(
        pidFile,
        `${zombie}\n${join(dataDir, 'postgres')}\n1795219200\n5432\n${join(dataDir, 'postgres')}\n\n`,
      );
      chmodSync(pidFile, 0o644);
      const server = await startEmbeddedPostgres(dataDir);
      expect(await answers(server.url)).toBe(true);
      await server.stop();
    } finally {
      parent.kill();
    }
  });
});

describe('the lock of a data folder', () => {
  test('is held by one process, which is named, and released with it', async () => {
    const dataDir = join(folder, 'lock');
    expect(lockHolder(dataDir)).toBeUndefined();
    const unlock = await lockDataDir(dataDir);
    expect(lockHolder(dataDir)).toBe(process.pid);
    await expect(lockDataDir(dataDir)).rejects.toThrow(`Another ci-insights (process ${process.pid}) uses ${dataDir}`);
    unlock();
    expect(lockHolder(dataDir)).toBeUndefined();
    (await lockDataDir(dataDir))();
  });
});

describe.skipIf(!isRoot)('other users of the machine', () => {
  /** Files that a process of that user can list or read below the data folder, at places that it knows of. */
  function reachable(dataDir: string, uid: number): string[] {
    const places = [
      '',
      'clickhouse',
      'postgres',
      'postgres.password',
      'admin.key',
      'service.lock',
      'service-lock.sqlite',
    ];
    return places.filter((place) => {
      const path = join(dataDir, place);
      const read = statSync(path).isDirectory() ? ['ls', path] : ['cat', path];
      const as = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
      return Bun.spawnSync([...as, ...read], { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0;
    });
  }

  test('can read nothing of a running service, not even as the user of its PostgreSQL, but for its files', async () => {
    const dataDir = join(folder, 'private');
    const service = ServiceProcess.onFolder(dataDir);
    await service.start();
    try {
      const { uid } = statSync(join(dataDir, 'postgres'));
      expect([0, UNPRIVILEGED]).not.toContain(uid);
      expect(reachable(dataDir, 1234)).toEqual([]);
      expect(reachable(dataDir, UNPRIVILEGED)).toEqual([]);
      expect(reachable(dataDir, uid)).toEqual(['postgres']);
    } finally {
      await service.stop();
    }
  });

  test('are not left with PostgreSQL’s files that came back from a backup as theirs', async () => {
    const dataDir = await usedFolder('restored');
    Bun.spawnSync(['chown', '-R', `${UNPRIVILEGED}:${UNPRIVILEGED}`, join(dataDir, 'postgres')]);
    const service = ServiceProcess.onFolder(dataDir);
    await service.start();
    try {
      expect(reachable(dataDir, UNPRIVILEGED)).toEqual([]);
    } finally {
      await service.stop();
    }
  });
});
