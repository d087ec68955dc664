/** The deployment files: compose.yaml, the Dockerfile and .env.example. `tests/compose/smoke.sh` really starts them. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readConfig, SETTINGS } from '../../src/config.ts';
import { API_BYTES, PARSER_BYTES_MAX, parsersFor } from '../../src/ingest/parsing/capacity.ts';

const ROOT = resolve(import.meta.dir, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const serviceSchema = z.object({
  image: z.string(),
  build: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string().nullable()),
  restart: z.literal('unless-stopped'),
  stop_grace_period: z.string(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  healthcheck: z.object({ test: z.array(z.string()), interval: z.string(), timeout: z.string(), retries: z.number() }),
  depends_on: z.record(z.string(), z.object({ condition: z.literal('service_healthy') })).default({}),
  deploy: z.object({ resources: z.object({ limits: z.object({ cpus: z.string(), memory: z.string() }) }) }),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()),
  cap_add: z.array(z.string()).default([]),
  security_opt: z.array(z.string()),
});
const composeSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  volumes: z.record(z.string(), z.unknown()),
  configs: z.record(z.string(), z.object({ content: z.string() })),
});

const text = read('compose.yaml');
const isOfTheClient = (name: string): boolean => name.startsWith('CI_INSIGHTS_');
/** Set in the image; the role of the API in compose.yaml. */
const OF_THE_IMAGE = ['PORT', 'HOST', 'DATA_DIR', 'ROLE'];
/** Values that belong to this arrangement of stores and ports. */
const FIXED = ['DATABASE_URL', 'REDIS_URL', 'CLICKHOUSE_URL', 'METRICS_PORT', 'ROLE'];
const { services, volumes, configs } = composeSchema.parse(Bun.YAML.parse(text));
const stores = Object.entries(services).filter(([, { build }]) => build === undefined);
const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);

describe('compose.yaml', () => {
  test('runs an API, a worker and three stores, each with a health check and limits', () => {
    expect(Object.keys(services).sort()).toEqual(['api', 'clickhouse', 'postgres', 'valkey', 'worker']);
    for (const [name, { depends_on }] of ours)
      expect([name, Object.keys(depends_on).sort()]).toEqual([name, ['clickhouse', 'postgres', 'valkey']]);
  });

  test('contains no password: each must be set, and nothing starts without it', () => {
    for (const [place, value] of [...text.matchAll(/^.*PASSWORD.*$/gm)].map(([line]) => [line, line] as const)) {
      const asked = [...value.matchAll(/\$\{(\w*PASSWORD)(.*?)\}/g)];
      for (const [, , rest] of asked) expect([place, rest]).toEqual([place, ':?set it in .env']);
      if (!place.startsWith('#')) expect([place, asked.length]).toEqual([place, 1]);
    }
  });

  test('publishes one port, on this machine only', () => {
    const shown = Object.values(services).flatMap(({ ports }) => ports);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatch(/^127\.0\.0\.1:\$\{PORT:-3000\}:3000$/);
  });

  test('keeps the data of every store in a declared volume, and pins every image', () => {
    for (const [name, { volumes: mounted, image }] of stores) {
      const named = mounted.filter((mount) => /^\w/.test(mount)).map((mount) => mount.split(':')[0] ?? '');
      expect([name, named]).toEqual([name, [name]]);
      expect(Object.keys(volumes)).toContain(name);
      expect([image, /:\d+/.test(image)]).toEqual([image, true]);
    }
  });

  test('passes on every setting of the service that the documents list', () => {
    const documented = [...read('docs/configuration.md').matchAll(/^\| `([A-Z]\w+)` \|/gm)].map(
      ([, name = '']) => name,
    );
    const ofTheService = documented.filter((name) => !isOfTheClient(name));
    expect(ofTheService.toSorted()).toEqual(SETTINGS.toSorted());
    const passed = ofTheService.filter((name) => !OF_THE_IMAGE.includes(name));
    for (const [name, { environment }] of ours)
      expect([name, passed.filter((setting) => !(setting in environment))]).toEqual([name, []]);
  });

  test('passes on what `.env` says, under the same name, and nothing that it does not say', () => {
    for (const [name, { environment }] of ours)
      for (const [variable, value] of Object.entries(environment)) {
        if (FIXED.includes(variable)) continue;
        const isPassed = value === null || new RegExp(`^\\$\\{${variable}:-\\w*\\}$`).test(value);
        expect([name, variable, value, isPassed]).toEqual([name, variable, value, true]);
      }
  });

  test('sets only variables that the service reads, and each role has a valid configuration', () => {
    for (const [name, { environment, command }] of ours) {
      for (const variable of Object.keys(environment))
        expect(read('docs/configuration.md')).toContain(`| \`${variable}\` |`);
      const told = Object.fromEntries(
        Object.entries(environment).map(([variable, value]) => [
          variable,
          (value ?? '').replace(/\$\{\w+:\?[^}]*\}/g, 'secret').replace(/\$\{\w+:-([^}]*)\}/g, '$1'),
        ]),
      );
      const role = name === 'worker' ? 'worker' : 'api';
      expect(readConfig({ ...told, ROLE: role })).toMatchObject({ role, metricsPort: 9464 });
      expect(command).toEqual([name === 'worker' ? 'worker' : 'serve']);
    }
  });

  test('gives the service more time to stop than it takes', () => {
    for (const [, { stop_grace_period }] of ours) expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(25);
  });

  test('gives nothing more rights than it needs, and no way to gain any', () => {
    for (const [name, { cap_drop, security_opt }] of Object.entries(services))
      expect([name, cap_drop, security_opt]).toEqual([name, ['ALL'], ['no-new-privileges:true']]);
    for (const [name, { read_only, cap_add }] of ours) expect([name, read_only, cap_add]).toEqual([name, true, []]);
    for (const [name, { cap_add }] of stores)
      expect([name, cap_add]).toEqual([name, ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID']]);
  });

  test('shows no password among the arguments of a process', () => {
    for (const [name, { command, healthcheck }] of Object.entries(services))
      expect([name, [...(command ?? []), ...healthcheck.test].join(' ')]).toEqual([
        name,
        expect.not.stringMatching(/PASSWORD/),
      ]);
  });

  test('gives the API room for its parsers of uploads, two of them', () => {
    const memory = services.api?.deploy.resources.limits.memory ?? '';
    const bytes = Number.parseInt(memory, 10) * { g: 1024 ** 3, m: 1024 ** 2 }[memory.slice(-1) as 'g' | 'm'];
    const processors = Number(services.api?.deploy.resources.limits.cpus);
    const { size, memoryBytesMax } = parsersFor({ memoryBytes: bytes, processors });
    expect([size, memoryBytesMax]).toEqual([2, PARSER_BYTES_MAX]);
    expect(API_BYTES + size * memoryBytesMax).toBeLessThanOrEqual(bytes);
  });

  test('the queue cannot lose a job: Redis evicts nothing and writes to disk', () => {
    expect(services.valkey?.command).toEqual(['valkey-server', '/etc/valkey/valkey.conf']);
    const content = configs.valkey?.content ?? '';
    expect(content).toMatch(/^maxmemory-policy noeviction$/m);
    expect(content).toMatch(/^appendonly yes$/m);
  });
});

