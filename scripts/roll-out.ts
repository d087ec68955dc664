/**
 * `bun scripts/roll-out.ts`: a company's first weeks with the service, in a terminal and on real servers of this machine
 * (PostgreSQL, Redis, ClickHouse): apply, migrate, start, upload, a rolling upgrade, backups while everything runs, a restore of two
 * moments, and a copy to other servers. Prints every command with its output, and exits with 1 if anything is lost or doubled.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { startBalancer } from '../tests/support/balancer.ts';
import { startRealClickHouse } from '../tests/support/clickhouse-real/server.ts';
import { freePort } from '../tests/support/free-port.ts';
import { installOther } from '../tests/support/other-version.ts';
import { startRedis } from '../tests/support/redis.ts';
import { ROOT } from '../tests/support/service-process.ts';
import { withVersion } from './release.ts';
import { startPostgresServer } from './roll-out/postgres.ts';
import { Terminal } from './roll-out/terminal.ts';
import { Uploads } from './roll-out/uploads.ts';

const NEXT_VERSION = '1.0.1';
const TESTS_OF = '/v1/ci/acme/repositories/shop/search/tests?test_name=*';

const folder = mkdtempSync(join(tmpdir(), 'ci-insights-roll-out-'));
// PostgreSQL runs as another user, and passes through.
chmodSync(folder, 0o711);
const backups = join(folder, 'backups');
const bin = join(folder, 'bin');
for (const path of [backups, bin]) mkdirSync(path);
const config = `<backups><allowed_path>${backups}/</allowed_path></backups>`;

const postgres = await startPostgresServer(join(folder, 'postgres'));
const [redis, clickhouse, otherClickHouse] = await Promise.all([
  startRedis(),
  startRealClickHouse([], { config }),
  startRealClickHouse(),
]);
const ports = [await freePort(), await freePort()];
const terminal = new Terminal(folder, {
  PATH: `${bin}:${postgres.programs}:${process.env.PATH}`,
  LOG_LEVEL: 'error',
  DATA_DIR: join(folder, 'data'),
  // Several times as long as the balancer takes to see that a process is going away.
  SHUTDOWN_DRAIN_MS: '500',
  UPLOADS_KEPT_DAYS: '7',
  UPLOADS_KEPT_IN: join(folder, 'kept'),
  DATABASE_URL: postgres.url('ci_insights'),
  REDIS_URL: redis.url,
  CLICKHOUSE_URL: clickhouse.url(),
  PGHOST: postgres.host,
  PGPORT: postgres.port,
  PGUSER: postgres.user,
});

/** Makes `ci-insights` the command of another folder with the files of a version. */
function install(root: string): void {
  rmSync(join(bin, 'ci-insights'), { force: true });
  symlinkSync(join(root, 'src/cli.ts'), join(bin, 'ci-insights'));
}
install(ROOT);

writeFileSync(
  join(folder, 'config.yaml'),
  `keys:
  platform: { scope: admin, every_owner: true, token_env: PLATFORM_TOKEN }
  CI of acme: { scope: upload, owner: acme, token_env: CI_TOKEN }
repositories:
  acme/shop: { default_branch: main, auto_quarantine: flaky, quarantine_limit: 20 }
`,
);
for (const name of ['PLATFORM_TOKEN', 'CI_TOKEN'])
  terminal.set(name, `cii_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`);

const balancer = await startBalancer(ports);
terminal.set('SERVICE', balancer.url);
const uploads = new Uploads(balancer.url, terminal.get('CI_TOKEN'));

async function startAll(): Promise<void> {
  for (const [nth, port] of ports.entries())
    await terminal.start(`api-${nth + 1}`, `ROLE=api PORT=${port} ci-insights serve`);
  for (const nth of [1, 2]) await terminal.start(`worker-${nth}`, 'ci-insights worker');
  await balancer.allReady();
}

/** Waits until nothing is on its way, and compares what is stored with what was answered with 202. */
async function settle(): Promise<void> {
  await uploads.stored(terminal.get('PLATFORM_TOKEN'));
  const verified = await terminal.run('ci-insights verify');
  const stored = z.coerce.number().parse(/([\d,]+) executions/.exec(verified)?.[1]?.replaceAll(',', ''));
  const sent = uploads.executions + 2;
  terminal.say(`Sent: ${sent} executions. Stored: ${stored}.`);
  if (stored !== sent) throw new Error('something is lost or doubled');
}

const countsOf = `jq -c '[.tests[] | {test_name, health_status}][:3]'`;
const readsOf = `curl -sS -H "Authorization: Bearer $PLATFORM_TOKEN" "$SERVICE${TESTS_OF}"`;

