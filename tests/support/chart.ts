/** Renders the chart with Helm, and checks what comes out against the schemas of Kubernetes and of operators. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { pythonEnvironment } from '../clients/support/python.ts';
import { machine, type Ran, run } from '../clients/support/run.ts';
import { goProgram } from '../tools/go-program.ts';
import { atEnd } from './at-end.ts';
import { customResources, isCustom } from './custom-resources.ts';
import { makeFolder } from './folder.ts';

export const CHART = resolve(import.meta.dir, '../../deploy/helm');
export const PRODUCTION = join(CHART, 'values-production.yaml');
const KUBECONFORM = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0';

/** The least that the chart takes: where the addresses of the stores are. */
export const LEAST = [
  'stores.postgres.existingSecret=stores',
  'stores.clickhouse.existingSecret=stores',
  'stores.redis.existingSecret=stores',
];

const resource = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
});
export type Resource = z.infer<typeof resource>;

export interface ChartTools {
  helm(...parameters: string[]): Promise<Ran>;
  /** What the chart makes of these values; throws with Helm's reason if it refuses them. */
  render(...parameters: string[]): Promise<Resource[]>;
  /** Finds what does not conform to the schemas of a version of Kubernetes, such as `1.30.0`, or of an operator; empty if all does. */
  problems(resources: readonly Resource[], version: string): Promise<string>;
}

/** Undefined if the tools cannot be installed here; the reason is printed. In CI it throws. */
export async function chartTools(): Promise<ChartTools | undefined> {
  const [python, kubeconform, custom] = await Promise.all([
    pythonEnvironment('deploy'),
    goProgram(KUBECONFORM),
    customResources(),
  ]);
  if (!python || kubeconform === undefined || !custom) return undefined;
  const helm = (...parameters: string[]) => run([join(python.bin, 'helm'), ...parameters], { env: machine() });
  const render = async (...parameters: string[]): Promise<Resource[]> => {
    const { code, stdout, stderr } = await helm('template', 'test', CHART, ...parameters);
    if (code !== 0) throw new Error(stderr);
    return stdout
      .split(/^---$/m)
      .map((text) => Bun.YAML.parse(text))
      .filter((value) => value !== null && value !== undefined)
      .map((value) => resource.parse(value));
  };
  const schemasByVersion = new Map<string, string>();
  const problemsInKubernetes = async (resources: readonly Resource[], version: string): Promise<string> => {
    const schemas = schemasByVersion.get(version) ?? schemasOf(python.bin, version);
    schemasByVersion.set(version, schemas);
    const location = join(schemas, '{{.ResourceKind}}{{.KindSuffix}}.json');
    const { code, printed } = await run([kubeconform, '-strict', '-schema-location', location, '-'], {
      env: machine(),
      input: resources.map((one) => JSON.stringify(one)).join('\n---\n'),
    });
    return code === 0 ? '' : printed || `kubeconform ended with ${code}`;
  };
  const problems = async (resources: readonly Resource[], version: string): Promise<string> => {
    const [ofOperators, own] = [resources.filter(isCustom), resources.filter((one) => !isCustom(one))];
    const found = [
      own.length > 0 ? await problemsInKubernetes(own, version) : '',
      ofOperators.length > 0 ? await custom.problems(ofOperators) : '',
    ];
    return found.join('');
  };
  return { helm, render, problems };
}

/** The schemas of the package say that they are on a server, which kubeconform would ask for those that they refer to. */
const SERVED_IN = '"/api/_definitions.json';

function schemasOf(bin: string, version: string): string {
  const [python = ''] = readdirSync(join(bin, '../lib'));
  const schemas = join(bin, '../lib', python, 'site-packages/kubernetes_validate/kubernetes-json-schema');
  const from = join(schemas, `v${version}-local-strict`);
  const folder = makeFolder('kubernetes-schemas');
  atEnd(async () => rmSync(folder, { recursive: true, force: true }));
  for (const file of readdirSync(from)) {
    const { $id: _, ...schema } = z.looseObject({}).parse(JSON.parse(readFileSync(join(from, file), 'utf8')));
    writeFileSync(join(folder, file), JSON.stringify(schema).replaceAll(SERVED_IN, '"_definitions.json'));
  }
  return folder;
}
