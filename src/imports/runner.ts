/**
 * Runs imports that were started from the page, each in a separate process: the command that people run, which sends what it
 * finds to this service. The token of the host is in the memory of both processes for as long as the import takes, and nowhere
 * else.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { type ImportLine, importLineSchema, progressOf, shareOf } from '../domain/import-progress.ts';
import { jsonOf } from '../domain/json.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import type { Credential, CredentialSource } from '../http/auth.ts';
import type { Logger } from '../observability/log.ts';
import type { Database } from '../postgres/client.ts';
import { ImportStore, type StoredImport } from '../postgres/imports.ts';
import { NICENESS, yieldProcess } from '../processes.ts';
import { environmentOfImport } from '../runtime.ts';
import { IMPORTERS, type ImportableHost } from './importers.ts';

/** Each takes a processor, and downloads as much as the line gives. */
export const IMPORTS_AT_ONCE_MAX = 2;
const NOTED_EVERY_MS = 1_000;
/** How long what is being sent may take to end. */
const STOP_MS_MAX = 5_000;
const FAILURE_LENGTH_MAX = 500;
const PREFIX = 'cim_';
const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));

const failureSchema = z.object({ failure: z.string() });

interface RunnerDeps {
  store: ImportStore;
  clock: Clock;
  log: Logger;
  dataDir: string;
}

interface Running {
  child: Bun.Subprocess<'pipe', 'pipe', 'pipe'>;
  ended: Promise<void>;
  /** The service stops, or someone has cancelled it: then what the process says of its end counts nothing. */
  isStopped: boolean;
}

export interface ImportOrder {
  repository: RepositoryName;
  host: ImportableHost;
  /** Of the host. */
  token: string;
}

export const importsOf = ({ postgres, clock }: { postgres: { db: Database }; clock: Clock }): ImportStore =>
  new ImportStore(postgres.db, clock);

export class ImportRunner implements CredentialSource {
  readonly #running = new Map<string, Running>();
  readonly #credentials = new Map<string, Credential>();
  /** Where this process answers; undefined: it does not listen yet. */
  address: string | undefined;

  constructor(private readonly deps: RunnerDeps) {}

  /** The credential with which an import sends what it finds: for one repository, until the import ends. */
  async find(token: string): Promise<Credential | undefined> {
    return token.startsWith(PREFIX) ? this.#credentials.get(token) : undefined;
  }

  get hasRoom(): boolean {
    return this.#running.size < IMPORTS_AT_ONCE_MAX;
  }