try {
  terminal.title('Nothing is there yet: say what is to be, and make it');
  await terminal.run('createdb ci_insights');
  await terminal.run('ci-insights migrate');
  await terminal.run('cat config.yaml');
  await terminal.run('ci-insights apply config.yaml --dry-run');
  await terminal.run('ci-insights apply config.yaml');

  terminal.title('Two APIs behind a balancer, and two workers');
  await startAll();
  await terminal.run('ci-insights doctor');
  writeFileSync(
    join(folder, 'junit.xml'),
    '<testsuite name="cart"><testcase classname="cart" name="adds" file="cart.ts"/><testcase classname="cart" name="pays" file="cart.ts"><failure message="expected 3, got 2"/></testcase></testsuite>',
  );
  await terminal.run(
    'GITHUB_ACTIONS=true GITHUB_REPOSITORY=acme/shop GITHUB_RUN_ID=1 GITHUB_RUN_ATTEMPT=1 GITHUB_WORKFLOW=CI GITHUB_JOB=unit \\\n' +
      '    GITHUB_SHA=f7c3bc1d808e04732adf679965ccc34ca7ae3441 GITHUB_REF=refs/heads/main GITHUB_REF_NAME=main \\\n' +
      '    CI_INSIGHTS_URL=$SERVICE CI_INSIGHTS_TOKEN=$CI_TOKEN ci-insights push junit.xml',
  );

  terminal.title('Someone changes a setting by hand; the file is applied again');
  await terminal.run('ci-insights repos set acme/shop --auto-quarantine off');
  await terminal.run('ci-insights apply config.yaml --check', 3);
  await terminal.run('ci-insights apply config.yaml');
  await terminal.run('ci-insights apply config.yaml');

  terminal.title('A new version, one process after another, while uploads arrive');
  const next = installOther(folder);
  const manifest = join(next, 'package.json');
  writeFileSync(manifest, withVersion(await Bun.file(manifest).text(), NEXT_VERSION));
  const load = uploads.begin();
  await terminal.run(`curl -sS "$SERVICE/healthz/live"`);
  install(next);
  for (const name of ['worker-1', 'worker-2', 'api-1', 'api-2']) {
    await terminal.restart(name);
    await balancer.allReady();
  }
  await terminal.run(`curl -sS "$SERVICE/healthz/live"`);
  terminal.say(uploads.summary());

  terminal.title('Backups while uploads arrive: PostgreSQL at one moment, ClickHouse at a later one');
  const olderMoment = new Date().toISOString();
  await terminal.run('umask 077; pg_dump --format custom ci_insights > postgres.dump');
  await Bun.sleep(3_000);
  await terminal.run(`curl -sS "$CLICKHOUSE_URL" --data-binary "BACKUP DATABASE ci TO File('$PWD/backups/ci')"`);
  await Bun.sleep(3_000);
  await load.end();
  terminal.say(uploads.summary());
  await settle();

  terminal.title('Both servers are lost: restore each from its own moment, and let them agree');
  for (const name of ['api-1', 'api-2', 'worker-1', 'worker-2']) await terminal.stop(name);
  await terminal.run('dropdb ci_insights && createdb ci_insights');
  await terminal.run('pg_restore --exit-on-error --dbname ci_insights postgres.dump');
  await terminal.run(`curl -sS "$CLICKHOUSE_URL" --data-binary "DROP DATABASE ci SYNC"`);
  await terminal.run(`curl -sS "$CLICKHOUSE_URL" --data-binary "RESTORE DATABASE ci FROM File('$PWD/backups/ci')"`);
  await terminal.run('ci-insights reconcile --dry-run');
  await terminal.run('ci-insights reconcile --yes');
  await startAll();
  await terminal.run(`ci-insights resend --since ${olderMoment}`);
  await settle();
  const before = await terminal.run(`${readsOf} | ${countsOf}`);

  terminal.title('Copy everything to other servers');
  for (const name of ['api-1', 'api-2', 'worker-1', 'worker-2']) await terminal.stop(name);
  await terminal.run('createdb ci_insights_new');
  writeFileSync(
    join(folder, 'new.env'),
    `DATABASE_URL=${postgres.url('ci_insights_new')}\nCLICKHOUSE_URL=${otherClickHouse.url()}\nREDIS_URL=${redis.url}\n`,
  );
  await terminal.run('ci-insights copy --to new.env');
  terminal.set('DATABASE_URL', postgres.url('ci_insights_new'));
  terminal.set('CLICKHOUSE_URL', otherClickHouse.url());
  await startAll();
  const after = await terminal.run(`${readsOf} | ${countsOf}`);
  if (after !== before) throw new Error('the copy answers otherwise');
  await terminal.run('ci-insights doctor');
  terminal.title('Done: nothing was lost, and nothing counts twice.');
} finally {
  await terminal.close();
  await balancer.close();
  await Promise.all([postgres.stop(), redis.stop(), clickhouse.stop(), otherClickHouse.stop()]);
  rmSync(folder, { recursive: true, force: true });
}
