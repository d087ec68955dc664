/** The repository that a command asks about, from its flags and the environment. */
import { Repository } from './repository.ts';
import { Service } from './service.ts';
import { readClientEnvironment } from './settings.ts';
import { connectionOf, repositoryOf, runInfoOf, type TargetFlags } from './target.ts';

export interface AskFlags extends TargetFlags {
  timeout: number;
  json?: boolean;
}

/** People wait for the answer. */
export const ASK_SECONDS_DEFAULT = 30;

/** Throws a UserError that names what is missing. */
export function repositoryAsked(flags: AskFlags): Repository {
  const environment = readClientEnvironment();
  const { owner, name } = repositoryOf(flags, runInfoOf(environment));
  const service = new Service(connectionOf(flags, environment), { totalMs: flags.timeout * 1_000 });
  return new Repository(service, owner, name);
}
