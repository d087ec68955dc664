/** Asks a person to name the repository once more, before something goes that nothing brings back. */
import { createInterface } from 'node:readline/promises';
import { isConfirmed } from '../domain/deletion.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { UserError } from '../errors.ts';

interface Confirmed {
  /** Such as `delete`. */
  verb: string;
  /** Names what nothing brings back. */
  what: string;
  /** The whole sentence in the past, such as `Nothing was deleted.` */
  otherwise: string;
}

/** Throws a {@link UserError} if the person types another name, or there is no one to ask. */
export async function confirm(path: RepositoryName, { verb, what, otherwise }: Confirmed): Promise<void> {
  if (!process.stdin.isTTY)
    throw new UserError(`Add --yes to ${verb} without being asked, or --dry-run to look first.`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = await lines.question(`Nothing brings ${what} back. Type ${path.owner}/${path.name} to ${verb}: `);
    if (!isConfirmed(path, typed.trim())) throw new UserError(`The name differs. ${otherwise}`);
  } finally {
    lines.close();
  }
}
