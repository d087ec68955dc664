/** The data folder of the embedded PostgreSQL and the password beside it. */
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, lchownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { renameDurably, writeDurably } from '../durable-file.ts';
import { UserError } from '../errors.ts';
import { ended, launch, namedUid, ownUid } from './embedded-process.ts';

export interface EmbeddedFolder {
  /** The server's data. */
  path: string;
  passwordFile: string;
}

export const embeddedFolder = (dataDir: string): EmbeddedFolder => ({
  path: join(dataDir, 'postgres'),
  passwordFile: join(dataDir, 'postgres.password'),
});

/** Undefined if it was not written down yet, or is lost. */
export const readPassword = ({ passwordFile }: EmbeddedFolder): string | undefined =>
  existsSync(passwordFile) ? readFileSync(passwordFile, 'utf8').trim() : undefined;

/**
 * Creates the folder if there is none; then it returns the password for the first start. One that came back from a backup
 * may belong to another user.
 */
export async function prepareFolder({ path }: EmbeddedFolder, binaries: string): Promise<string | undefined> {
  if (!existsSync(join(path, 'PG_VERSION'))) return initialise(path, binaries);
  own(path);
  return undefined;
}

/** Sets a new password and writes it down. The file is written last: without it, the next start sets another one. */
export async function setPassword({ passwordFile }: EmbeddedFolder, client: pg.Client): Promise<string> {
  const password = newPassword();
  await client.query(`alter role postgres password '${password}'`);
  writeDurably(passwordFile, password);
  return password;
}

const newPassword = (): string => randomBytes(24).toString('base64url');

/** Creates it beside its final place and moves it when complete, so an interrupted start leaves no partial folder. */
async function initialise(path: string, binaries: string): Promise<string> {
  const temporary = `${path}.new`;
  const passwordFile = `${temporary}.password`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  const password = newPassword();
  writeDurably(passwordFile, password);
  const uid = namedUid();
  if (uid !== undefined) for (const file of [temporary, passwordFile]) chownSync(file, uid, uid);
  const initdb = launch(
    join(binaries, 'initdb'),
    ['-D', temporary, '-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwordFile, '-E', 'UTF8', '--locale', 'C'],
    temporary,
    uid,
  );
  const code = await ended(initdb);
  rmSync(passwordFile);
  if (code !== 0) throw new UserError(`The embedded PostgreSQL could not be set up in ${path}:\n${initdb.output()}`);
  own(temporary);
  renameDurably(temporary, path);
  return password;
}

/** Hands the files to the user of the server. The folder itself comes last, so that an interrupted change is repeated. */
function own(path: string): void {
  const uid = ownUid();
  if (uid === undefined || statSync(path).uid === uid) return;
  for (const entry of readdirSync(path, { recursive: true, encoding: 'utf8' })) lchownSync(join(path, entry), uid, uid);
  chownSync(path, uid, uid);
}
