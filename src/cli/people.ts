/** `ci-insights people …`: forgets the names of people. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { print, printJson } from '../client/output.ts';
import type { PostgresDeps } from '../deps.ts';
import { personNameSchema } from '../domain/pseudonym.ts';
import { UserError } from '../errors.ts';
import { operatorOf } from './operator.ts';
import { serviceWithEngine } from './running.ts';
import { withPostgres, withStores } from './stores.ts';

interface ForgetOptions {
  later?: boolean;
  json?: boolean;
}

const POLL_MS = 500;

export const peopleCommand = (): Command =>
  new Command('people').description('forget the names of people').addCommand(forget());

const forget = (): Command =>
  new Command('forget')
    .description('replace the name of a person by a pseudonym, everywhere')
    .argument('<name>', 'a login, or the name in the trail', parseName)
    .option('--later', 'also in events and pull requests that arrive from now on')
    .option('--json', 'print JSON')
    .action(async (name: string, { later = false, json }: ForgetOptions) => {
      const { pseudonym, changed } = await replace(name, later);
      if (json) return printJson({ pseudonym, changed });
      const rows = Object.entries(changed).map(([table, many]) => `${table} ${many.toLocaleString('en-US')}`);
      print(`${pseudonym} stands for the name now. Rows changed: ${rows.join(', ') || 'none'}.`);
    });

function parseName(text: string): string {
  const read = personNameSchema.safeParse(text);
  if (read.success) return read.data;
  throw new UserError(`The name ${read.error.issues[0]?.message}.`);
}

/** Returns once every row is changed: by the worker of a running service, or else here. */
function replace(name: string, isForLater: boolean) {
  if (serviceWithEngine()) return withPostgres((deps) => begun(deps, { name, isForLater }, () => sleep(POLL_MS)));
  return withStores(async (deps) => {
    const { forgetPeople } = await import('../maintenance/forget-person.ts');
    const { clickhouse, clock } = deps;
    return begun(deps, { name, isForLater }, () => forgetPeople({ db: deps.postgres.db, clickhouse, clock }));
  });
}

async function begun(
  { postgres: { db }, clock }: PostgresDeps,
  wanted: { name: string; isForLater: boolean },
  work: () => Promise<unknown>,
) {
  const { beginForgetting, findForgotten } = await import('../postgres/forgotten-people.ts');
  let person = await beginForgetting(db, wanted, operatorOf('people forget'), clock.now());
  while (person.finishedAt === null) {
    await work();
    person = (await findForgotten(db, person.pseudonym)) ?? person;
  }
  return person;
}