describe('.env.example', () => {
  test('names every variable that compose.yaml substitutes, and contains no password', () => {
    const example = read('.env.example');
    const substituted = [...text.matchAll(/\$\{(\w+)|^ {2}(\w+):$/gm)].flatMap(([, name, alone = '']) =>
      name !== undefined ? [name] : SETTINGS.includes(alone) ? [alone] : [],
    );
    const named = [...example.matchAll(/^#? ?(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => ({ name, value }));
    for (const name of substituted) expect(named.map((pair) => pair.name)).toContain(name);
    for (const { name, value } of named) if (name.endsWith('_PASSWORD')) expect([name, value]).toEqual([name, '']);
  });
});

describe('the Dockerfile', () => {
  const dockerfile = read('Dockerfile');

  test('runs the Bun that is tested, not as root, without the embedded engines, and has a health check', () => {
    const { devDependencies } = z
      .object({ devDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')));
    for (const [, tag] of dockerfile.matchAll(/^FROM oven\/bun:(\S+?)-slim/gm)) expect(tag).toBe(devDependencies.bun);
    expect(dockerfile).toContain('--omit=optional');
    expect(dockerfile).toMatch(/^HEALTHCHECK .*\\\n {2}CMD \["bun", "-e", ".*\/healthz\/live/m);
  });

  test('copies everything that the code imports or opens from above src', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
      names.split(' '),
    );
    const ignored = read('.dockerignore');
    const outside = new Set<string>();
    for (const folder of ['src', 'workers'])
      for (const file of new Bun.Glob('**/*.ts').scanSync({ cwd: join(ROOT, folder) }))
        for (const [, path = ''] of read(join(folder, file)).matchAll(/['"]((?:\.\.\/)+[\w./-]+)['"]/g)) {
          const [top = ''] = join(folder, file, '..', path).split('/');
          // src/queue/json-schema.ts writes its files there; the service reads none of them.
          if (!top.startsWith('..') && top !== 'docs') outside.add(top);
        }
    for (const top of outside) {
      expect([top, copied.includes(top)]).toEqual([top, true]);
      expect(ignored).toContain(`!${top}`);
    }
    expect(outside.has('sql')).toBe(true);
  });
});
