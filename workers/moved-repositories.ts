/** Where repositories are that were renamed since something arrived for them, as the trail has it. */
import { asc, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { RepositoryName } from '../src/domain/repository-path.ts';
import { type Database, onPostgres } from '../src/postgres/client.ts';
import { audit } from '../src/postgres/schema.ts';

const pathSchema = z.object({ owner: z.string(), name: z.string() });
const isSame = (a: RepositoryName, b: RepositoryName): boolean =>
  a.owner.toLowerCase() === b.owner.toLowerCase() && a.name.toLowerCase() === b.name.toLowerCase();

/** @returns the path of today for one that was right at a moment */
export async function currentPaths(db: Database): Promise<(path: RepositoryName, at: number) => RepositoryName> {
  const entries = await onPostgres(() =>
    db
      .select({ at: audit.at, before: audit.before, after: audit.after })
      .from(audit)
      .where(eq(audit.action, 'repository.rename'))
      .orderBy(asc(audit.at), asc(audit.id)),
  );
  const renames = entries.flatMap(({ at, before, after }) => {
    if (before === null || after === null) return [];
    const [from, to] = [pathSchema.safeParse(JSON.parse(before)), pathSchema.safeParse(JSON.parse(after))];
    return from.success && to.success ? [{ at: at.getTime(), from: from.data, to: to.data }] : [];
  });
  return (path, at) =>
    renames.reduce((known, rename) => (rename.at > at && isSame(known, rename.from) ? rename.to : known), path);
}
