/** The chart refuses what cannot work, and renders what Kubernetes takes and a careful operator expects. */
import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readApplyFile } from '../../src/cli/apply-file.ts';
import { readConfig, SETTINGS } from '../../src/config.ts';
import { CHART, chartTools, LEAST, PRODUCTION, type Resource } from '../support/chart.ts';
import { makeFolder } from '../support/folder.ts';

const tools = await chartTools();
const least = LEAST.flatMap((value) => ['--set', value]);
const all = [
  ...['--set-json', 'api.autoscaling.targetUploadWaitSeconds=1.5'],
  ...['-f', PRODUCTION],
  ...['--set', 'httpRoute.enabled=true,httpRoute.parentRefs[0].name=gateway'],
  ...['--set', 'networkPolicy.egressTo[0].to[0].ipBlock.cidr=10.0.0.0/8,stores.clickhouse.cluster=main'],
  ...['--set', 'stores.clickhouse.database=staging'],
  ...['--set', 'stores.postgres.direct.existingSecret=direct,imagePullSecrets[0].name=registry'],
  ...['--set-json', 'extraVolumes=[{"name":"app","secret":{"secretName":"app"}}]'],
  ...['--set-json', 'extraVolumeMounts=[{"name":"app","mountPath":"/run/app","readOnly":true}]'],
];

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const podSchema = z.looseObject({
  automountServiceAccountToken: z.literal(false),
  terminationGracePeriodSeconds: z.number().optional(),
  securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.number().positive() }),
  containers: z.tuple([
    z.looseObject({
      image: z.string(),
      args: z.array(z.string()).min(1),
      env: z.array(
        z.union([
          z.strictObject({ name: z.string(), value: z.string() }),
          z.strictObject({
            name: z.string(),
            valueFrom: z.strictObject({
              secretKeyRef: z.strictObject({ name: z.string().min(1), key: z.string().min(1) }),
            }),
          }),
        ]),
      ),
      ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).optional(),
      startupProbe: probe.optional(),
      livenessProbe: probe.optional(),
      readinessProbe: probe.optional(),
      resources: z.object({
        requests: z.looseObject({ memory: z.string() }),
        limits: z.looseObject({ memory: z.string() }),
      }),
      securityContext: z.strictObject({
        allowPrivilegeEscalation: z.literal(false),
        readOnlyRootFilesystem: z.literal(true),
        capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
      }),
    }),
  ]),
});
const labels = z.record(z.string(), z.string());
const runsPods = z.looseObject({
  spec: z.looseObject({
    replicas: z.number().optional(),
    selector: z.object({ matchLabels: labels }).optional(),
    template: z.object({ metadata: z.object({ labels }), spec: podSchema }),
  }),
});

