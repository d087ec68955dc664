/** Paths of projects: groups may lie in groups, while an address here has an owner and a name. */
import type { RepositoryName } from '../../domain/repository-path.ts';

/** `group/sub/shop` is `group`, `sub.shop`: the client names a repository so, too. */
export function nameOf(path: string): RepositoryName {
  const [owner = '', ...rest] = path.split('/');
  return { owner, name: rest.join('.') };
}

/** The paths that a name may stand for: a dot is one of the project's name, or ends the name of a group. */
export function pathsOf({ owner, name }: RepositoryName): string[] {
  const plain = `${owner}/${name}`;
  return name.includes('.') ? [plain, `${owner}/${name.replaceAll('.', '/')}`] : [plain];
}