  start(stored: StoredImport, order: ImportOrder): void {
    const { id } = stored;
    const child = Bun.spawn([process.execPath, CHILD], {
      env: environmentOfImport(),
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    yieldProcess(child.pid, NICENESS.parsers);
    const running: Running = { child, ended: Promise.resolve(), isStopped: false };
    running.ended = this.#follow(stored, order, running)
      .catch((err: unknown) => this.deps.log.error({ err, import_id: id }, 'an import could not be followed'))
      .finally(() => this.#running.delete(id));
    this.#running.set(id, running);
  }

  /** Ends it if this process runs it. Its row says already that it was cancelled. */
  async cancel(id: string): Promise<void> {
    const running = this.#running.get(id);
    if (!running) return;
    running.isStopped = true;
    await this.#end(running);
  }

  /** Interrupts all of them. They continue where they were when someone enters the token again. */
  async stop(): Promise<void> {
    await Promise.all(
      [...this.#running].map(async ([id, running]) => {
        running.isStopped = true;
        await this.deps.store.end(id, { status: 'interrupted' }).catch(() => {});
        await this.#end(running);
      }),
    );
  }

  async #end({ child, ended }: Running): Promise<void> {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    await ended;
    clearTimeout(timer);
  }

  async #follow(stored: StoredImport, { repository, host, token }: ImportOrder, running: Running): Promise<void> {
    const { store, clock, dataDir } = this.deps;
    const { id } = stored;
    const { child } = running;
    const address = this.address ?? '';
    // A state belongs to an address, and the port may be another one after a restart: then it begins again, and what has
    // arrived counts as known.
    const folder = join(dataDir, 'imports', `${id}-${new URL(address).port}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const receiptFile = join(folder, 'receipt.json');
    const own = PREFIX + randomBytes(32).toString('base64url');
    this.#credentials.set(own, credentialFor(repository));
    const begunAt = clock.now();
    const shareBefore = stored.progress.share;
    let last: ImportLine = { reports: 0, executions: 0, at: null, waiting: null };
    let first: { share: number; at: number } | undefined;
    let failure: string | undefined;
    const note = async (): Promise<void> => {
      const span = { since: stored.since.getTime(), begunAt, now: clock.now(), shareBefore };
      if (last.at !== null) first ??= { share: Math.max(shareBefore, shareOf(last.at, span)), at: span.now };
      const isWanted = await store.note(id, progressOf(last, { ...span, first })).catch(() => true);
      if (isWanted || running.isStopped) return;
      running.isStopped = true;
      child.kill('SIGTERM');
    };
    const timer = setInterval(() => void note(), NOTED_EVERY_MS);
    try {
      child.stdin.write(
        `${JSON.stringify(orderOf(stored, { repository, host, token, own, address, folder, receiptFile }))}\n`,
      );
      await child.stdin.flush();
      const told = eachLine(child.stdout, (line) => {
        const json = jsonOf(line);
        const progress = importLineSchema.safeParse(json);
        if (progress.success) last = progress.data;
        const failed = failureSchema.safeParse(json);
        if (failed.success) failure = failed.data.failure;
      });
      const warned = eachLine(child.stderr, (line) => {
        const [, reason] = /^Waiting: (.*)\.$/.exec(line) ?? [];
        if (reason !== undefined) last = { ...last, waiting: reason };
        else if (line.trim() !== '') failure ??= line;
      });
      const [code] = await Promise.all([child.exited, told, warned]);
      clearInterval(timer);
      if (running.isStopped) return;
      await note();
      if (code === 0) {
        await store.end(id, { status: 'finished', receipt: readFileSync(receiptFile, 'utf8') });
        rmSync(folder, { recursive: true, force: true });
      } else {
        const reason = failure ?? 'The import ended without a word. Start it again to continue.';
        await store.end(id, { status: 'failed', failure: reason.replaceAll(token, '…').slice(0, FAILURE_LENGTH_MAX) });
      }
    } finally {
      clearInterval(timer);
      this.#credentials.delete(own);
      await child.stdin.end();
    }
  }
}

interface Whole extends ImportOrder {
  own: string;
  address: string;
  folder: string;
  receiptFile: string;
}

function orderOf(
  { source, since }: StoredImport,
  { repository, host, token, own, address, folder, receiptFile }: Whole,
) {
  const importer = IMPORTERS[host.kind];
  if (!importer) throw new Error(`${host.kind} cannot be imported`);
  const options = {
    '--since': since.toISOString(),
    '--api-url': host.apiUrl,
    '--repo': `${repository.owner}/${repository.name}`,
    '--state': join(folder, 'state'),
    '--receipt': receiptFile,
  };
  return {
    args: [importer.command, source, ...Object.entries(options).flat(), '--progress-lines'],
    environment: { CI_INSIGHTS_URL: address, CI_INSIGHTS_TOKEN: own, [importer.tokenVariable]: token },
  };
}

function credentialFor({ owner, name }: RepositoryName): Credential {
  const isThis = (other: RepositoryName): boolean =>
    other.owner.toLowerCase() === owner.toLowerCase() && other.name.toLowerCase() === name.toLowerCase();
  return {
    actor: 'import',
    grant: { scope: 'upload', owner, repositories: [name] },
    access: async (other, permission) =>
      isThis(other) ? (permission === 'upload' || permission === 'read' ? 'granted' : 'forbidden') : 'hidden',
  };
}

async function eachLine(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: Readable.from(stream) })) take(line);
}