const named = (resources: readonly Resource[], kind: string, end: string): Resource => {
  const found = resources.filter((one) => one.kind === kind && one.metadata.name.endsWith(end));
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} of ${kind} ${end}`);
  return found[0];
};
const podOf = (resources: readonly Resource[], kind: string, end: string) =>
  runsPods.parse(named(resources, kind, end)).spec.template.spec;
const environmentOf = (resources: readonly Resource[], kind: string, end: string) =>
  Object.fromEntries(
    podOf(resources, kind, end).containers[0].env.map((one) => [
      one.name,
      'value' in one ? one.value : Object.values(one.valueFrom.secretKeyRef).join('/'),
    ]),
  );

describe.skipIf(!tools)('the chart', () => {
  if (!tools) return;
  const { helm, render, problems } = tools;

  test('passes the linter of Helm, as it is for production', async () => {
    const { code, printed } = await helm('lint', CHART, '--strict', '-f', PRODUCTION);
    expect([code, printed]).toEqual([0, expect.stringContaining('0 chart(s) failed')]);
  });

  test.each([
    ['no store', [], 'stores.postgres.existingSecret'],
    ['no Redis', ['--set', 'stores.redis.existingSecret='], 'stores.redis.existingSecret'],
    ['a misspelt value', ['--set', 'api.replica=3'], 'replica'],
    ['a variable that the service does not read', ['--set', 'config.RETENTION_DAY=3'], 'RETENTION_DAY'],
    ['a secret in plain text', ['--set', 'config.OIDC_CLIENT_SECRET=hush'], 'OIDC_CLIENT_SECRET'],
    ['a variable that the chart sets', ['--set', 'config.DATABASE_URL=postgres://a'], 'DATABASE_URL'],
    ['a section that no file has', ['--set', 'apply.file.hosts=github'], 'hosts'],
    ['an ingress without a host', ['--set', 'ingress.enabled=true'], 'ingress.hosts'],
    ['a route without a gateway', ['--set', 'httpRoute.enabled=true'], 'httpRoute.parentRefs'],
    ['KEDA without Prometheus', ['--set', 'worker.autoscaling.keda.enabled=true'], 'serverAddress'],
    [
      'two that scale',
      [
        '--set',
        'worker.autoscaling.keda.enabled=true,worker.autoscaling.keda.serverAddress=http://p,worker.autoscaling.hpa.enabled=true',
      ],
      'worker.autoscaling',
    ],
  ] as const)('refuses %s', async (what, parameters, said) => {
    const stores = what === 'no store' ? [] : least;
    await expect(render(...stores, ...parameters)).rejects.toThrow(said);
  });

  test.each(['1.27.0', '1.30.0', '1.34.0', '1.37.0'])('conforms to Kubernetes %s', async (version) => {
    for (const parameters of [least, all, [...least, '--set', 'worker.autoscaling.hpa.enabled=true']])
      expect(await problems(await render(...parameters), version)).toBe('');
    // What checks it can fail.
    const [first] = await render(...least);
    expect(await problems([{ ...(first as Resource), spec: { replicas: 'two' } }], version)).not.toBe('');
  });

  test.each([
    ['ServiceMonitor', '"targetLabel"', '"targetLabl"'],
    ['PrometheusRule', '"expr"', '"exp"'],
    ['ScaledObject', '"maxReplicaCount"', '"maxReplicas"'],
    ['HTTPRoute', '"backendRefs"', '"backends"'],
    ['HTTPRoute', '"port":80', '"port":80000'],
  ])('finds a fault in a resource of an operator: %s, %s written as %s', async (kind, right, wrong) => {
    const text = JSON.stringify(named(await render(...all), kind, ''));
    expect(text).toContain(right);
    const faulty = JSON.parse(text.replace(right, wrong)) as Resource;
    expect(await problems([faulty], '1.34.0')).toContain(wrong.includes(':') ? 'port must be' : wrong);
  });

  test('makes what the values ask for, and nothing else', async () => {
    const kinds = async (...parameters: string[]) => (await render(...parameters)).map(({ kind }) => kind).sort();
    const few = [
      'Deployment',
      'Deployment',
      'Job',
      'PodDisruptionBudget',
      'PodDisruptionBudget',
      'Service',
      'Service',
      'ServiceAccount',
    ];
    expect(await kinds(...least)).toEqual(few);
    expect(await kinds(...all)).toEqual(
      [
        ...few,
        ...[
          'ConfigMap',
          'ConfigMap',
          'HTTPRoute',
          'HorizontalPodAutoscaler',
          'Ingress',
          'Job',
          'NetworkPolicy',
          'PrometheusRule',
          'ScaledObject',
          'ServiceMonitor',
        ],
      ].sort(),
    );
  });

  test('pods run without rights, keep nothing on their disk, and get no token of the cluster', async () => {
    const resources = await render(...all);
    // The schema says what each of them must be.
    for (const [kind, end] of [
      ['Deployment', '-api'],
      ['Deployment', '-worker'],
      ['Job', '-migration'],
      ['Job', '-apply'],
    ] as const)
      expect(podOf(resources, kind, end).containers[0].image).toStartWith('ghcr.io/');
  });

  test('a secret is never in what the chart makes: only where it is', async () => {
    const environment = environmentOf(await render(...all), 'Deployment', '-api');
    expect(environment).toMatchObject({
      DATABASE_URL: 'ci-insights/DATABASE_URL',
      DATABASE_DIRECT_URL: 'direct/DATABASE_DIRECT_URL',
      CLICKHOUSE_URL: 'ci-insights/CLICKHOUSE_URL',
      CLICKHOUSE_CLUSTER: 'main',
      CLICKHOUSE_DATABASE: 'staging',
      REDIS_URL: 'ci-insights/REDIS_URL',
      OIDC_CLIENT_SECRET: 'ci-insights/OIDC_CLIENT_SECRET',
      NODE_EXTRA_CA_CERTS: '/etc/ci-insights/ca/ca.crt',
      RETENTION_DAYS: '120',
      ROLE: 'api',
    });
  });

  test('the migration runs before an upgrade, as the user who may change the schema', async () => {
    const resources = await render(...all);
    expect(named(resources, 'Job', '-migration').metadata.annotations).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
    });
    expect(environmentOf(resources, 'Job', '-migration')).toMatchObject({
      DATABASE_URL: 'ci-insights-migration/DATABASE_URL',
      CLICKHOUSE_URL: 'ci-insights-migration/CLICKHOUSE_URL',
    });
    expect(environmentOf(await render(...least), 'Job', '-migration')).toMatchObject({
      DATABASE_URL: 'stores/DATABASE_URL',
    });
  });

  test('the file is applied after the migration, beside the tokens of its keys', async () => {
    const resources = await render(...all, '--set', 'apply.prune=true');
    const weightOf = (end: string) =>
      Number(named(resources, 'Job', end).metadata.annotations?.['helm.sh/hook-weight'] ?? 0);
    expect(weightOf('-apply')).toBeGreaterThan(weightOf('-migration'));
    const pod = podOf(resources, 'Job', '-apply');
    expect(pod.containers[0].args).toEqual(['apply', '/etc/ci-insights/apply/config.yaml', '--prune']);
    expect(pod).toMatchObject({
      containers: [
        {
          volumeMounts: expect.arrayContaining([
            { name: 'apply', mountPath: '/etc/ci-insights/apply', readOnly: true },
          ]),
        },
      ],
      volumes: expect.arrayContaining([
        {
          name: 'apply',
          projected: {
            sources: [{ configMap: { name: 'test-ci-insights-apply' } }, { secret: { name: 'ci-insights-tokens' } }],
          },
        },
      ]),
    });
    const { data } = z.looseObject({ data: labels }).parse(named(resources, 'ConfigMap', '-apply'));
    const file = join(makeFolder('chart-apply'), 'config.yaml');
    writeFileSync(file, data['config.yaml'] ?? '');
    expect(readApplyFile(file)).toMatchObject({
      keys: [{ name: 'platform', token: { file: 'platform' } }],
      repositories: [{ path: { owner: 'acme', name: 'shop' }, settings: { quarantine_limit: 20 } }],
    });
  });

  test('the service takes the settings of the example for production', async () => {
    const environment = environmentOf(await render(...least, '-f', PRODUCTION), 'Deployment', '-api');
    const secrets = { DATABASE_URL: 'postgres://a', CLICKHOUSE_URL: 'https://a', REDIS_URL: 'redis://a' };
    expect(readConfig({ ...environment, ...secrets })).toMatchObject({ role: 'api', oidc: {}, ciTokens: {} });
  });

  test.each([
    [0, 30],
    [1, 31],
    [10_000, 40],
  ])('a drain of %d ms has pods %d s to end', async (drain, seconds) => {
    const resources = await render(...least, '--set', `config.SHUTDOWN_DRAIN_MS=${drain}`);
    for (const role of ['-api', '-worker'])
      expect(podOf(resources, 'Deployment', role).terminationGracePeriodSeconds).toBe(seconds);
  });

  test('what selects pods finds those of its role, and probes ask a port that they have', async () => {
    const resources = await render(...all);
    for (const role of ['api', 'worker']) {
      const { spec } = runsPods.parse(named(resources, 'Deployment', `-${role}`));
      const pods = Object.entries(spec.template.metadata.labels);
      const budget = z.looseObject({ spec: z.looseObject({ selector: z.object({ matchLabels: labels }) }) });
      const selectors = [
        spec.selector?.matchLabels,
        budget.parse(named(resources, 'PodDisruptionBudget', `-${role}`)).spec.selector.matchLabels,
      ];
      for (const selector of selectors) expect(pods).toEqual(expect.arrayContaining(Object.entries(selector ?? {})));
      const [container] = spec.template.spec.containers;
      const ports = container.ports?.map(({ name }) => name) ?? [];
      for (const one of [container.startupProbe, container.livenessProbe, container.readinessProbe])
        expect(ports).toContain(one?.httpGet.port ?? 'none');
      // Something else says how many there are.
      expect(spec.replicas).toBeUndefined();
    }
    const service = z.looseObject({ spec: z.looseObject({ selector: labels }) });
    expect(service.parse(named(resources, 'Service', 'test-ci-insights')).spec.selector).toMatchObject({
      'app.kubernetes.io/component': 'api',
    });
  });

  test('alerts and dashboard are those of the documents', async () => {
    const resources = await render(...all);
    const document = (name: string) => readFileSync(join(CHART, '../../docs', name), 'utf8');
    expect(named(resources, 'PrometheusRule', '')).toMatchObject({
      spec: Bun.YAML.parse(document('alerts.yaml')) as object,
    });
    const { data } = z.looseObject({ data: labels }).parse(named(resources, 'ConfigMap', '-dashboard'));
    expect(JSON.parse(data['ci-insights.json'] ?? '')).toEqual(JSON.parse(document('grafana-dashboard.json')));
  });

  test('takes every setting of the service once: its own, in plain text, or from a Secret', () => {
    const names = z.object({ propertyNames: z.object({ enum: z.array(z.string()) }) });
    const schema = z
      .object({ properties: z.object({ config: names, secrets: names }) })
      .parse(JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))).properties;
    const own = [
      'HOST',
      'PORT',
      'DATA_DIR',
      'ROLE',
      'METRICS_PORT',
      'DATABASE_URL',
      'DATABASE_DIRECT_URL',
      'REDIS_URL',
      'CLICKHOUSE_URL',
      'CLICKHOUSE_CLUSTER',
      'CLICKHOUSE_DATABASE',
    ];
    const taken = [...own, ...schema.config.propertyNames.enum, ...schema.secrets.propertyNames.enum];
    expect(taken.sort()).toEqual(SETTINGS.toSorted());
  });
});
