/** What the chart renders starts: the migration, the file that is applied, the API and a worker, with its environment, probes and signals. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { machine, run } from '../clients/support/run.ts';
import { chartTools, LEAST } from '../support/chart.ts';
import { grantedUser, hasRealClickHouse, startRealClickHouse } from '../support/clickhouse-real/server.ts';
import { makeFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/patience.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { CLI, ServiceProcess } from '../support/service-process.ts';

const tools = await chartTools();
const DRAIN_MS = 1_000;
/** Of the first key, which the chart has from a Secret. */
const TOKEN = `cii_${'0'.repeat(64)}`;

const configMap = z.looseObject({ data: z.record(z.string(), z.string()) });

const probe = z.object({ httpGet: z.object({ path: z.string() }) });
const workload = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        terminationGracePeriodSeconds: z.number().optional(),
        containers: z.tuple([
          z.looseObject({
            args: z.tuple([z.enum(['migrate', 'apply', 'serve', 'worker'])], z.string()),
            env: z.array(
              z.object({
                name: z.string(),
                value: z.string().optional(),
                valueFrom: z.object({ secretKeyRef: z.object({ name: z.string(), key: z.string() }) }).optional(),
              }),
            ),
            startupProbe: probe.optional(),
            livenessProbe: probe.optional(),
            readinessProbe: probe.optional(),
          }),
        ]),
      }),
    }),
  }),
});

describe.skipIf(!tools || !hasRedis || !hasRealClickHouse)('the processes of the chart', () => {
  if (!tools) return;
  const folder = makeFolder('chart');
  let stores: { secrets: Record<string, string>; stop(): Promise<void> };
  let pods: {
    command: string;
    parameters: string[];
    environment: Record<string, string>;
    probes: string[];
    graceMs: number;
  }[];

  beforeAll(async () => {
    const user = grantedUser();
    const [postgres, redis, clickhouse] = await Promise.all([
      startEmbeddedPostgres(folder),
      startRedis(),
      startRealClickHouse([user]),
    ]);
    stores = {
      secrets: { DATABASE_URL: postgres.url, REDIS_URL: redis.url, CLICKHOUSE_URL: clickhouse.url(user) },
      stop: async () => {
        await Promise.all([postgres.stop(), redis.stop(), clickhouse.stop()]);
        rmSync(folder, { recursive: true, force: true });
      },
    };
    const values = [...LEAST, `config.SHUTDOWN_DRAIN_MS=${DRAIN_MS}`].flatMap((value) => ['--set', value]);
    const keys = { platform: { scope: 'admin', every_owner: true, token_file: 'platform' } };
    const resources = await tools.render(...values, '--set-json', `apply.file=${JSON.stringify({ keys })}`);
    const workloads = resources.flatMap((one) =>
      one.kind === 'Deployment' || one.kind === 'Job' ? [workload.parse(one)] : [],
    );
    // The volume of the Job: the file, and beside it the entries of the Secret.
    const file = resources.flatMap((one) => (one.kind === 'ConfigMap' ? [configMap.parse(one)] : []))[0];
    writeFileSync(join(folder, 'config.yaml'), file?.data['config.yaml'] ?? '');
    writeFileSync(join(folder, 'platform'), TOKEN);
    pods = workloads.map(({ spec: { template } }) => {
      const [container] = template.spec.containers;
      const environment = container.env.map(({ name, value, valueFrom }) => {
        const secret = valueFrom && stores.secrets[valueFrom.secretKeyRef.key];
        return [name, secret ?? value ?? ''] as const;
      });
      return {
        command: container.args[0],
        parameters: container.args.slice(1),
        environment: Object.fromEntries(environment),
        probes: [container.startupProbe, container.livenessProbe, container.readinessProbe].flatMap((one) =>
          one ? [one.httpGet.path] : [],
        ),
        graceMs: (template.spec.terminationGracePeriodSeconds ?? 0) * 1_000,
      };
    });
  });
  afterAll(() => stores?.stop());

  const podOf = (command: string) => {
    const found = pods.find((pod) => pod.command === command);
    if (!found) throw new Error(`no pod runs ${command}`);
    return found;
  };

  test('the migration ends, and may be repeated', async () => {
    const { environment } = podOf('migrate');
    for (let i = 0; i < 2; i++) {
      const { code, printed } = await run([process.execPath, CLI, 'migrate'], {
        env: { ...machine(), ...environment },
      });
      expect([code, printed]).toEqual([0, expect.any(String)]);
    }
  });

  test('the file is applied, and applied again it changes nothing', async () => {
    const { environment, parameters } = podOf('apply');
    const given = parameters.map((one) => one.replace('/etc/ci-insights/apply', folder));
    for (const last of ['1 change made.', 'There is no difference.']) {
      const { code, printed } = await run([process.execPath, CLI, 'apply', ...given], {
        env: { ...machine(), ...environment },
      });
      expect([code, printed]).toEqual([0, expect.stringContaining(last)]);
    }
  });

  test.each(['serve', 'worker'] as const)(
    '%s answers its probes, and ends in time when it is told to',
    async (command) => {
      const { environment, probes, graceMs } = podOf(command);
      // Pods have an address each; here they share one.
      const metricsPort = await freePort();
      const ports = { METRICS_PORT: String(metricsPort), PORT: String(await freePort()) };
      const service = new ServiceProcess(command, { ...environment, ...ports, DATA_DIR: folder });
      await service.start();
      expect(probes).toHaveLength(3);
      const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${metricsPort}${path}`)).status;
      for (const path of probes) await until(async () => (await statusOf(path)) === 200);
      if (command === 'serve') {
        const headers = { authorization: `Bearer ${TOKEN}` };
        expect((await fetch(`http://127.0.0.1:${ports.PORT}/v1/keys`, { headers })).status).toBe(200);
      }
      const startedAt = Date.now();
      expect(await service.stop()).toBe(0);
      expect(Date.now() - startedAt).toBeLessThan(graceMs);
    },
  );
});
